//! Opens. `open` is variadic in C; its mode is the third integer argument, which the calling convention passes as if it were declared.

use crate::ops::open::{opened, opened_somehow};
use libc::{c_char, c_int, mode_t};

use super::row::guarded_look;

/// Looks at what an open returned.
fn seen(fd: c_int, oflag: c_int) -> c_int {
    guarded_look(|| opened(fd, oflag));
    fd
}

/// Looks at what a call returned that opens in a way of its own.
fn seen_somehow(fd: c_int) -> c_int {
    guarded_look(|| opened_somehow(fd));
    fd
}

const CREAT: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

rows! {
    plain around open(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    patch around open64(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    plain around openat(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    patch around openat64(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    plain around creat(path: *const c_char, mode: mode_t) -> c_int |next| { seen(next(path, mode), CREAT) }
    plain around creat64(path: *const c_char, mode: mode_t) -> c_int |next| { seen(next(path, mode), CREAT) }
    plain around __open_2(path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(path, oflag), oflag) }
    plain around __open64_2(path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(path, oflag), oflag) }
    plain around __openat_2(dir: c_int, path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(dir, path, oflag), oflag) }
    plain around __openat64_2(dir: c_int, path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(dir, path, oflag), oflag) }
    plain around open_by_handle_at(dir: c_int, handle: *mut libc::c_void, oflag: c_int) -> c_int |next| { seen(next(dir, handle, oflag), oflag) }
    plain around mkstemp(template: *mut c_char) -> c_int |next| { seen_somehow(next(template)) }
    plain around mkstemp64(template: *mut c_char) -> c_int |next| { seen_somehow(next(template)) }
    plain around mkostemp(template: *mut c_char, oflag: c_int) -> c_int |next| { seen_somehow(next(template, oflag)) }
    plain around mkostemp64(template: *mut c_char, oflag: c_int) -> c_int |next| { seen_somehow(next(template, oflag)) }
    plain around mkstemps(template: *mut c_char, suffix: c_int) -> c_int |next| { seen_somehow(next(template, suffix)) }
    plain around mkstemps64(template: *mut c_char, suffix: c_int) -> c_int |next| { seen_somehow(next(template, suffix)) }
    plain around mkostemps(template: *mut c_char, suffix: c_int, oflag: c_int) -> c_int |next| { seen_somehow(next(template, suffix, oflag)) }
    plain around mkostemps64(template: *mut c_char, suffix: c_int, oflag: c_int) -> c_int |next| { seen_somehow(next(template, suffix, oflag)) }
}
