//! A connection to a running coordinator.
//!
//! The socket keeps message boundaries. A question is one packet of JSON. An answer is one packet or more, because the
//! status of thousands of files outgrows a packet: each begins with `+` if more follow and `.` if it is the last.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    connect, recvmsg, sendmsg, setsockopt, socket, sockopt, AddressFamily, MsgFlags, SockFlag, SockType,
    UnixAddr,
};
use nix::sys::time::TimeVal;

use super::messages::{Report, Request, Response, Status};
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;

const PACKET: usize = 64 << 10;
/// More than the status of as many files as a configuration allows.
const ANSWER_MAX: usize = 1 << 30;
/// A coordinator that was stopped by a signal answers nothing; nobody waits for it for ever.
const ANSWER_SECONDS: i64 = 30;

/// A connection to a running coordinator.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    name: String,
}

impl Connection {
    /// Connects to the coordinator of `instance`; `None` if none is running.
    pub fn open(instance: &Instance) -> Outcome<Option<Self>> {
        instance.verify()?;
        let fail = |errno: nix::Error| {
            Failure::new(
                format_args!(
                    "coordinator `{}`: {}: {}",
                    instance.name(),
                    instance.socket().display(),
                    errno.desc()
                ),
                "start it with `millpond start`",
            )
        };
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).map_err(fail)?;
        let limit = TimeVal::new(ANSWER_SECONDS, 0);
        setsockopt(&socket, sockopt::ReceiveTimeout, &limit).map_err(fail)?;
        setsockopt(&socket, sockopt::SendTimeout, &limit).map_err(fail)?;
        let address = UnixAddr::new(&instance.socket()).map_err(fail)?;
        match connect(socket.as_raw_fd(), &address) {
            Ok(()) => Ok(Some(Self { socket, name: instance.name().into() })),
            Err(nix::Error::ENOENT | nix::Error::ECONNREFUSED) => Ok(None),
            Err(errno) => Err(fail(errno)),
        }
    }

    /// Connects to the coordinator of `instance`, which must be running.
    pub fn require(instance: &Instance) -> Outcome<Self> {
        Self::open(instance)?.ok_or_else(|| {
            Failure::new(
                format_args!("no coordinator `{}` is running", instance.name()),
                "start it with `millpond start`",
            )
        })
    }

    /// What the pool holds and for whom.
    pub fn status(&self) -> Outcome<Status> {
        match self.ask(&Request::Status)? {
            Response::Status(status) => Ok(*status),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Totals since the coordinator started.
    pub fn report(&self) -> Outcome<Report> {
        match self.ask(&Request::Report)? {
            Response::Report(report) => Ok(report),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Returns when the dirty bytes under `path`, or all, are in the real files.
    pub fn drain(&self, path: Option<&str>) -> Outcome<()> {
        // As long as the disk takes; the end of the coordinator ends it, too.
        let forever = TimeVal::new(0, 0);
        setsockopt(&self.socket, sockopt::ReceiveTimeout, &forever)
            .map_err(|errno| self.broken(errno.into()))?;
        self.done(&Request::Drain { path: path.map(str::to_owned) })
    }

    /// Flushes everything and ends the coordinator.
    pub fn stop(&self, force: bool) -> Outcome<()> {
        let forever = TimeVal::new(0, 0);
        setsockopt(&self.socket, sockopt::ReceiveTimeout, &forever)
            .map_err(|errno| self.broken(errno.into()))?;
        self.done(&Request::Stop { force })
    }

    /// Keeps the coordinator up as long as this connection lives.
    pub fn hold(&self) -> Outcome<()> {
        self.done(&Request::Hold)
    }

    /// Waits until the coordinator has ended.
    pub fn wait_for_end(self) {
        // Nothing is sent any more, so whatever is received is the end.
        let mut buffer = [0; 1];
        let mut slices = [IoSliceMut::new(&mut buffer)];
        let _ = recvmsg::<UnixAddr>(self.socket.as_raw_fd(), &mut slices, None, MsgFlags::empty());
    }

    fn done(&self, request: &Request) -> Outcome<()> {
        match self.ask(request)? {
            Response::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&self, request: &Request) -> Outcome<Response> {
        let question = serde_json::to_vec(request).map_err(|error| self.broken(error.into()))?;
        let slices = [IoSlice::new(&question)];
        sendmsg::<UnixAddr>(self.socket.as_raw_fd(), &slices, &[], MsgFlags::MSG_NOSIGNAL, None)
            .map_err(|errno| self.broken(errno.into()))?;
        let answer = self.receive().map_err(|error| self.broken(error))?;
        serde_json::from_slice(&answer).map_err(|error| self.broken(error.into()))
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        let mut packet = vec![0; PACKET];
        loop {
            let mut slices = [IoSliceMut::new(&mut packet)];
            let received =
                recvmsg::<UnixAddr>(self.socket.as_raw_fd(), &mut slices, None, MsgFlags::MSG_CMSG_CLOEXEC);
            let length = match received {
                Ok(message) => message.bytes,
                Err(nix::Error::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            let Some((mark, body)) = packet[..length].split_first() else {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended"));
            };
            answer.extend_from_slice(body);
            match mark {
                b'.' => return Ok(answer),
                b'+' if answer.len() < ANSWER_MAX => {}
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an answer of another version")),
            }
        }
    }

    fn broken(&self, error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Failure::new(
                format_args!("coordinator `{}` did not answer within {ANSWER_SECONDS} s", self.name),
                "see whether it was stopped (`kill -CONT`), or end it",
            ),
            _ => Failure::new(
                format_args!("coordinator `{}` gave no answer: {error}", self.name),
                "see its log, and try again",
            ),
        }
    }

    fn unexpected(&self, response: &Response) -> Failure {
        match response {
            Response::Refused { why, remedy } => Failure::new(why, remedy),
            _ => Failure::new(
                format_args!("coordinator `{}` is of another version", self.name),
                "stop it, and start it with this program",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{send, socketpair};
    use std::thread;

    fn pair() -> (Connection, OwnedFd) {
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        (Connection { socket: ours, name: "x".into() }, theirs)
    }

    fn answer_with(peer: &OwnedFd, packets: &[&[u8]]) {
        for packet in packets {
            send(peer.as_raw_fd(), packet, MsgFlags::empty()).unwrap();
        }
    }

    #[test]
    fn answers_of_several_packets_are_put_together() {
        let (connection, peer) = pair();
        let asked = thread::spawn(move || connection.report());
        answer_with(&peer, &[b"+{\"answer\":\"report\",", b".\"bytes_read\":7}"]);
        assert_eq!(asked.join().unwrap().unwrap().bytes_read, 7);
    }

    #[test]
    fn refusals_and_ends_are_said() {
        let (connection, peer) = pair();
        answer_with(
            &peer,
            &[b".{\"answer\":\"refused\",\"why\":\"2 programs are attached\",\"remedy\":\"use --force\"}"],
        );
        assert_eq!(connection.stop(false).unwrap_err().to_string(), "2 programs are attached; use --force");
        answer_with(&peer, &[b".{\"answer\":\"done\"}"]);
        assert!(connection.status().unwrap_err().to_string().contains("another version"));
        drop(peer);
        assert!(connection.status().unwrap_err().to_string().starts_with("coordinator `x` gave no answer"));
    }

    #[test]
    fn nobody_there_is_no_error() {
        let name = format!("test-{}", std::process::id());
        let instance = Instance::locate(&name).unwrap();
        assert!(Connection::open(&instance).unwrap().is_none());
        let message = Connection::require(&instance).unwrap_err().to_string();
        assert_eq!(message, format!("no coordinator `{name}` is running; start it with `millpond start`"));
    }
}
