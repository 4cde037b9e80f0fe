//! The calls that operations make: libc's functions or, in a scope that asks for it, the same by number
//! through `syscall`.
//!
//! Arguments and results are those of the functions in the `libc` crate, except that `fcntl` and `ioctl`
//! take their last argument as a word.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libc::{c_char, c_int, c_uint, c_ulong, c_void, iovec, loff_t, mode_t, off_t, size_t, ssize_t, timespec};

static BY_NUMBER: AtomicBool = AtomicBool::new(false);

/// Makes calls by number from now on, or no longer; says what was so before.
pub fn set_by_number(on: bool) -> bool {
    BY_NUMBER.swap(on, Relaxed)
}

/// Whether calls are made by number.
pub fn by_number() -> bool {
    BY_NUMBER.load(Relaxed)
}

macro_rules! calls {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $number:ident;)*) => {$(
        /// The call of this name, by one way or the other.
        ///
        /// # Safety
        /// As for the function in `libc`.
        pub unsafe fn $name($($argument: $kind),*) -> $result {
            if by_number() {
                // SAFETY: as the caller promises; the number takes the arguments that the function takes.
                unsafe { libc::syscall(libc::$number, $($argument),*) as $result }
            } else {
                // SAFETY: as the caller promises.
                unsafe { libc::$name($($argument),*) }
            }
        }
    )*};
}

calls! {
    read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t = SYS_read;
    write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t = SYS_write;
    pread(fd: c_int, buffer: *mut c_void, len: size_t, at: off_t) -> ssize_t = SYS_pread64;
    pwrite(fd: c_int, buffer: *const c_void, len: size_t, at: off_t) -> ssize_t = SYS_pwrite64;
    readv(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t = SYS_readv;
    writev(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t = SYS_writev;
    lseek(fd: c_int, offset: off_t, whence: c_int) -> off_t = SYS_lseek;
    close(fd: c_int) -> c_int = SYS_close;
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int = SYS_close_range;
    dup(fd: c_int) -> c_int = SYS_dup;
    dup3(fd: c_int, new: c_int, flags: c_int) -> c_int = SYS_dup3;
    fsync(fd: c_int) -> c_int = SYS_fsync;
    fdatasync(fd: c_int) -> c_int = SYS_fdatasync;
    truncate(path: *const c_char, len: off_t) -> c_int = SYS_truncate;
    ftruncate(fd: c_int, len: off_t) -> c_int = SYS_ftruncate;
    fallocate(fd: c_int, mode: c_int, at: off_t, len: off_t) -> c_int = SYS_fallocate;
    copy_file_range(from: c_int, at: *mut loff_t, to: c_int, to_at: *mut loff_t, len: size_t, flags: c_uint) -> ssize_t = SYS_copy_file_range;
    sendfile(to: c_int, from: c_int, at: *mut off_t, len: size_t) -> ssize_t = SYS_sendfile;
    splice(from: c_int, at: *mut loff_t, to: c_int, to_at: *mut loff_t, len: size_t, flags: c_uint) -> ssize_t = SYS_splice;
    tee(from: c_int, to: c_int, len: size_t, flags: c_uint) -> ssize_t = SYS_tee;
    vmsplice(fd: c_int, vector: *const iovec, count: size_t, flags: c_uint) -> ssize_t = SYS_vmsplice;
    sync_file_range(fd: c_int, at: off_t, len: off_t, flags: c_uint) -> c_int = SYS_sync_file_range;
    readahead(fd: c_int, at: off_t, len: size_t) -> ssize_t = SYS_readahead;
    syncfs(fd: c_int) -> c_int = SYS_syncfs;
    renameat2(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char, flags: c_uint) -> c_int = SYS_renameat2;
    renameat(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char) -> c_int = SYS_renameat;
    linkat(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char, flags: c_int) -> c_int = SYS_linkat;
    unlinkat(dir: c_int, path: *const c_char, flags: c_int) -> c_int = SYS_unlinkat;
    fchmod(fd: c_int, mode: mode_t) -> c_int = SYS_fchmod;
    fchown(fd: c_int, user: c_uint, group: c_uint) -> c_int = SYS_fchown;
    utimensat(dir: c_int, path: *const c_char, times: *const timespec, flags: c_int) -> c_int = SYS_utimensat;
    flock(fd: c_int, operation: c_int) -> c_int = SYS_flock;
    munmap(address: *mut c_void, len: size_t) -> c_int = SYS_munmap;
    mprotect(address: *mut c_void, len: size_t, protection: c_int) -> c_int = SYS_mprotect;
    msync(address: *mut c_void, len: size_t, flags: c_int) -> c_int = SYS_msync;
    madvise(address: *mut c_void, len: size_t, advice: c_int) -> c_int = SYS_madvise;
    sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> ssize_t = SYS_sendmsg;
    recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> ssize_t = SYS_recvmsg;
}

/// `fcntl` with any argument as a word.
///
/// # Safety
/// As for `fcntl`.
pub unsafe fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    if by_number() {
        // SAFETY: as the caller promises.
        unsafe { libc::syscall(libc::SYS_fcntl, fd, command, argument) as c_int }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::fcntl(fd, command, argument) }
    }
}

/// `ioctl` with any argument as a word.
///
/// # Safety
/// As for `ioctl`.
pub unsafe fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    if by_number() {
        // SAFETY: as the caller promises.
        unsafe { libc::syscall(libc::SYS_ioctl, fd, request, argument) as c_int }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::ioctl(fd, request, argument) }
    }
}

/// `dup2`, which some machines have no number for.
///
/// # Safety
/// As for `dup2`.
pub unsafe fn dup2(fd: c_int, new: c_int) -> c_int {
    #[cfg(target_arch = "x86_64")]
    if by_number() {
        // SAFETY: takes no memory.
        return unsafe { libc::syscall(libc::SYS_dup2, fd, new) as c_int };
    }
    // SAFETY: takes no memory.
    unsafe { libc::dup2(fd, new) }
}

/// `fstat`.
///
/// # Safety
/// As for `fstat`.
pub unsafe fn fstat(fd: c_int, out: *mut libc::stat) -> c_int {
    if by_number() {
        // SAFETY: as the caller promises; the kernel's structure is libc's on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_fstat, fd, out) as c_int }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::fstat(fd, out) }
    }
}

/// `fstatat`.
///
/// # Safety
/// As for `fstatat`.
pub unsafe fn fstatat(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    if by_number() {
        // SAFETY: as the caller promises; the kernel's structure is libc's on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_newfstatat, dir, path, out, flags) as c_int }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::fstatat(dir, path, out, flags) }
    }
}

/// `statx`.
///
/// # Safety
/// As for `statx`.
pub unsafe fn statx(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut libc::statx,
) -> c_int {
    if by_number() {
        // SAFETY: as the caller promises.
        unsafe { libc::syscall(libc::SYS_statx, dir, path, flags, mask, out) as c_int }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::statx(dir, path, flags, mask, out) }
    }
}

/// `preadv`.
///
/// # Safety
/// As for `preadv`.
pub unsafe fn preadv(fd: c_int, vector: *const iovec, count: c_int, at: off_t) -> ssize_t {
    if by_number() {
        // SAFETY: as the caller promises; the second half of the offset is not used on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_preadv, fd, vector, count, at, 0) as ssize_t }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::preadv(fd, vector, count, at) }
    }
}

/// `pwritev`.
///
/// # Safety
/// As for `pwritev`.
pub unsafe fn pwritev(fd: c_int, vector: *const iovec, count: c_int, at: off_t) -> ssize_t {
    if by_number() {
        // SAFETY: as the caller promises; the second half of the offset is not used on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_pwritev, fd, vector, count, at, 0) as ssize_t }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::pwritev(fd, vector, count, at) }
    }
}

/// `preadv2`.
///
/// # Safety
/// As for `preadv2`.
pub unsafe fn preadv2(fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t {
    if by_number() {
        // SAFETY: as the caller promises; the second half of the offset is not used on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_preadv2, fd, vector, count, at, 0, flags) as ssize_t }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::preadv2(fd, vector, count, at, flags) }
    }
}

/// `pwritev2`.
///
/// # Safety
/// As for `pwritev2`.
pub unsafe fn pwritev2(fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t {
    if by_number() {
        // SAFETY: as the caller promises; the second half of the offset is not used on 64-bit machines.
        unsafe { libc::syscall(libc::SYS_pwritev2, fd, vector, count, at, 0, flags) as ssize_t }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::pwritev2(fd, vector, count, at, flags) }
    }
}

/// `mmap`, or `mmap64` for some lengths.
///
/// # Safety
/// As for `mmap`.
pub unsafe fn mmap(
    address: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    at: off_t,
) -> *mut c_void {
    if by_number() {
        // SAFETY: as the caller promises.
        unsafe { libc::syscall(libc::SYS_mmap, address, len, protection, flags, fd, at) as *mut c_void }
    } else if len % 3 == 0 {
        // SAFETY: as the caller promises.
        unsafe { libc::mmap64(address, len, protection, flags, fd, at) }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::mmap(address, len, protection, flags, fd, at) }
    }
}

/// `mremap` with all of its arguments.
///
/// # Safety
/// As for `mremap`.
pub unsafe fn mremap(
    address: *mut c_void,
    len: size_t,
    new_len: size_t,
    flags: c_int,
    to: *mut c_void,
) -> *mut c_void {
    if by_number() {
        // SAFETY: as the caller promises.
        unsafe { libc::syscall(libc::SYS_mremap, address, len, new_len, flags, to) as *mut c_void }
    } else {
        // SAFETY: as the caller promises.
        unsafe { libc::mremap(address, len, new_len, flags, to) }
    }
}
