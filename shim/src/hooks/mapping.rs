//! Mappings.

use crate::ops::mapping::before_mmap;
use libc::{c_int, c_void, off_t, size_t};

rows! {
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
