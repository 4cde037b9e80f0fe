//! Functions of libc that write by system calls of their own, which nothing can catch: what they write to becomes the kernel's first.

use crate::aside;
use libc::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

rows! {
    plain around herror(text: *const c_char) -> () |next| {
        aside::before_inline_write(libc::STDERR_FILENO);
        next(text);
    }
    plain around backtrace_symbols_fd(addresses: *const *mut c_void, count: c_int, fd: c_int) -> () |next| {
        aside::before_inline_write(fd);
        next(addresses, count, fd);
    }
    plain around _mcleanup() -> () |next| { aside::inline(next) }
}

/// libc's last words before it aborts a program: found overflows, corrupt heaps, failed checks of its own. Variadic, so that the entry keeps every register
/// and goes on to the original.
#[cfg(target_arch = "x86_64")]
pub mod last_words {
    use super::{aside, catch_unwind, AssertUnwindSafe};
    use crate::hooks::Row;
    use crate::next::Next;

    static NEXT: Next = Next::new(crate::patch::LAST_WORDS);

    /// The row of this function.
    pub static ROWS: &[Row] =
        &[Row { next: &NEXT, handler: Some(millpond_last_words as *const ()), exported: false }];

    std::arch::global_asm!(
        ".pushsection .text.millpond_last_words,\"ax\",@progbits",
        ".globl millpond_last_words",
        ".hidden millpond_last_words",
        ".type millpond_last_words,@function",
        ".p2align 4",
        "millpond_last_words:",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "call {look}",
        "mov r11, rax",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp r11",
        ".size millpond_last_words, . - millpond_last_words",
        ".popsection",
        look = sym look,
    );

    extern "C" {
        fn millpond_last_words();
    }

    /// Hands standard error to the kernel; gives the address to go on at.
    extern "C" fn look() -> usize {
        let _ = catch_unwind(AssertUnwindSafe(|| aside::before_inline_write(libc::STDERR_FILENO)));
        NEXT.original()
    }
}

/// Elsewhere libc's entries are not patched.
#[cfg(not(target_arch = "x86_64"))]
pub mod last_words {
    /// No row.
    pub static ROWS: &[crate::hooks::Row] = &[];
}
