//! Calls that programs make more rarely: temporary files, hints, splices, asynchronous I/O, descriptors
//! that travel through sockets, streams that change their file.

use std::ffi::CString;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, RawFd};

use nix::sys::socket::{
    recvmsg, sendmsg, socketpair, AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag,
    SockType,
};

use super::aliases;
use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::STREAMS;

/// `ioctl` that makes one file share the blocks of another.
const FICLONE: libc::c_ulong = 0x4004_9409;

impl Process {
    pub(super) fn dprintf(&self, slot: u8, seed: u32) -> String {
        let fd = self.fd(slot);
        // SAFETY: the format takes one unsigned int.
        let outcome = Outcome::of(|| unsafe { aliases::dprintf(fd, c"%08x\n".as_ptr(), seed) });
        // Functions that format may leave `errno` behind when they succeed.
        let errno = if outcome.is_ok() { 0 } else { outcome.errno };
        format!("= {} errno {errno}{}", outcome.value, self.position(fd))
    }

    pub(super) fn getline(&self, stream: u8) -> String {
        let file = self.streams[usize::from(stream) % STREAMS];
        if file.is_null() {
            return "closed".into();
        }
        let (mut line, mut room) = (std::ptr::null_mut(), 0);
        // SAFETY: the stream is open; with a null pointer libc allocates the line.
        let len = unsafe { libc::getline(&mut line, &mut room, file) };
        let shown = match usize::try_from(len) {
            // SAFETY: libc has just written this many bytes there.
            Ok(len) => data::show(unsafe { std::slice::from_raw_parts(line.cast::<u8>(), len) }),
            Err(_) => String::new(),
        };
        // SAFETY: the line is libc's allocation or null.
        unsafe { libc::free(line.cast()) };
        format!("= {len} [{shown}]")
    }

    pub(super) fn freopen(&mut self, stream: u8, path: &str, mode: &str) -> String {
        let index = usize::from(stream) % STREAMS;
        if self.streams[index].is_null() {
            return "closed".into();
        }
        let (path, mode) = (self.path(path), CString::new(mode).expect("mode"));
        // SAFETY: both are live C strings; the stream is replaced by the result.
        let file = unsafe { libc::freopen(path.as_ptr(), mode.as_ptr(), self.streams[index]) };
        self.streams[index] = file;
        if file.is_null() {
            return format!("{:?}", nix::errno::Errno::last());
        }
        // SAFETY: the stream is open.
        format!("fd {}", unsafe { libc::fileno(file) })
    }

    pub(super) fn tmpfile(&mut self, stream: u8) -> String {
        let closed = self.fclose(stream);
        // SAFETY: takes nothing.
        let file = unsafe { libc::tmpfile() };
        self.streams[usize::from(stream) % STREAMS] = file;
        format!("{closed} {}", if file.is_null() { "failed" } else { "open" })
    }

    pub(super) fn mkostemp(&mut self, slot: u8, to: &str, cloexec: bool, call: u8) -> String {
        let closed = self.close(slot);
        let suffixed = call % 8 >= 4;
        let template = if suffixed { "d/temporary-XXXXXX.end" } else { "d/temporary-XXXXXX" };
        let template = CString::new(template).expect("no null bytes").into_raw();
        let flags = if cloexec { libc::O_CLOEXEC } else { 0 };
        // SAFETY: the template is a C string of ours that may be written to.
        let fd = unsafe {
            match call % 8 {
                0 => libc::mkostemp(template, flags),
                1 => libc::mkstemp(template),
                2 => aliases::mkstemp64(template),
                3 => aliases::mkostemp64(template, flags | libc::O_APPEND),
                4 => libc::mkostemps(template, 4, flags),
                5 => libc::mkstemps(template, 4),
                6 => aliases::mkstemps64(template, 4),
                _ => aliases::mkostemps64(template, 4, flags | libc::O_SYNC),
            }
        };
        // SAFETY: made by `into_raw` above.
        let name = unsafe { CString::from_raw(template) };
        if fd < 0 {
            return format!("{closed} {:?}", nix::errno::Errno::last());
        }
        self.set_fd(slot, fd);
        let renamed = self.rename(&name.to_string_lossy(), to, 0);
        // SAFETY: the name is a live C string. It is gone if the rename succeeded.
        unsafe { libc::unlink(name.as_ptr()) };
        format!("{closed} fd {fd} rename {renamed}")
    }

    pub(super) fn remove(&self, path: &str) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        let outcome = Outcome::of(|| unsafe { libc::remove(path.as_ptr()) });
        // Tries one call after the other, so that `errno` may be set although it succeeds.
        let errno = if outcome.is_ok() { 0 } else { outcome.errno };
        format!("= {} errno {errno}", outcome.value)
    }

    pub(super) fn fchown(&self, slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe { calls::fchown(fd, libc::getuid(), libc::getgid()) }).to_string()
    }

    pub(super) fn splice(
        &self,
        from_slot: u8,
        to_slot: u8,
        from: Option<i64>,
        to: Option<i64>,
        len: u32,
    ) -> String {
        let (source, target) = (self.fd(from_slot), self.fd(to_slot));
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        let (mut from, mut to) = (from, to);
        let from_pointer = from.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        let to_pointer = to.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        let null = std::ptr::null_mut();
        // What one empty pipe takes for certain, so that nothing waits.
        let len = (len as usize).min(4096);
        // SAFETY: the offset outlives the call.
        let into = Outcome::of(|| unsafe {
            calls::splice(source, from_pointer, writer.as_raw_fd(), null, len, 0) as i64
        });
        let mut text = format!("in {into}");
        if into.value > 0 {
            // SAFETY: the offset outlives the call.
            let out = Outcome::of(|| unsafe {
                calls::splice(reader.as_raw_fd(), null, target, to_pointer, into.value as usize, 0) as i64
            });
            text += &format!(" out {out}");
        }
        let (a, b) = (self.position(source), self.position(target));
        text + &format!(" offsets {from:?} {to:?} from{a} to{b}")
    }

    pub(super) fn clone_file(&self, from_slot: u8, to_slot: u8) -> String {
        let (source, target) = (self.fd(from_slot), self.fd(to_slot));
        // SAFETY: the argument is a descriptor, not memory.
        Outcome::of(|| unsafe { libc::ioctl(target, FICLONE, source) }).to_string()
    }

    pub(super) fn pass_slot(&mut self, slot: u8, to_slot: u8, close: bool) -> String {
        let fd = self.fd(slot);
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::Datagram, None, SockFlag::SOCK_CLOEXEC)
                .expect("sockets");
        let payload = [IoSlice::new(b"x")];
        let rights = [fd];
        let sent = sendmsg::<()>(
            ours.as_raw_fd(),
            &payload,
            &[ControlMessage::ScmRights(&rights)],
            MsgFlags::empty(),
            None,
        );
        if let Err(errno) = sent {
            return format!("send {errno:?}");
        }
        // In between only the socket keeps the file open.
        let closed = if close { self.close(slot) } else { String::new() };
        match receive(theirs.as_raw_fd()) {
            Some(received) => {
                let outcome = Outcome { value: received.into(), errno: 0 };
                format!("closed {closed} received {}", self.take_over(to_slot, outcome))
            }
            None => format!("closed {closed} received nothing"),
        }
    }
}

/// Takes one descriptor out of a socket.
fn receive(socket: RawFd) -> Option<RawFd> {
    let mut space = nix::cmsg_space!(RawFd);
    let mut byte = [0; 1];
    let mut payload = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(socket, &mut payload, Some(&mut space), MsgFlags::empty()).ok()?;
    let mut rights = message.cmsgs().ok()?.filter_map(|control| match control {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    });
    rights.next()
}
