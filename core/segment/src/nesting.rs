//! What a thread is in the middle of: how many locks it holds, and where its stack was when it took the first.
//!
//! A signal handler that interrupts an operation may leave it for good (`siglongjmp`), or fork: then a copy of the operation goes on in a child that
//! holds nothing. Both are noticed by these words, which belong to the thread and cost a lock two stores.
//!
//! A child that was forked in the middle of an operation must not wait for what its parent holds: the parent may be waiting for the child. It is let
//! in as the parent's handler would be, and gives nothing back that was taken before the fork.

use crate::{word, Holder};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Forks in the middle of an operation that led to this process.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The holder (its word) whose locks were being held at the last of them, 0 when the operation is over.
static PARENT: AtomicU32 = AtomicU32::new(0);

/// The thread takes one more lock, or begins something else that has to be ended.
#[inline]
pub fn enter() {
    let count = word::COUNT.get();
    if count == 0 {
        let here = 0u8;
        word::MARK.set(&raw const here as usize);
    }
    word::COUNT.set(count + 1);
}

/// It has given it back.
#[inline]
pub fn leave() {
    let left = word::COUNT.get().saturating_sub(1);
    word::COUNT.set(left);
    if left == 0 && PARENT.load(Relaxed) != 0 {
        PARENT.store(0, Relaxed);
    }
}

/// Where the stack was when the thread took the first of the locks that it holds; `None` when it holds none.
pub fn mark() -> Option<usize> {
    (word::COUNT.get() > 0).then(|| word::MARK.get())
}

/// The thread has left what it was in the middle of.
pub fn abandon() {
    word::COUNT.set(0);
    PARENT.store(0, Relaxed);
}

/// In a forked child: if it was forked in the middle of an operation of `parent`, that one's locks are not its own.
pub fn forked(parent: Holder) {
    if word::COUNT.get() > 0 {
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
