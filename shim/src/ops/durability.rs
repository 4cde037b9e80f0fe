//! `fsync` and its kin: what is dirty goes to the file, then the kernel makes it durable, then latched errors are told.

use crate::errno::{fail, preserving};
use crate::managed;
use libc::c_int;
use millpond_segment::Errno;

/// `fsync` and `fdatasync`; `call` is the kernel's.
pub unsafe fn fsync(fd: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let Some(m) = managed::get(fd) else { return call() };
    let flushed = preserving(|| m.flush());
    let told = m.pool.report_error(m.description);
    let result = call();
    match flushed.err().or(told) {
        Some(e) if result == 0 => fail(e) as c_int,
        _ => result,
    }
}

/// Before `sync` and `syncfs`.
pub fn before_sync() {
    let _: Result<(), Errno> = preserving(managed::flush_node);
}
