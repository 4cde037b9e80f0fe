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
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::HintCall;
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

    pub(super) fn mkostemp(&mut self, slot: u8, to: &str, cloexec: bool) -> String {
        let closed = self.close(slot);
        let template = CString::new("d/temporary-XXXXXX").expect("no null bytes").into_raw();
        let flags = if cloexec { libc::O_CLOEXEC } else { 0 };
        // SAFETY: the template is a C string of ours that may be written to.
        let fd = unsafe { libc::mkostemp(template, flags) };
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

    pub(super) fn hint(&self, slot: u8, call: HintCall) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe {
            match call {
                HintCall::Syncfs => libc::syncfs(fd),
                HintCall::SyncFileRange => libc::sync_file_range(
                    fd,
                    0,
                    0,
                    libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER,
                ),
                HintCall::FadviseDontNeed => libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED),
                HintCall::Readahead => libc::readahead(fd, 0, 65_536) as i32,
            }
        })
        .to_string()
    }

    pub(super) fn fchown(&self, slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe { libc::fchown(fd, libc::getuid(), libc::getgid()) }).to_string()
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
            libc::splice(source, from_pointer, writer.as_raw_fd(), null, len, 0) as i64
        });
        let mut text = format!("in {into}");
        if into.value > 0 {
            // SAFETY: the offset outlives the call.
            let out = Outcome::of(|| unsafe {
                libc::splice(reader.as_raw_fd(), null, target, to_pointer, into.value as usize, 0) as i64
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

    pub(super) fn aio(&self, slot: u8, write: bool, offset: i64, len: u32, seed: u32) -> String {
        let mut bytes = if write { data::pattern(seed, len as usize) } else { vec![0; len as usize] };
        // SAFETY: integers, a union of pointers and an enumeration that zero is a value of.
        let mut control: libc::aiocb = unsafe { std::mem::zeroed() };
        control.aio_fildes = self.fd(slot);
        control.aio_buf = bytes.as_mut_ptr().cast();
        control.aio_nbytes = bytes.len();
        control.aio_offset = offset;
        control.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        // SAFETY: control block and buffer stay where they are until the operation has ended.
        let started = unsafe {
            if write {
                libc::aio_write(&mut control)
            } else {
                libc::aio_read(&mut control)
            }
        };
        if started != 0 {
            return format!("not started {:?}", nix::errno::Errno::last());
        }
        let list = [&raw const control];
        // SAFETY: the control block is alive.
        while unsafe { libc::aio_error(&control) } == libc::EINPROGRESS {
            // SAFETY: the list holds one live control block.
            unsafe { libc::aio_suspend(list.as_ptr(), 1, std::ptr::null()) };
        }
        // SAFETY: the operation has ended.
        let (error, value) = unsafe { (libc::aio_error(&control), libc::aio_return(&mut control)) };
        let got = usize::try_from(value).unwrap_or(0).min(bytes.len());
        let error =
            if error == 0 { "ok".into() } else { format!("{:?}", nix::errno::Errno::from_raw(error)) };
        format!("= {value} {error} [{}]{}", data::show(&bytes[..got]), self.position(self.fd(slot)))
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
