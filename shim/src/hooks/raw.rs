//! Calls by number. `syscall` is variadic in C; its arguments pass as if all six were declared.

use crate::ops::raw;
use libc::c_long;

rows! {
    plain around syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long |next| {
        // SAFETY: the program's own call.
        match crate::hooks::row::guarded(|| unsafe { raw::syscall(number, [a, b, c, d, e, f]) }) {
            Some(result) => result,
            None => next(number, a, b, c, d, e, f),
        }
    }
}
