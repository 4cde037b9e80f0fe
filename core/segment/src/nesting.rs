//! What a thread is in the middle of: how many locks it holds, and where its stack was when it took the first.
//!
//! A signal handler that interrupts an operation may leave it for good (`siglongjmp`), or fork: then a copy of the operation goes on in a child that
//! holds nothing. Both are noticed by these words, which belong to the thread and cost a lock two stores.
//!
//! A child that was forked in the middle of an operation must not wait for what its parent holds: the parent may be waiting for the child. It is let
//! in as the parent's handler would be, and gives nothing back that was taken before the fork.

use crate::Holder;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Forks in the middle of an operation that led to this process.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The holder (its word) whose locks were being held at the last of them, 0 when the operation is over.
static PARENT: AtomicU32 = AtomicU32::new(0);

/// The thread takes one more lock, or begins something else that has to be ended.
#[inline]
pub fn enter() {
    let count = word::count();
    if count == 0 {
        let here = 0u8;
        word::set_mark(&raw const here as usize);
    }
    word::set_count(count + 1);
}

/// It has given it back.
#[inline]
pub fn leave() {
    let left = word::count().saturating_sub(1);
    word::set_count(left);
    if left == 0 && PARENT.load(Relaxed) != 0 {
        PARENT.store(0, Relaxed);
    }
}

/// Where the stack was when the thread took the first of the locks that it holds; `None` when it holds none.
pub fn mark() -> Option<usize> {
    (word::count() > 0).then(word::mark)
}

/// The thread has left what it was in the middle of.
pub fn abandon() {
    word::set_count(0);
    PARENT.store(0, Relaxed);
}

/// In a forked child: if it was forked in the middle of an operation of `parent`, that one's locks are not its own.
pub fn forked(parent: Holder) {
    if word::count() > 0 {
        FORKS.fetch_add(1, Relaxed);
        PARENT.store(parent.word(), Relaxed);
    }
}

/// Tells locks that were taken before such a fork from later ones.
#[inline]
pub(crate) fn forks() -> u32 {
    FORKS.load(Relaxed)
}

/// Whether the holder `word` is `me`, or is suspended underneath this process.
#[inline]
pub(crate) fn is_own(word: u32, me: Holder) -> bool {
    word == me.word() || word != 0 && word == PARENT.load(Relaxed)
}

/// Two words at a fixed distance from the thread pointer (the *initial-exec* model), as every lock asks for them: a library that is there from the
/// start may have them, and so may a program.
#[cfg(target_arch = "x86_64")]
mod word {
    std::arch::global_asm!(
        ".section .tbss,\"awT\",@nobits",
        ".p2align 3",
        ".hidden millpond_nesting",
        ".globl millpond_nesting",
        ".type millpond_nesting, @object",
        ".size millpond_nesting, 16",
        "millpond_nesting:",
        ".zero 16",
        ".text",
    );

    #[inline]
    fn get<const AT: usize>() -> usize {
        let value: usize;
        // SAFETY: reads this thread's copy of one of the words above, which are 0 in a new thread.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_nesting@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{place} + {at}]",
                place = out(reg) _,
                value = lateout(reg) value,
                at = const AT,
                options(nostack, readonly, preserves_flags)
            );
        }
        value
    }

    #[inline]
    fn set<const AT: usize>(value: usize) {
        // SAFETY: writes this thread's copy of one of the words above, which nobody else knows.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + millpond_nesting@GOTTPOFF]",
                "mov qword ptr fs:[{place} + {at}], {value}",
                place = out(reg) _,
                value = in(reg) value,
                at = const AT,
                options(nostack, preserves_flags)
            );
        }
    }

    #[inline]
    pub fn count() -> u32 {
        get::<0>() as u32
    }

    #[inline]
    pub fn set_count(count: u32) {
        set::<0>(count as usize);
    }

    pub fn mark() -> usize {
        get::<8>()
    }

    #[inline]
    pub fn set_mark(at: usize) {
        set::<8>(at);
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod word {
    use std::cell::Cell;

    thread_local! {
        static WORDS: Cell<(u32, usize)> = const { Cell::new((0, 0)) };
    }

    pub fn count() -> u32 {
        WORDS.with(Cell::get).0
    }

    pub fn set_count(count: u32) {
        WORDS.with(|w| w.set((count, w.get().1)));
    }

    pub fn mark() -> usize {
        WORDS.with(Cell::get).1
    }

    pub fn set_mark(at: usize) {
        WORDS.with(|w| w.set((w.get().0, at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_that_of_the_outermost() {
        std::thread::spawn(|| {
            assert_eq!(mark(), None);
            enter();
            let outer = mark().expect("inside");
            enter();
            assert_eq!(mark(), Some(outer));
            leave();
            assert_eq!(mark(), Some(outer));
            leave();
            assert_eq!(mark(), None);
            enter();
            abandon();
            assert_eq!(mark(), None);
        })
        .join()
        .expect("thread");
    }
}
