//! Metadata.

use crate::ops::metadata;
use crate::peek::is_empty_text;
use libc::{
    c_char, c_int, c_uint, c_void, gid_t, mode_t, off_t, size_t, stat as Stat, statx as Statx, timespec,
    timeval, uid_t, utimbuf,
};
use millpond_segment::stats::Reason::{Attributes, Times};

/// The descriptor that an `*at` call with an empty path is about.
fn empty_path(dir: c_int, path: *const c_char, flags: c_int) -> Option<c_int> {
    // A null path means an empty one on kernels that say so.
    (flags & libc::AT_EMPTY_PATH != 0 && (path.is_null() || is_empty_text(path))).then_some(dir)
}

rows! {
    plain around fstat(fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(fd, st)) }
    }
    patch around fstat64(fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(fd, st)) }
    }
    plain around stat(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    patch around stat64(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    plain around lstat(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    patch around lstat64(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    plain around fstatat(dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(dir, path, st, flags)) }
    }
    patch around fstatat64(dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(dir, path, st, flags)) }
    }
    plain around __fxstat(version: c_int, fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(version, fd, st)) }
    }
    plain around __fxstat64(version: c_int, fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(version, fd, st)) }
    }
    plain around __xstat(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain around __xstat64(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain around __lxstat(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain around __lxstat64(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain around __fxstatat(version: c_int, dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(version, dir, path, st, flags)) }
    }
    plain around __fxstatat64(version: c_int, dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(version, dir, path, st, flags)) }
    }
    plain around statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, st: *mut Statx) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::statx(empty_path(dir, path, flags), st, || next(dir, path, flags, mask, st)) }
    }
    plain hook ftruncate(fd: c_int, len: off_t) -> c_int { metadata::ftruncate(fd, len) }
    patch hook ftruncate64(fd: c_int, len: off_t) -> c_int { metadata::ftruncate(fd, len) }
    plain hook truncate(path: *const c_char, len: off_t) -> c_int { metadata::truncate(path, len) }
    plain hook truncate64(path: *const c_char, len: off_t) -> c_int { metadata::truncate(path, len) }
    plain around fallocate(fd: c_int, mode: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, mode, offset, len)) }
    plain around fallocate64(fd: c_int, mode: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, mode, offset, len)) }
    plain around posix_fallocate(fd: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, offset, len)) }
    plain around posix_fallocate64(fd: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, offset, len)) }
    plain around futimens(fd: c_int, times: *const timespec) -> c_int |next| {
        metadata::before_change_fd(fd, Times);
        next(fd, times)
    }
    plain around futimes(fd: c_int, times: *const timeval) -> c_int |next| {
        metadata::before_change_fd(fd, Times);
        next(fd, times)
    }
    plain around utimensat(dir: c_int, path: *const c_char, times: *const timespec, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Times);
        next(dir, path, times, flags)
    }
    plain around futimesat(dir: c_int, path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(dir, path, 0, Times);
        next(dir, path, times)
    }
    plain around utimes(path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Times);
        next(path, times)
    }
    plain around lutimes(path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Times);
        next(path, times)
    }
    plain around utime(path: *const c_char, times: *const utimbuf) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Times);
        next(path, times)
    }
    plain around fchmod(fd: c_int, mode: mode_t) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, mode)
    }
    plain around fchown(fd: c_int, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, uid, gid)
    }
    plain around chmod(path: *const c_char, mode: mode_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, mode)
    }
    plain around fchmodat(dir: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Attributes);
        next(dir, path, mode, flags)
    }
    plain around chown(path: *const c_char, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, uid, gid)
    }
    plain around fchownat(dir: c_int, path: *const c_char, uid: uid_t, gid: gid_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Attributes);
        next(dir, path, uid, gid, flags)
    }
    plain around lchown(path: *const c_char, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, uid, gid)
    }
    plain around lchmod(path: *const c_char, mode: mode_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, mode)
    }
    plain around fsetxattr(fd: c_int, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, name, value, size, flags)
    }
    plain around setxattr(path: *const c_char, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, name, value, size, flags)
    }
    plain around lsetxattr(path: *const c_char, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, name, value, size, flags)
    }
}
