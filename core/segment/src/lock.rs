//! A lock word in the segment that names its holder.
//!
//! The word is a futex: 0 when free, else the holder's client slot and thread, and one bit that says that somebody sleeps on it. A lock whose
//! holder has died can therefore be found and taken over; whoever takes it over is told so and repairs what the dead one left half done.
//! A thread that comes again while it holds the lock (a signal handler that interrupted it) is let in.

use crate::sys;
use crate::Segment;
use std::sync::atomic::{AtomicU32, Ordering};

/// Who holds a lock: client slot and thread of that client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder(u32);

const WAITERS: u32 = 1;
const THREAD_BITS: u32 = 19;
/// Rounds of spinning before a waiter sleeps: a copy of a page is done within them.
const SPINS: u32 = 400;
/// How long a waiter sleeps before it looks again whether the holder lives.
const NAP_NS: u64 = 20_000_000;
/// Naps after which a waiter itself takes the lock of a dead holder, in case no coordinator does.
const NAPS_BEFORE_TAKEOVER: u32 = 10;

impl Holder {
    /// The holder that is thread `thread` of client slot `client`. Thread numbers are taken modulo 2^19.
    pub fn new(client: u32, thread: u32) -> Self {
        Self(((client + 1) << (THREAD_BITS + 1)) | ((thread & ((1 << THREAD_BITS) - 1)) << 1))
    }

    /// The client slot.
    pub fn client(self) -> u32 {
        (self.0 >> (THREAD_BITS + 1)) - 1
    }

    /// Thread number within the client.
    pub fn thread(self) -> u32 {
        (self.0 >> 1) & ((1 << THREAD_BITS) - 1)
    }
}

/// A futex word that is 0 or names a [`Holder`].
#[repr(C)]
#[derive(Default)]
pub struct FutexLock(AtomicU32);
crate::assert_shared!(FutexLock, 4);

/// A lock that is held until this goes out of scope.
#[must_use]
pub struct Held<'a> {
    lock: &'a FutexLock,
    nested: bool,
    recovered: bool,
}

impl Held<'_> {
    /// Whether the same thread held the lock already: what it was doing is half done, underneath.
    pub fn is_nested(&self) -> bool {
        self.nested
    }

    /// Whether the lock was taken from a holder that had died: what it guards may be half changed.
    pub fn is_recovered(&self) -> bool {
        self.recovered
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.nested {
            self.lock.release();
        }
    }
}

impl FutexLock {
    /// Takes the lock, waiting as long as its holder lives.
    #[inline]
    pub fn lock(&self, me: Holder, segment: &Segment) -> Held<'_> {
        match self.0.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Held { lock: self, nested: false, recovered: false },
            Err(_) => self.lock_slow(me, segment),
        }
    }

    /// Takes the lock if that needs no waiting.
    #[inline]
    pub fn try_lock(&self, me: Holder) -> Option<Held<'_>> {
        match self.0.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(Held { lock: self, nested: false, recovered: false }),
            Err(_) => None,
        }
    }

    /// Takes the lock over if a dead client (slot `client`) holds it.
    pub fn take_from(&self, client: u32, me: Holder) -> Option<Held<'_>> {
        let word = self.0.load(Ordering::Relaxed);
        if Self::holder_of(word).is_none_or(|h| h.client() != client) {
            return None;
        }
        let mine = me.0 | (word & WAITERS);
        self.0.compare_exchange(word, mine, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(Held { lock: self, nested: false, recovered: true })
    }

    /// Who holds the lock now, if anybody.
    pub fn holder(&self) -> Option<Holder> {
        Self::holder_of(self.0.load(Ordering::Relaxed))
    }

    /// Whether `me` holds the lock.
    #[inline]
    pub fn is_held_by(&self, me: Holder) -> bool {
        self.0.load(Ordering::Relaxed) & !WAITERS == me.0
    }

    fn holder_of(word: u32) -> Option<Holder> {
        (word & !WAITERS != 0).then_some(Holder(word & !WAITERS))
    }

    #[cold]
    fn lock_slow(&self, me: Holder, segment: &Segment) -> Held<'_> {
        let nested = |nested| Held { lock: self, nested, recovered: false };
        for _ in 0..SPINS {
            let word = self.0.load(Ordering::Relaxed);
            if word & !WAITERS == me.0 {
                return nested(true);
            }
            if word == 0 && self.0.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return nested(false);
            }
            std::hint::spin_loop();
        }
        let mut naps = 0;
        loop {
            let word = self.0.load(Ordering::Relaxed);
            if word == 0 {
                // Others may still sleep: keep the bit, at the price of one needless wake.
                if self.0.compare_exchange(0, me.0 | WAITERS, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return nested(false);
                }
                continue;
            }
            let sleeping = word | WAITERS;
            if word != sleeping && self.0.compare_exchange(word, sleeping, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            sys::futex_wait(&self.0, sleeping, NAP_NS);
            naps += 1;
            if naps % NAPS_BEFORE_TAKEOVER == 0 {
                if let Some(holder) = self.holder() {
                    if segment.client_is_dead(holder.client()) {
                        if let Some(held) = self.take_from(holder.client(), me) {
                            return held;
                        }
                    }
                }
            }
        }
    }

    #[inline]
    fn release(&self) {
        if self.0.swap(0, Ordering::Release) & WAITERS != 0 {
            sys::futex_wake(&self.0, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_names_its_client_and_thread() {
        for (client, thread) in [(0, 0), (4094, 7), (12, (1 << THREAD_BITS) - 1)] {
            let holder = Holder::new(client, thread);
            assert_eq!((holder.client(), holder.thread()), (client, thread));
        }
    }
}
