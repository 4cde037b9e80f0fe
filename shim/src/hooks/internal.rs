//! Names that only libc itself calls.

use crate::ops::open::opened;
use crate::ops::{data, descriptors};
use libc::{c_char, c_int, c_void, mode_t, off_t, size_t, ssize_t};

use super::row::guarded_look;

fn seen(fd: c_int, oflag: c_int) -> c_int {
    guarded_look(|| opened(fd, oflag));
    fd
}

rows! {
    patch inner __open_nocancel(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    patch inner __open64_nocancel(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    patch inner __openat_nocancel(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    patch inner __openat64_nocancel(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    patch inner __read_nocancel(fd: c_int, buf: *mut c_void, n: size_t) -> ssize_t { data::read(fd, buf, n) }
    patch inner __write_nocancel(fd: c_int, buf: *const c_void, n: size_t) -> ssize_t { data::write(fd, buf, n) }
    patch inner __pread64_nocancel(fd: c_int, buf: *mut c_void, n: size_t, offset: off_t) -> ssize_t { data::pread(fd, buf, n, offset) }
    patch inner __close_nocancel(fd: c_int) -> c_int |next| {
        // SAFETY: libc's own close.
        unsafe { descriptors::close(next, fd) }
    }
    patch inner __close_nocancel_nostatus(fd: c_int) -> () |next| {
        let _ = descriptors::before_close(fd);
        next(fd);
    }
}
