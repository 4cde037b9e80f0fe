//! Durability.

use crate::ops::{copies, durability};
use libc::{c_int, c_uint, off_t};
use millpond_segment::stats::Reason;

rows! {
    patch around fsync(fd: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { durability::fsync(fd, || next(fd)) }
    }
    patch around fdatasync(fd: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { durability::fsync(fd, || next(fd)) }
    }
    plain around sync() -> () |next| {
        durability::before_sync();
        next();
    }
    plain around syncfs(fd: c_int) -> c_int |next| {
        durability::before_sync();
        next(fd)
    }
    plain around sync_file_range(fd: c_int, offset: off_t, len: off_t, flags: c_uint) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { copies::copy(Some(copies::End { fd, own_offset: false }), None, Reason::SyncRange, || next(fd, offset, len, flags)) }
    }
}
