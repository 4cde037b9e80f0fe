//! Jumps that may leave an operation in the middle.

use crate::jumps::{before_context, before_jump};
use libc::{c_int, c_void, ucontext_t};

rows! {
    plain around longjmp(buffer: *const c_void, value: c_int) -> () |next| {
        // SAFETY: the program's own call.
        unsafe { before_jump(buffer) };
        next(buffer, value);
    }
    plain around _longjmp(buffer: *const c_void, value: c_int) -> () |next| {
        // SAFETY: the program's own call.
        unsafe { before_jump(buffer) };
        next(buffer, value);
    }
    plain around siglongjmp(buffer: *const c_void, value: c_int) -> () |next| {
        // SAFETY: the program's own call.
        unsafe { before_jump(buffer) };
        next(buffer, value);
    }
    plain around __longjmp_chk(buffer: *const c_void, value: c_int) -> () |next| {
        // SAFETY: the program's own call.
        unsafe { before_jump(buffer) };
        next(buffer, value);
    }
    plain around setcontext(context: *const ucontext_t) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { before_context(context) };
        next(context)
    }
}
