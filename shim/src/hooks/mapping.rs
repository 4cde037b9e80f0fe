//! Mappings, and watches: both want the kernel to see what happens to a file.

use crate::ops::mapping::{self as op};
use crate::ops::watches;
use libc::{c_char, c_int, c_void, off_t, size_t};

rows! {
    plain around inotify_add_watch(fd: c_int, path: *const c_char, mask: u32) -> c_int |next| {
        watches::before_inotify(path, mask);
        next(fd, path, mask)
    }
    plain around fanotify_mark(fd: c_int, how: u32, mask: u64, dirfd: c_int, path: *const c_char) -> c_int |next| {
        watches::before_fanotify(how, mask, dirfd, path);
        next(fd, how, mask, dirfd, path)
    }
    plain around swapon(path: *const c_char, flags: c_int) -> c_int |next| {
        watches::before_kernel_use(path);
        next(path, flags)
    }
    plain around mmap(address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void |next| {
        op::mmap(|| next(address, len, protection, flags, fd, offset), address, len, flags, fd)
    }
    patch around mmap64(address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void |next| {
        op::mmap(|| next(address, len, protection, flags, fd, offset), address, len, flags, fd)
    }
    patch around munmap(address: *mut c_void, len: size_t) -> c_int |next| {
        op::munmap(|| next(address, len), address, len)
    }
    plain around mremap(old: *mut c_void, old_len: size_t, new_len: size_t, flags: c_int, target: *mut c_void) -> *mut c_void |next| {
        op::mremap(|| next(old, old_len, new_len, flags, target), (old, old_len), new_len, flags, target)
    }
}
