//! The fence: new processes, and descriptors known by number only.
//!
//! Everything here is called by processes of one thread, or by a child right after its fork.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::panic::{catch_unwind, AssertUnwindSafe};

use millpond_segment::sys::{self, Errno};
use rustix::mm::{madvise, mmap, munmap, Advice, MapFlags, ProtFlags};

/// Exit code of a child whose body panicked.
pub const PANICKED: i32 = 101;

fn child(body: impl FnOnce() -> i32) -> ! {
    let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(PANICKED);
    // SAFETY: ends the process without running what the parent has registered for its own exit.
    unsafe { libc::_exit(code) }
}

/// A child with a copy of everything, which ends with the code that `body` returns. Its process id.
pub fn fork(body: impl FnOnce() -> i32) -> Result<u32, Errno> {
    // SAFETY: libc makes its own state usable in the child; the child runs `body` and nothing of the parent's.
    match unsafe { libc::fork() } {
        -1 => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN))),
        0 => child(body),
        pid => Ok(pid as u32),
    }
}

/// As [`fork`], but the child shares the table of descriptors with its parent: what one opens or closes, the other has or lacks.
pub fn fork_sharing_descriptors(body: impl FnOnce() -> i32) -> Result<u32, Errno> {
    let flags = (libc::CLONE_FILES | libc::SIGCHLD) as usize;
    // SAFETY: no CLONE_VM and no new stack: the child runs on its own copy of this one, as after a fork. The caller has one thread, so no lock of
    // libc is held by a thread that the child lacks.
    match unsafe { sys::syscall(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]) }? {
        0 => child(body),
        pid => Ok(pid as u32),
    }
}

/// Process and user at the other end of a Unix socket. The process is 0 when it has no number here, which is why this is not `rustix`'s.
pub fn peer(socket: &OwnedFd) -> Option<(u32, u32)> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = std::mem::size_of::<libc::ucred>() as libc::socklen_t;
    let place = [
        socket.as_raw_fd() as usize,
        libc::SOL_SOCKET as usize,
        libc::SO_PEERCRED as usize,
        &raw mut peer as usize,
        &raw mut len as usize,
        0,
    ];
    // SAFETY: there is room for the answer, whose length is given.
    unsafe { sys::syscall(libc::SYS_getsockopt, place) }.ok()?;
    Some((peer.pid as u32, peer.uid))
}

/// Takes over a descriptor that this process has by number.
pub fn adopt(fd: i32) -> OwnedFd {
    // SAFETY: the caller names a descriptor that it has found open in its table and that nothing else in this process owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Lets the kernel find and clear the memory behind a part of the file now, so that no program waits for that later.
pub fn populate(file: impl AsFd, offset: u64, length: u64) -> Result<(), rustix::io::Errno> {
    let length = length as usize;
    // SAFETY: a fresh mapping at a place of the kernel's choice, referenced by nobody and unmapped below.
    unsafe {
        let at = mmap(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            file,
            offset,
        )?;
        let done = madvise(at, length, Advice::LinuxPopulateWrite);
        munmap(at, length)?;
        done
    }
}

/// Makes ended children wait to be asked for, whatever this process was started with.
pub fn keep_ended_children() {
    // SAFETY: sets a default action; no handler is involved.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}
