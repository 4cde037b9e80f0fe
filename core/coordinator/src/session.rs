//! One connection: packets in, packets out, each with at most one descriptor.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::process;
use millpond_segment::wire::{Message, BYTES};
use rustix::io::Errno;
use rustix::net::{
    recv, recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// A connection and who is at its other end.
pub struct Session {
    socket: OwnedFd,
    /// Process that connected; 0 when it is in a namespace of process numbers that cannot be seen from here.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
}

/// What is next on a connection.
pub enum Next {
    /// Nothing yet.
    Nothing,
    /// A message, still in the queue.
    Message(Message),
    /// Something that is no message.
    Garbage,
    /// The other end is gone.
    End,
}

impl Session {
    /// The connection `socket`; `None` when nobody is at its other end.
    pub fn new(socket: OwnedFd) -> Option<Self> {
        let (pid, uid) = process::peer(&socket)?;
        Some(Self { socket, pid, uid })
    }

    /// The socket, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Looks at the next message and leaves it: it is taken when it has been dealt with, so that a worker killed in the middle leaves it to
    /// the next one.
    pub fn peek(&self) -> Next {
        let mut bytes = [0u8; BYTES + 1];
        loop {
            return match recv(&self.socket, &mut bytes, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
                Ok((0, _)) => Next::End,
                Ok((n, _)) => {
                    Message::decode(&bytes[..n.min(bytes.len())]).map_or(Next::Garbage, Next::Message)
                }
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => Next::Nothing,
                Err(_) => Next::End,
            };
        }
    }

    /// Takes the message that was looked at, and the descriptor that came with it.
    pub fn take(&self) -> Option<OwnedFd> {
        let mut bytes = [0u8; BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        recvmsg(&self.socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags).ok()?;
        let mut first = None;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                // All are taken out, so that surplus ones are closed.
                fds.for_each(|fd| {
                    first.get_or_insert(fd);
                });
            }
        }
        first
    }

    /// Sends a message, perhaps with a descriptor. Nobody is waited for: `false` when it could not be sent at once.
    pub fn send(&self, message: Message, descriptor: Option<BorrowedFd<'_>>) -> bool {
        send(self.fd(), message, descriptor, SendFlags::DONTWAIT).is_ok()
    }
}

/// Sends a message on a socket, perhaps with a descriptor.
pub fn send(
    socket: BorrowedFd<'_>,
    message: Message,
    descriptor: Option<BorrowedFd<'_>>,
    flags: SendFlags,
) -> Result<(), Errno> {
    let fds: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(&message.encode())], &mut ancillary, flags | SendFlags::NOSIGNAL)
        {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}
