//! What belongs to one thread. Plain words without destructors, so that they work in handlers, destructors and small stacks.

use millpond_segment::word;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

thread_local! {
    static FORK_SLOT: Cell<u32> = const { Cell::new(0) };
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A number that tells the threads of this process apart, counted from 0.
#[inline]
pub fn number() -> u32 {
    match word::NUMBER.get() as u32 {
        0 => first(),
        n => n - 1,
    }
}

#[cold]
fn first() -> u32 {
    let n = NEXT.fetch_add(1, Relaxed).wrapping_add(1).max(1);
    word::NUMBER.set(n as usize);
    crate::fault::look_at_mask();
    n - 1
}

/// Whether more than one thread of this process, or of those that it was forked from, has used the pool.
pub fn were_several() -> bool {
    NEXT.load(Relaxed) > 1
}

/// The client slot (plus 1) that this thread has made for the child it is forking; 0 when none. A child's only thread sees its parent's value.
pub fn fork_slot() -> u32 {
    FORK_SLOT.with(Cell::get)
}

/// Sets [`fork_slot`].
pub fn set_fork_slot(slot: u32) {
    FORK_SLOT.with(|s| s.set(slot));
}
