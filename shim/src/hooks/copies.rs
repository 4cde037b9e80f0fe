//! Copies inside the kernel.

use crate::ops::copies::{copy, ioctl as control, End};
use crate::ops::rings;
use libc::{c_int, c_long, c_uint, c_ulong, c_void, off_t, size_t, ssize_t};
use millpond_segment::stats::Reason;

/// A descriptor whose own offset counts unless one is given.
fn end<T>(fd: c_int, offset: *mut T) -> Option<End> {
    Some(End { fd, own_offset: offset.is_null() })
}

rows! {
    plain around sendfile(out: c_int, from: c_int, offset: *mut off_t, n: size_t) -> ssize_t |next| {
        // SAFETY: the program's own call.
        unsafe { copy(end(from, offset), Some(End { fd: out, own_offset: true }), Reason::Sendfile, || next(out, from, offset, n)) }
    }
    plain around sendfile64(out: c_int, from: c_int, offset: *mut off_t, n: size_t) -> ssize_t |next| {
        // SAFETY: the program's own call.
        unsafe { copy(end(from, offset), Some(End { fd: out, own_offset: true }), Reason::Sendfile, || next(out, from, offset, n)) }
    }
    plain around splice(from: c_int, at: *mut off_t, out: c_int, to: *mut off_t, n: size_t, flags: c_uint) -> ssize_t |next| {
        // SAFETY: the program's own call.
        unsafe { copy(end(from, at), end(out, to), Reason::Splice, || next(from, at, out, to, n, flags)) }
    }
    plain around copy_file_range(from: c_int, at: *mut off_t, out: c_int, to: *mut off_t, n: size_t, flags: c_uint) -> ssize_t |next| {
        // SAFETY: the program's own call.
        unsafe { copy(end(from, at), end(out, to), Reason::CopyRange, || next(from, at, out, to, n, flags)) }
    }
    plain around ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { control(fd, request, argument, || next(fd, request, argument)) }
    }
    plain around io_submit(context: *mut c_void, count: c_long, blocks: *mut *mut rings::Iocb) -> c_int |next| {
        // SAFETY: the program's own control blocks.
        unsafe { rings::before_submit(count, blocks) };
        next(context, count, blocks)
    }
    plain around io_uring_queue_init(entries: c_uint, ring: *mut c_void, flags: c_uint) -> c_int |next| {
        rings::set_up();
        next(entries, ring, flags)
    }
    plain around io_uring_queue_init_params(entries: c_uint, ring: *mut c_void, params: *mut c_void) -> c_int |next| {
        rings::set_up();
        next(entries, ring, params)
    }
    plain around io_uring_queue_init_mem(entries: c_uint, ring: *mut c_void, params: *mut c_void, memory: *mut c_void, size: size_t) -> c_int |next| {
        rings::set_up();
        next(entries, ring, params, memory, size)
    }
}
