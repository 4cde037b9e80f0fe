//! Names under which libc exports the same calls again and which the `libc` crate leaves out: those that
//! compilers put in for checked calls, and those of programs built long ago.

use std::ffi::CString;

use libc::{c_char, c_int, c_void, iovec, off_t, size_t, ssize_t};

extern "C" {
    pub fn __open_2(path: *const c_char, flags: c_int) -> c_int;
    pub fn __open64_2(path: *const c_char, flags: c_int) -> c_int;
    pub fn __openat_2(dir: c_int, path: *const c_char, flags: c_int) -> c_int;
    pub fn __openat64_2(dir: c_int, path: *const c_char, flags: c_int) -> c_int;
    pub fn __read_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t) -> ssize_t;
    pub fn __pread_chk(fd: c_int, buffer: *mut c_void, len: size_t, at: off_t, room: size_t) -> ssize_t;
    pub fn __pread64_chk(fd: c_int, buffer: *mut c_void, len: size_t, at: off_t, room: size_t) -> ssize_t;
    pub fn preadv64v2(fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t;
    pub fn pwritev64v2(fd: c_int, vector: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t;
    pub fn dprintf(fd: c_int, format: *const c_char, ...) -> c_int;
    pub fn quick_exit(code: c_int) -> !;
    pub fn _Exit(code: c_int) -> !;
    pub fn daemon(stay: c_int, keep: c_int) -> c_int;
    pub fn closefrom(first: c_int);
    pub fn open_by_handle_at(mount: c_int, handle: *mut c_void, flags: c_int) -> c_int;
    pub fn futimesat(dir: c_int, path: *const c_char, times: *const libc::timeval) -> c_int;
    pub fn _Fork() -> libc::pid_t;
    pub fn execveat(
        dir: c_int,
        path: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
        flags: c_int,
    ) -> c_int;
    pub fn lockf64(fd: c_int, command: c_int, len: off_t) -> c_int;
    pub fn aio_fsync64(kind: c_int, control: *mut libc::aiocb) -> c_int;
    pub fn aio_read64(control: *mut libc::aiocb) -> c_int;
    pub fn aio_write64(control: *mut libc::aiocb) -> c_int;
    pub fn lio_listio64(
        mode: c_int,
        list: *mut *mut libc::aiocb,
        count: c_int,
        event: *mut libc::sigevent,
    ) -> c_int;
    pub fn getdelim(
        line: *mut *mut c_char,
        room: *mut size_t,
        delimiter: c_int,
        file: *mut libc::FILE,
    ) -> ssize_t;
    pub fn tmpfile64() -> *mut libc::FILE;
    pub fn mkstemp64(template: *mut c_char) -> c_int;
    pub fn mkostemp64(template: *mut c_char, flags: c_int) -> c_int;
    pub fn mkstemps64(template: *mut c_char, suffix: c_int) -> c_int;
    pub fn mkostemps64(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int;
}

/// Version of the structure that the old stat functions are asked for on 64-bit machines.
#[cfg(target_arch = "x86_64")]
const STAT_VERSION: c_int = 1;
#[cfg(not(target_arch = "x86_64"))]
const STAT_VERSION: c_int = 0;

/// A function that programs can no longer be linked to, but old ones still call.
fn old(name: &str) -> *mut c_void {
    let name = CString::new(name).expect("names hold no null bytes");
    // SAFETY: the name is a live C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!found.is_null(), "libc has no {name:?}");
    found
}

/// `__xstat` and its like.
///
/// # Safety
/// As for `stat`.
pub unsafe fn xstat(name: &str, path: *const c_char, out: *mut libc::stat64) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const c_char, *mut libc::stat64) -> c_int;
    // SAFETY: libc's functions of these names have this type.
    let function: Function = unsafe { std::mem::transmute(old(name)) };
    nix::errno::Errno::clear();
    // SAFETY: as the caller promises.
    unsafe { function(STAT_VERSION, path, out) }
}

/// `__fxstatat` and its like.
///
/// # Safety
/// As for `fstatat`.
pub unsafe fn fxstatat(
    name: &str,
    dir: c_int,
    path: *const c_char,
    out: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    type Function = unsafe extern "C" fn(c_int, c_int, *const c_char, *mut libc::stat64, c_int) -> c_int;
    // SAFETY: libc's functions of these names have this type.
    let function: Function = unsafe { std::mem::transmute(old(name)) };
    nix::errno::Errno::clear();
    // SAFETY: as the caller promises.
    unsafe { function(STAT_VERSION, dir, path, out, flags) }
}

/// `__fxstat` and its like.
///
/// # Safety
/// As for `fstat`.
pub unsafe fn fxstat(name: &str, fd: c_int, out: *mut libc::stat64) -> c_int {
    type Function = unsafe extern "C" fn(c_int, c_int, *mut libc::stat64) -> c_int;
    // SAFETY: libc's functions of these names have this type.
    let function: Function = unsafe { std::mem::transmute(old(name)) };
    nix::errno::Errno::clear();
    // SAFETY: as the caller promises.
    unsafe { function(STAT_VERSION, fd, out) }
}

/// `openat2`, which libc has no function for.
///
/// # Safety
/// As for `openat`.
pub unsafe fn openat2(dir: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int {
    // Unlike the older calls, this one refuses what it does not use.
    let creates = flags & (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) != 0;
    let how = [flags as u64, if creates { u64::from(mode) } else { 0 }, 0];
    // SAFETY: the path is the caller's affair; the structure of three words outlives the call.
    unsafe { libc::syscall(libc::SYS_openat2, dir, path, how.as_ptr(), size_of_val(&how)) as c_int }
}
