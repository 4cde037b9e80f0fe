//! Durability.

use crate::ops::{copies, durability};
use libc::{c_int, c_uint, off_t};
use millpond_segment::stats::Reason;

rows! {
    patch held fsync(fd: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { durability::fsync(fd, || next(fd)) }
    }
    patch held fdatasync(fd: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { durability::fsync(fd, || next(fd)) }
    }
    plain held sync() -> () |next| {
        durability::before_sync();
        next();
    }
    plain held syncfs(fd: c_int) -> c_int |next| {
        durability::before_sync();
        next(fd)
    }
    plain held sync_file_range(fd: c_int, offset: off_t, len: off_t, flags: c_uint) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { copies::copy(Some(copies::End { fd, own_offset: false }), None, Reason::SyncRange, || next(fd, offset, len, flags)) }
    }
}
