//! Writing a line where the program would: with no signal to it, and no wait that does not end.

use super::mask::{set_mask, SET_BYTES};
use super::raw::{syscall, Errno};

/// Writes to a descriptor, once.
///
/// # Errors
/// The kernel's.
pub fn write(fd: i32, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the bytes are valid for reading.
    unsafe { syscall(libc::SYS_write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Whether a descriptor can be written to without waiting, within so many milliseconds.
pub fn has_room(fd: i32, within_ms: u32) -> bool {
    let mut asked = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: i64::from(within_ms.min(999)) * 1_000_000 };
    // SAFETY: one descriptor and a time, both valid.
    let ready = unsafe {
        syscall(libc::SYS_ppoll, [&raw mut asked as usize, 1, &raw mut time as usize, 0, SET_BYTES, 0])
    };
    ready == Ok(1) && asked.revents & (libc::POLLERR | libc::POLLNVAL | libc::POLLHUP) == 0
}

/// Runs `f` with all signals held back; those that `f` itself brings about by writing (a broken pipe, a limit) are taken away.
pub fn without_signals(f: impl FnOnce()) {
    let Ok(before) = set_mask(u64::MAX) else { return };
    let had = pending();
    f();
    let of_writing = (1u64 << (libc::SIGPIPE - 1)) | (1u64 << (libc::SIGXFSZ - 1));
    let take = pending() & of_writing & !had;
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if take != 0 {
        // SAFETY: a set and a time, both valid; no room for the signal's description is asked for.
        let _ = unsafe {
            syscall(
                libc::SYS_rt_sigtimedwait,
                [&raw const take as usize, 0, &raw const at_once as usize, SET_BYTES, 0, 0],
            )
        };
    }
    let _ = set_mask(before);
}

/// Signals that wait to be delivered.
fn pending() -> u64 {
    let mut set = 0u64;
    // SAFETY: the set is as long as said.
    let _ = unsafe { syscall(libc::SYS_rt_sigpending, [&raw mut set as usize, SET_BYTES, 0, 0, 0, 0]) };
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_broken_pipe_is_an_error_and_no_signal() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(has_room(writer.as_raw_fd(), 0));
        drop(reader);
        assert!(!has_room(writer.as_raw_fd(), 0));
        // The test's own process ignores the signal; it must not be left pending either way.
        without_signals(|| assert_eq!(write(writer.as_raw_fd(), b"x"), Err(Errno(libc::EPIPE))));
        assert_eq!(pending() & (1 << (libc::SIGPIPE - 1)), 0);
    }

    #[test]
    fn a_full_pipe_is_not_waited_for() {
        let (_reader, writer) = std::io::pipe().unwrap();
        // SAFETY: no pointers.
        let flags = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        assert_eq!(flags, 0);
        while write(writer.as_raw_fd(), &[0; 4096]).is_ok() {}
        let begun = std::time::Instant::now();
        assert!(!has_room(writer.as_raw_fd(), 50));
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    }
}
