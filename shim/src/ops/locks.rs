//! Record locks: the kernel's, on the program's own descriptor. What a lock is counted from (the offset, the end of the file) stands in the segment, so
//! such a range is given to the kernel as one that counts from the beginning.

use super::position::end_of;
use crate::errno::{fail, preserving};
use crate::managed::{self, Managed};
use libc::{c_int, c_short, flock, off_t};
use millpond_segment::{copy, Errno};
use std::sync::atomic::Ordering::SeqCst;

/// Whether `command` of `fcntl` takes a range.
pub fn is_about_a_range(command: c_int) -> bool {
    matches!(
        command,
        libc::F_GETLK
            | libc::F_SETLK
            | libc::F_SETLKW
            | libc::F_OFD_GETLK
            | libc::F_OFD_SETLK
            | libc::F_OFD_SETLKW
    )
}

/// `fcntl` with a range; `call` makes the kernel's call with the argument that it is given.
pub unsafe fn lock(m: &Managed, command: c_int, argument: usize, call: impl FnOnce(usize) -> c_int) -> c_int {
    // SAFETY: all-zero is a value of it.
    let mut range: flock = unsafe { std::mem::zeroed() };
    let size = size_of::<flock>();
    // SAFETY: `range` is ours; the program's structure may be invalid, which the copy finds out.
    if unsafe { copy::copy(&raw mut range as usize, argument, size) } > 0 {
        return call(argument);
    }
    let base = match c_int::from(range.l_whence) {
        libc::SEEK_CUR => Ok(m.d().offset.load(SeqCst) as i64),
        libc::SEEK_END => preserving(|| end_of(m)),
        _ => return call(argument),
    };
    let Ok(base) = base else { return call(argument) };
    // What is no offset is refused by the kernel, which looks at the type before.
    match base.checked_add(range.l_start) {
        Some(start) => range.l_start = start,
        None => (range.l_start, range.l_len) = (off_t::MAX, 2),
    }
    range.l_whence = libc::SEEK_SET as c_short;
    let result = call(&raw mut range as usize);
    if result == 0 && matches!(command, libc::F_GETLK | libc::F_OFD_GETLK) {
        // Nobody in the way: the kernel changes the type alone.
        let changed = if range.l_type == libc::F_UNLCK as c_short { size_of::<c_short>() } else { size };
        // SAFETY: as above, with the sides changed.
        if unsafe { copy::copy(argument, &raw const range as usize, changed) } > 0 {
            return fail(Errno(libc::EFAULT)) as c_int;
        }
    }
    result
}

/// `lockf`, whose range counts from the offset; `control` is libc's `fcntl`, `call` its `lockf`.
pub unsafe fn lockf(
    fd: c_int,
    command: c_int,
    len: off_t,
    control: impl FnOnce(c_int, usize) -> c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(m) = managed::get(fd) else { return call() };
    let (kind, number) = match command {
        libc::F_TEST => (libc::F_RDLCK, libc::F_GETLK),
        libc::F_ULOCK => (libc::F_UNLCK, libc::F_SETLK),
        libc::F_LOCK => (libc::F_WRLCK, libc::F_SETLKW),
        libc::F_TLOCK => (libc::F_WRLCK, libc::F_SETLK),
        _ => return call(),
    };
    // SAFETY: all-zero is a value of it.
    let mut range: flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as c_short;
    range.l_whence = libc::SEEK_SET as c_short;
    range.l_start = m.d().offset.load(SeqCst) as off_t;
    range.l_len = len;
    let result = control(number, &raw mut range as usize);
    let free =
        range.l_type == libc::F_UNLCK as c_short || range.l_pid as u32 == millpond_segment::sys::getpid();
    if command == libc::F_TEST && result == 0 && !free {
        return fail(Errno(libc::EACCES)) as c_int;
    }
    result
}
