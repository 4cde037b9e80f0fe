//! A list of free slots in the segment, last in first out, with an exact count.
//!
//! The list has a lock that names its holder, and each slot has a state word: free, claimed by a client, or in use. The states are the truth: when a
//! holder of the lock has died, the list is made anew from them; and what a dead client had claimed and not yet put to use is given back.

use crate::lock::{Held, Holder, Whose};
use crate::{FutexLock, Segment};
use std::sync::atomic::{AtomicU32, Ordering};

/// State of a slot that is on the list.
pub const FREE: u32 = 0;
/// State of a slot that is in use.
pub const IN_USE: u32 = u32::MAX;

/// Head of a list of free slots.
#[repr(C)]
pub struct FreeList {
    lock: FutexLock,
    head: AtomicU32,
    free: AtomicU32,
    total: AtomicU32,
}
crate::assert_shared!(FreeList, 20);

/// The slots that a list is made of, numbered from 0.
pub trait Slots {
    /// The link of slot `index`: number of the next free one plus 1, or 0.
    fn link(&self, index: u32) -> &AtomicU32;
    /// The state word of slot `index`.
    fn state(&self, index: u32) -> &AtomicU32;
}

impl FreeList {
    /// Puts all of `total` slots on the list, lowest first.
    pub fn fill(&self, slots: &impl Slots, total: u32) {
        self.total.store(total, Ordering::Relaxed);
        self.relink(slots, |_| true);
    }

    /// Number of free slots.
    pub fn free(&self) -> u32 {
        self.free.load(Ordering::Relaxed)
    }

    /// Number of slots, free or not.
    pub fn total(&self) -> u32 {
        self.total.load(Ordering::Relaxed)
    }

    /// Takes a slot and marks it as claimed by the holder's client.
    pub fn pop(&self, me: Holder, segment: &Segment, slots: &impl Slots) -> Option<u32> {
        if self.free() == 0 {
            return None;
        }
        let _held = self.enter(me, segment, slots)?;
        let index = self.head.load(Ordering::Relaxed).checked_sub(1)?;
        slots.state(index).store(me.client() + 1, Ordering::Relaxed);
        self.head.store(slots.link(index).load(Ordering::Relaxed), Ordering::Relaxed);
        self.free.fetch_sub(1, Ordering::Relaxed);
        Some(index)
    }

    /// Gives a slot back.
    pub fn push(&self, me: Holder, segment: &Segment, slots: &impl Slots, index: u32) {
        let Some(_held) = self.enter(me, segment, slots) else {
            // A signal handler came in the middle of this thread's own change of the list: the slot stays claimed, and comes
            // back when the client ends.
            slots.state(index).store(me.client() + 1, Ordering::Relaxed);
            return;
        };
        slots.link(index).store(self.head.load(Ordering::Relaxed), Ordering::Relaxed);
        slots.state(index).store(FREE, Ordering::Relaxed);
        self.head.store(index + 1, Ordering::Relaxed);
        self.free.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives back all that the dead client `client` had claimed, and its lock; returns how many slots came back.
    pub fn recover(&self, client: u32, me: Holder, segment: &Segment, slots: &impl Slots) -> u32 {
        self.recover_lock(Whose::Client(client), me, slots);
        let Some(_held) = self.enter(me, segment, slots) else { return 0 };
        let before = self.free();
        let total = self.total();
        if (0..total).any(|i| slots.state(i).load(Ordering::Relaxed) == client + 1) {
            self.relink(slots, |state| state == FREE || state == client + 1);
        }
        self.free() - before
    }

    /// Takes the list's lock over if it is one of theirs, makes the list anew and gives the lock back. Whether it was.
    pub fn recover_lock(&self, whose: Whose, me: Holder, slots: &impl Slots) -> bool {
        let held = self.lock.take_from(whose, me);
        if held.is_some() {
            self.relink(slots, |state| state == FREE);
        }
        held.is_some()
    }

    fn enter(&self, me: Holder, segment: &Segment, slots: &impl Slots) -> Option<Held<'_>> {
        let held = self.lock.lock(me, segment);
        if held.is_nested() {
            return None;
        }
        if held.is_recovered() {
            self.relink(slots, |state| state == FREE);
        }
        Some(held)
    }

    fn relink(&self, slots: &impl Slots, is_free: impl Fn(u32) -> bool) {
        let (mut head, mut free) = (0, 0);
        for index in (0..self.total()).rev() {
            if is_free(slots.state(index).load(Ordering::Relaxed)) {
                slots.state(index).store(FREE, Ordering::Relaxed);
                slots.link(index).store(head, Ordering::Relaxed);
                head = index + 1;
                free += 1;
            }
        }
        self.head.store(head, Ordering::Relaxed);
        self.free.store(free, Ordering::Relaxed);
    }
}
