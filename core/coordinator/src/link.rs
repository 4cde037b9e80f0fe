//! A tool's connection to a running coordinator: the segment to look at, and the few things that can be asked for.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use millpond_pool::Pool;
use millpond_segment::client::state;
use millpond_segment::wire::{self, Kind, Message, BYTES};
use millpond_segment::{sys, AttachError, Run, Segment};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_timeout, Timeout};
use rustix::net::{
    connect, recvmsg, socket_with, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::session;
use crate::status::{run_report, status, Info, RunReport, Status, Totals};
use crate::Place;

/// How long a greeting may take.
const GREETING: Duration = Duration::from_secs(5);
/// How long the processes of a run that have ended are waited for.
const BURIAL: Duration = Duration::from_secs(2);
/// How long one look for an answer takes, before it is seen whether the worker is another one.
const LOOK: Duration = Duration::from_secs(1);

/// Why a coordinator did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// None is there.
    #[error("no coordinator is running at {}; start it with `millpond start`", .0.display())]
    NotRunning(PathBuf),
    /// It is there and says nothing.
    #[error("the coordinator does not answer (process {pid}, stopped?); let it go on with `kill -CONT {pid}`, or end it")]
    Unresponsive {
        /// Its worker, or its supervisor when the worker is not known.
        pid: u32,
    },
    /// It refused.
    #[error("the coordinator refuses: {}; use it as the user who started it, with the same version", io::Error::from_raw_os_error(*.0))]
    Refused(i32),
    /// Programs are attached.
    #[error("{0} programs are attached; end them first, or use --force")]
    Busy(u64),
    /// Bytes could not be written.
    #[error("{count} files cannot be flushed: {}; see `millpond status`, remove the cause and try again", io::Error::from_raw_os_error(*.errno))]
    Flush {
        /// The first error.
        errno: i32,
        /// Files.
        count: u64,
    },
    /// It ended meanwhile.
    #[error("the coordinator ended before it answered; see its log")]
    Ended,
    /// Its segment cannot be used.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A system call failed.
    #[error("{}: {source}; see that it can be reached", .path.display())]
    Path {
        /// On what.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
}

/// How a coordinator is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Unless programs are attached or bytes cannot be written.
    Gently,
    /// In any case.
    Force,
    /// When no program is left.
    WhenUnused,
}

/// A connection to a running coordinator.
pub struct Link {
    path: PathBuf,
    socket: OwnedFd,
    pool: Pool,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Link {
    /// Connects to the coordinator at `socket` and attaches its segment.
    ///
    /// # Errors
    /// When none is there, or it does not answer, refuses, or has another version.
    pub fn connect(socket: &Path) -> Result<Self, LinkError> {
        let (connected, file) = greet(socket)?;
        let pool = Pool::new(Segment::attach(file.as_fd())?);
        Ok(Self { path: socket.into(), socket: connected, pool })
    }

    /// The pool in the coordinator's segment.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The coordinator's segment.
    pub fn segment(&self) -> &Segment {
        self.pool.segment()
    }

    /// What the coordinator says of itself.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn info(&self) -> Result<Info, LinkError> {
        read_info(&self.path)
    }

    /// What the pool holds and for whom. Needs no answer of the worker.
    ///
    /// # Errors
    /// As [`Link::info`].
    pub fn status(&self) -> Result<Status, LinkError> {
        Ok(status(&self.pool, &self.info()?))
    }

    /// The totals since the coordinator started.
    pub fn totals(&self) -> Totals {
        self.pool.view_totals(None).into()
    }

    /// What the programs of one run have done so far.
    ///
    /// Waits a moment for processes that have just ended, so that they count as such.
    pub fn run_report(&self, run: Run) -> RunReport {
        let header = self.segment().header();
        let top = header.client_top.load(Relaxed).min(self.segment().layout().sizes.clients);
        let ending = || {
            (1..top).any(|slot| {
                let client = self.segment().client(slot);
                client.run.load(Relaxed) == run.0
                    && client.state.load(Relaxed) != state::FREE
                    && self.segment().client_is_dead(slot)
            })
        };
        let begun = Instant::now();
        while ending() && begun.elapsed() < BURIAL {
            std::thread::sleep(Duration::from_millis(5));
        }
        run_report(&self.pool, run)
    }

    /// Has one file flushed, or all, durably if asked. Returns when it is done, however long that takes.
    ///
    /// # Errors
    /// The flush's.
    pub fn flush(&mut self, slot: Option<u32>, durable: bool) -> Result<(), LinkError> {
        let message =
            Message { kind: Kind::Flush, a: slot.map_or(wire::ALL, u64::from), b: u64::from(durable), c: 0 };
        match self.ask(message)? {
            (0, _) => Ok(()),
            (errno, count) => Err(LinkError::Flush { errno, count: count.max(1) }),
        }
    }

    /// Returns when the dirty bytes of a file, of all files below a directory, or of all files are in the real files.
    ///
    /// # Errors
    /// The flush's, or when the path is not there.
    pub fn drain(&mut self, path: Option<&Path>) -> Result<(), LinkError> {
        let Some(path) = path else { return self.flush(None, false) };
        let on = |source| LinkError::Path { path: path.into(), source };
        if path.is_dir() {
            let below = |name: &str| Path::new(name).starts_with(path);
            let slots: Vec<u32> = self
                .pool
                .view_files()
                .iter()
                .filter(|f| f.dirty_pages > 0 && below(&f.name))
                .map(|f| f.slot)
                .collect();
            return slots.into_iter().try_for_each(|slot| self.flush(Some(slot), false));
        }
        let file = std::fs::File::options().read(true).custom_flags_path().open(path).map_err(on)?;
        let stat = sys::stat_fd(std::os::fd::AsRawFd::as_raw_fd(&file))
            .map_err(|e| on(io::Error::from_raw_os_error(e.0)))?;
        match self.segment().find_file(stat.dev, stat.ino) {
            Some(slot) => self.flush(Some(slot), false),
            None => Ok(()),
        }
    }

    /// Asks the coordinator to stop. How many programs are attached still.
    ///
    /// # Errors
    /// When it goes on: programs are attached, or bytes cannot be written.
    pub fn stop(&mut self, how: Stop) -> Result<u64, LinkError> {
        let mode = match how {
            Stop::Gently => 0,
            Stop::Force => 1,
            Stop::WhenUnused => 2,
        };
        match self.ask(Message::new(Kind::Stop, mode))? {
            (0, count) => Ok(count),
            (libc::EBUSY, count) => Err(LinkError::Busy(count)),
            (errno, count) => Err(LinkError::Flush { errno, count }),
        }
    }

    /// Waits until the coordinator has ended, at most so long. Whether it has.
    pub fn wait_for_end(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            match receive(&self.socket) {
                Ok(None) => return true,
                Err(error) if !is_timeout(error) => return true,
                _ => {}
            }
        }
        false
    }

    /// Asks, and waits for the answer. If the worker was killed meanwhile, the next one is asked again: all that can be asked may be done twice.
    fn ask(&mut self, message: Message) -> Result<(i32, u64), LinkError> {
        let incarnation = |link: &Self| link.segment().header().incarnation.load(Relaxed);
        let mut asked = incarnation(self);
        session::send(self.socket.as_fd(), message, None, SendFlags::empty())
            .map_err(|_| LinkError::Ended)?;
        loop {
            match receive(&self.socket) {
                Ok(Some((Message { kind: Kind::Done, a, b, .. }, _))) => return Ok((a as i32, b)),
                Ok(Some((Message { kind: Kind::Refused, a, .. }, _))) => {
                    return Err(LinkError::Refused(a as i32))
                }
                Ok(Some(_)) => return Err(LinkError::Refused(libc::EPROTO)),
                Ok(None) => return Err(LinkError::Ended),
                Err(error) if is_timeout(error) => {
                    if incarnation(self) != asked {
                        // On a new connection, where no late answer can be mistaken for this one's.
                        asked = incarnation(self);
                        self.socket = greet(&self.path)?.0;
                        session::send(self.socket.as_fd(), message, None, SendFlags::empty())
                            .map_err(|_| LinkError::Ended)?;
                    } else if self.is_stopped() {
                        return Err(LinkError::Unresponsive {
                            pid: self.segment().header().worker.load(Relaxed),
                        });
                    }
                }
                Err(_) => return Err(LinkError::Ended),
            }
        }
    }

    /// Whether the worker is held by a signal or a debugger.
    fn is_stopped(&self) -> bool {
        let worker = self.segment().header().worker.load(Relaxed);
        sys::process_state(worker).is_some_and(|(letter, _)| matches!(letter, b'T' | b't'))
    }
}

/// Opens without asking for a right on the file.
trait PathOnly {
    fn custom_flags_path(&mut self) -> &mut Self;
}

impl PathOnly for std::fs::OpenOptions {
    fn custom_flags_path(&mut self) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(self, libc::O_PATH)
    }
}

fn is_timeout(error: Errno) -> bool {
    matches!(error, Errno::AGAIN | Errno::INTR)
}

fn read_info(socket: &Path) -> Result<Info, LinkError> {
    let place = Place::new(socket.parent().unwrap_or(Path::new("/")));
    let path = place.info();
    let read = std::fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|source| LinkError::Path { path, source })
}

/// Connects and says hello: the connection, and the segment's descriptor.
fn greet(path: &Path) -> Result<(OwnedFd, OwnedFd), LinkError> {
    let on = |error: Errno| LinkError::Path { path: path.into(), source: error.into() };
    let silent = || LinkError::Unresponsive { pid: read_info(path).map_or(0, |info| info.supervisor) };
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(on)?;
    // Bounds the connecting too, when the queue of a stopped coordinator is full.
    set_socket_timeout(&socket, Timeout::Send, Some(GREETING)).map_err(on)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(GREETING)).map_err(on)?;
    match connect(&socket, &SocketAddrUnix::new(path).map_err(on)?) {
        Ok(()) => {}
        Err(Errno::NOENT | Errno::CONNREFUSED) => return Err(LinkError::NotRunning(path.into())),
        Err(Errno::AGAIN) => return Err(silent()),
        Err(error) => return Err(on(error)),
    }
    let hello = Message::new(Kind::Hello, u64::from(std::process::id()));
    session::send(socket.as_fd(), hello, None, SendFlags::empty()).or_else(|e| match e {
        // Refused before it could ask: the refusal is there to be read.
        Errno::PIPE | Errno::CONNRESET => Ok(()),
        e => Err(on(e)),
    })?;
    // A refusal closes the connection with our question unread: the reset is told first, the refusal after it.
    let answer = match receive(&socket) {
        Err(Errno::CONNRESET) => receive(&socket),
        other => other,
    };
    let answer = answer.map_err(|e| if is_timeout(e) { silent() } else { on(e) })?;
    set_socket_timeout(&socket, Timeout::Recv, Some(LOOK)).map_err(on)?;
    match answer {
        Some((Message { kind: Kind::Welcome, .. }, Some(file))) => Ok((socket, file)),
        Some((Message { kind: Kind::Refused, a, .. }, _)) => Err(LinkError::Refused(a as i32)),
        Some(_) => Err(LinkError::Refused(libc::EPROTO)),
        None => Err(LinkError::Ended),
    }
}

/// The next message and its descriptor; `None` at the end of the connection.
fn receive(socket: &OwnedFd) -> Result<Option<(Message, Option<OwnedFd>)>, Errno> {
    let mut bytes = [0u8; BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let message = Message::decode(&bytes[..received.bytes]).ok_or(Errno::PROTO)?;
    Ok(Some((message, descriptor)))
}
