//! What belongs to one thread. Plain words without destructors, so that they work in handlers, destructors and small stacks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

thread_local! {
    static FORK_SLOT: Cell<u32> = const { Cell::new(0) };
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A number that tells the threads of this process apart, counted from 0.
#[inline]
pub fn number() -> u32 {
    match word::get() {
        0 => first(),
        n => n - 1,
    }
}

#[cold]
fn first() -> u32 {
    let n = NEXT.fetch_add(1, Relaxed).wrapping_add(1).max(1);
    word::set(n);
    crate::fault::look_at_mask();
    n - 1
}

/// Whether more than one thread of this process, or of those that it was forked from, has used the pool.
pub fn were_several() -> bool {
    NEXT.load(Relaxed) > 1
}

/// The thread's number plus 1, asked for by every call: a word at a fixed distance from the thread pointer (the *initial-exec* model), as a library that
/// is there from the start may have it. Rust's own thread-locals in a shared library go through a function call.
#[cfg(target_arch = "x86_64")]
mod word {
    std::arch::global_asm!(
        ".section .tbss,\"awT\",@nobits",
        ".p2align 2",
        ".hidden millpond_thread",
        ".globl millpond_thread",
        ".type millpond_thread, @object",
        ".size millpond_thread, 4",
        "millpond_thread:",
        ".zero 4",
        ".text",
    );

    #[inline]
    pub fn get() -> u32 {
        let value: u32;
        // SAFETY: reads this thread's copy of the word above, which is 0 in a new thread.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_thread@GOTTPOFF]",
                "mov {value:e}, dword ptr fs:[{place}]",
                place = out(reg) _,
                value = out(reg) value,
                options(nostack, readonly, preserves_flags)
            );
        }
        value
    }

    pub fn set(value: u32) {
        // SAFETY: writes this thread's copy of the word above, which nobody else knows.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_thread@GOTTPOFF]",
                "mov dword ptr fs:[{place}], {value:e}",
                place = out(reg) _,
                value = in(reg) value,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod word {
    use std::cell::Cell;

    thread_local! {
        static WORD: Cell<u32> = const { Cell::new(0) };
    }

    pub fn get() -> u32 {
        WORD.with(Cell::get)
    }

    pub fn set(value: u32) {
        WORD.with(|w| w.set(value));
    }
}

/// The client slot (plus 1) that this thread has made for the child it is forking; 0 when none. A child's only thread sees its parent's value.
pub fn fork_slot() -> u32 {
    FORK_SLOT.with(Cell::get)
}

/// Sets [`fork_slot`].
pub fn set_fork_slot(slot: u32) {
    FORK_SLOT.with(|s| s.set(slot));
}
