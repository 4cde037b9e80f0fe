//! Words that belong to one thread, at a fixed distance from the thread pointer (the *initial-exec* model): a library that is there from the start may
//! have them, and so may a program. Rust's own thread-locals in a shared library go through a function call, and every call of a program asks for these.
//!
//! They are 0 in a new thread, have no destructor, and work in signal handlers and on small stacks.

/// A word, by its place among them.
pub struct Word<const AT: usize>;

/// How many locks the thread holds.
pub const COUNT: Word<0> = Word;
/// Where its stack was when it took the first.
pub const MARK: Word<8> = Word;
/// The thread's number in its process plus 1, as the shim gives it.
pub const NUMBER: Word<16> = Word;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden millpond_words",
    ".globl millpond_words",
    ".type millpond_words, @object",
    ".size millpond_words, 24",
    "millpond_words:",
    ".zero 24",
    ".text",
);

#[cfg(target_arch = "x86_64")]
impl<const AT: usize> Word<AT> {
    /// This thread's value.
    #[inline(always)]
    pub fn get(self) -> usize {
        let value: usize;
        // SAFETY: reads this thread's copy of one of the words above, which are 0 in a new thread.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_words@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{place} + {at}]",
                place = out(reg) _,
                at = const AT,
                value = lateout(reg) value,
                options(nostack, readonly, preserves_flags)
            );
        }
        value
    }

    /// Sets it.
    #[inline(always)]
    pub fn set(self, value: usize) {
        // SAFETY: writes this thread's copy of one of the words above, which nobody else knows.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_words@GOTTPOFF]",
                "mov qword ptr fs:[{place} + {at}], {value}",
                place = out(reg) _,
                at = const AT,
                value = in(reg) value,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod words {
    use super::Word;
    use std::cell::Cell;

    thread_local! {
        static WORDS: [Cell<usize>; 3] = const { [const { Cell::new(0) }; 3] };
    }

    impl<const AT: usize> Word<AT> {
        /// This thread's value.
        pub fn get(self) -> usize {
            WORDS.with(|words| words[AT / 8].get())
        }

        /// Sets it.
        pub fn set(self, value: usize) {
            WORDS.with(|words| words[AT / 8].set(value));
        }
    }
}
