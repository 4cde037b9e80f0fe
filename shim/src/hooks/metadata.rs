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
    plain held fstat(fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(fd, st)) }
    }
    patch held fstat64(fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(fd, st)) }
    }
    plain held stat(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    patch held stat64(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    plain held lstat(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    patch held lstat64(path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(path, st)) }
    }
    plain held fstatat(dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(dir, path, st, flags)) }
    }
    patch held fstatat64(dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(dir, path, st, flags)) }
    }
    plain held __fxstat(version: c_int, fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(version, fd, st)) }
    }
    plain held __fxstat64(version: c_int, fd: c_int, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(Some(fd), st, || next(version, fd, st)) }
    }
    plain held __xstat(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain held __xstat64(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain held __lxstat(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain held __lxstat64(version: c_int, path: *const c_char, st: *mut Stat) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(None, st, || next(version, path, st)) }
    }
    plain held __fxstatat(version: c_int, dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(version, dir, path, st, flags)) }
    }
    plain held __fxstatat64(version: c_int, dir: c_int, path: *const c_char, st: *mut Stat, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::stat(empty_path(dir, path, flags), st, || next(version, dir, path, st, flags)) }
    }
    plain held statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, st: *mut Statx) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { metadata::statx(empty_path(dir, path, flags), st, || next(dir, path, flags, mask, st)) }
    }
    plain hook ftruncate(fd: c_int, len: off_t) -> c_int { metadata::ftruncate(fd, len) }
    patch hook ftruncate64(fd: c_int, len: off_t) -> c_int { metadata::ftruncate(fd, len) }
    plain hook truncate(path: *const c_char, len: off_t) -> c_int { metadata::truncate(path, len) }
    plain hook truncate64(path: *const c_char, len: off_t) -> c_int { metadata::truncate(path, len) }
    plain held fallocate(fd: c_int, mode: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, mode, offset, len)) }
    plain held fallocate64(fd: c_int, mode: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, mode, offset, len)) }
    plain held posix_fallocate(fd: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, offset, len)) }
    plain held posix_fallocate64(fd: c_int, offset: off_t, len: off_t) -> c_int |next| { metadata::allocate(fd, || next(fd, offset, len)) }
    plain held futimens(fd: c_int, times: *const timespec) -> c_int |next| {
        metadata::before_change_fd(fd, Times);
        next(fd, times)
    }
    plain held futimes(fd: c_int, times: *const timeval) -> c_int |next| {
        metadata::before_change_fd(fd, Times);
        next(fd, times)
    }
    plain held utimensat(dir: c_int, path: *const c_char, times: *const timespec, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Times);
        next(dir, path, times, flags)
    }
    plain held futimesat(dir: c_int, path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(dir, path, 0, Times);
        next(dir, path, times)
    }
    plain held utimes(path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Times);
        next(path, times)
    }
    plain held lutimes(path: *const c_char, times: *const timeval) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Times);
        next(path, times)
    }
    plain held utime(path: *const c_char, times: *const utimbuf) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Times);
        next(path, times)
    }
    plain held fchmod(fd: c_int, mode: mode_t) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, mode)
    }
    plain held fchown(fd: c_int, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, uid, gid)
    }
    plain held chmod(path: *const c_char, mode: mode_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, mode)
    }
    plain held fchmodat(dir: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Attributes);
        next(dir, path, mode, flags)
    }
    plain held chown(path: *const c_char, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, uid, gid)
    }
    plain held fchownat(dir: c_int, path: *const c_char, uid: uid_t, gid: gid_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(dir, path, flags, Attributes);
        next(dir, path, uid, gid, flags)
    }
    plain held lchown(path: *const c_char, uid: uid_t, gid: gid_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, uid, gid)
    }
    plain held lchmod(path: *const c_char, mode: mode_t) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, mode)
    }
    plain held fsetxattr(fd: c_int, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_fd(fd, Attributes);
        next(fd, name, value, size, flags)
    }
    plain held setxattr(path: *const c_char, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, 0, Attributes);
        next(path, name, value, size, flags)
    }
    plain held lsetxattr(path: *const c_char, name: *const c_char, value: *const c_void, size: size_t, flags: c_int) -> c_int |next| {
        metadata::before_change_path(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, Attributes);
        next(path, name, value, size, flags)
    }
}
