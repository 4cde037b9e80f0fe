//! The program's disposition of one signal, readable at any instant and from a signal handler.
//!
//! What holds here: a reader never waits. The current record is always complete: a writer fills another one of a
//! small ring and then names it. Writers exclude each other with all signals blocked, so that none can interrupt
//! itself; one that comes back through a library between us and libc is let in; what a `fork` caught in the
//! middle is taken over by the child.

use std::hint;
use std::sync::atomic::{fence, AtomicU64, AtomicUsize, Ordering};

use super::action::Action;
use super::raw;

/// Records in the ring: a reader starts over when that many changes less one overtake it.
const RECORDS: usize = 8;

/// Spins before a waiting writer gives its time slice away.
const SPINS: usize = 64;

/// One recorded disposition; its fields mean what those of [`Action`] do.
struct Record {
    handler: AtomicUsize,
    flags: AtomicU64,
    mask: AtomicU64,
    restorer: AtomicUsize,
}

impl Record {
    const fn new() -> Self {
        Self {
            handler: AtomicUsize::new(0),
            flags: AtomicU64::new(0),
            mask: AtomicU64::new(0),
            restorer: AtomicUsize::new(0),
        }
    }
}

/// The record of one signal.
pub struct Ledger {
    ring: [Record; RECORDS],
    /// How many records were ever published; the last one is the current one.
    version: AtomicUsize,
    /// The [`Holder`] that writes, or 0.
    writer: AtomicU64,
}

/// A thread and its process, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Holder(u64);

impl Holder {
    fn this_thread() -> Self {
        Self((raw::process_id() as u64) << 32 | raw::thread_id() as u64)
    }

    /// Whether the other is a thread of the same process; if not, its mark was copied here by `fork`.
    fn is_sibling(self, other: Self) -> bool {
        self.0 >> 32 == other.0 >> 32
    }
}

/// A version of the record, by which a later change is noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Version(usize);

impl Ledger {
    /// A record of the default disposition.
    pub const fn new() -> Self {
        Self {
            ring: [const { Record::new() }; RECORDS],
            version: AtomicUsize::new(0),
            writer: AtomicU64::new(0),
        }
    }

    /// The current disposition.
    pub fn load(&self) -> (Version, Action) {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let record = &self.ring[version % RECORDS];
            let action = Action {
                handler: record.handler.load(Ordering::Relaxed),
                flags: record.flags.load(Ordering::Relaxed),
                mask: record.mask.load(Ordering::Relaxed),
                restorer: record.restorer.load(Ordering::Relaxed),
            };
            fence(Ordering::Acquire);
            // The record is written again only after all the others have been.
            if self.version.load(Ordering::Relaxed).wrapping_sub(version) < RECORDS - 1 {
                return (Version(version), action);
            }
        }
    }

    /// Excludes other writers, and signals on this thread, until the result is dropped.
    pub fn write(&self) -> Writer<'_> {
        let mask = raw::change_mask(libc::SIG_BLOCK, u64::MAX);
        let us = Holder::this_thread();
        let mut spins = 0;
        loop {
            let holder = Holder(self.writer.load(Ordering::Relaxed));
            if holder == us {
                return Writer { ledger: self, mask, nested: true };
            }
            let claim =
                || self.writer.compare_exchange(holder.0, us.0, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if !us.is_sibling(holder) && claim() {
                return Writer { ledger: self, mask, nested: false };
            }
            spins += 1;
            if spins % SPINS == 0 {
                rustix::thread::sched_yield();
            }
            hint::spin_loop();
        }
    }
}

/// The right to change a record.
pub struct Writer<'a> {
    ledger: &'a Ledger,
    /// The signal mask to return to.
    mask: u64,
    /// Whether this thread writes already, further up its stack.
    nested: bool,
}

impl Writer<'_> {
    /// Whether `version` is still the current one.
    pub fn is_current(&self, version: Version) -> bool {
        self.ledger.version.load(Ordering::Relaxed) == version.0
    }

    /// The current disposition.
    pub fn load(&self) -> Action {
        self.ledger.load().1
    }

    /// Makes `action` the current disposition.
    pub fn publish(&self, action: &Action) {
        let next = self.ledger.version.load(Ordering::Relaxed).wrapping_add(1);
        let record = &self.ledger.ring[next % RECORDS];
        // A reader that sees any of these stores also sees the version before, and so knows its record is gone.
        fence(Ordering::Release);
        record.handler.store(action.handler, Ordering::Relaxed);
        record.flags.store(action.flags, Ordering::Relaxed);
        record.mask.store(action.mask, Ordering::Relaxed);
        record.restorer.store(action.restorer, Ordering::Relaxed);
        self.ledger.version.store(next, Ordering::Release);
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.nested {
            self.ledger.writer.store(0, Ordering::Release);
        }
        raw::change_mask(libc::SIG_SETMASK, self.mask);
    }
}
