//! Mappings, and watches: both want the kernel to see what happens to a file.

use crate::ops::mapping::before_mmap;
use crate::ops::metadata;
use libc::{c_char, c_int, c_void, off_t, size_t};

rows! {
    plain around inotify_add_watch(fd: c_int, path: *const c_char, mask: u32) -> c_int |next| {
        metadata::before_watch(path);
        next(fd, path, mask)
    }
    plain around mmap(address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void |next| {
        match before_mmap(fd, flags) {
            Some(failed) => failed,
            None => next(address, len, protection, flags, fd, offset),
        }
    }
    patch around mmap64(address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void |next| {
        match before_mmap(fd, flags) {
            Some(failed) => failed,
            None => next(address, len, protection, flags, fd, offset),
        }
    }
}
