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
    plain held open(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    patch held open64(path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(path, oflag, mode), oflag) }
    plain held openat(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    patch held openat64(dir: c_int, path: *const c_char, oflag: c_int, mode: mode_t) -> c_int |next| { seen(next(dir, path, oflag, mode), oflag) }
    plain held creat(path: *const c_char, mode: mode_t) -> c_int |next| { seen(next(path, mode), CREAT) }
    plain held creat64(path: *const c_char, mode: mode_t) -> c_int |next| { seen(next(path, mode), CREAT) }
    plain held __open_2(path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(path, oflag), oflag) }
    plain held __open64_2(path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(path, oflag), oflag) }
    plain held __openat_2(dir: c_int, path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(dir, path, oflag), oflag) }
    plain held __openat64_2(dir: c_int, path: *const c_char, oflag: c_int) -> c_int |next| { seen(next(dir, path, oflag), oflag) }
    plain held open_by_handle_at(dir: c_int, handle: *mut libc::c_void, oflag: c_int) -> c_int |next| { seen(next(dir, handle, oflag), oflag) }
    plain held mkstemp(template: *mut c_char) -> c_int |next| { seen_somehow(next(template)) }
    plain held mkstemp64(template: *mut c_char) -> c_int |next| { seen_somehow(next(template)) }
    plain held mkostemp(template: *mut c_char, oflag: c_int) -> c_int |next| { seen_somehow(next(template, oflag)) }
    plain held mkostemp64(template: *mut c_char, oflag: c_int) -> c_int |next| { seen_somehow(next(template, oflag)) }
    plain held mkstemps(template: *mut c_char, suffix: c_int) -> c_int |next| { seen_somehow(next(template, suffix)) }
    plain held mkstemps64(template: *mut c_char, suffix: c_int) -> c_int |next| { seen_somehow(next(template, suffix)) }
    plain held mkostemps(template: *mut c_char, suffix: c_int, oflag: c_int) -> c_int |next| { seen_somehow(next(template, suffix, oflag)) }
    plain held mkostemps64(template: *mut c_char, suffix: c_int, oflag: c_int) -> c_int |next| { seen_somehow(next(template, suffix, oflag)) }
}
