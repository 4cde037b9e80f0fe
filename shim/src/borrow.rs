//! Descriptors that one thread writes a file through while they are another thread's to close.
//!
//! A flush takes any descriptor of the process that can write the file. **close-after-borrows**: a descriptor leaves the table first, then every
//! borrow that began before is waited for, and only then the kernel closes it: so no flush meets a number that is closed, or
//! is another file's by then.

use millpond_pool::{FdStore, Store};
use millpond_segment::sys::{self, IoPart};
use millpond_segment::Errno;
use std::cell::Cell;
use std::sync::atomic::{fence, AtomicU32, Ordering::SeqCst};

/// Longest that a close waits, in pauses: a flush to a stuck disk must not hold up every close for ever.
const MOST_PAUSES: u32 = 200_000;
const PAUSE_NS: u64 = 50_000;

/// Borrows that began in an even and in an odd phase.
static UNDER_WAY: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static PHASE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Borrows that this thread is in.
    static OWN: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, no descriptor that the table names now is closed.
pub struct Borrow(usize);

impl Borrow {
    /// Begins one; descriptors are looked up after this.
    pub fn begin() -> Self {
        let phase = PHASE.load(SeqCst) as usize & 1;
        UNDER_WAY[phase].fetch_add(1, SeqCst);
        fence(SeqCst);
        OWN.with(|n| n.set(n.get() + 1));
        Self(phase)
    }
}

impl Drop for Borrow {
    fn drop(&mut self) {
        OWN.with(|n| n.set(n.get().saturating_sub(1)));
        UNDER_WAY[self.0].fetch_sub(1, SeqCst);
    }
}

/// Waits for the borrows that are under way. Called between a descriptor's leaving the table and its close.
pub fn settle() {
    fence(SeqCst);
    // A handler that interrupted this thread's own flush cannot wait for it.
    if UNDER_WAY.iter().all(|n| n.load(SeqCst) == 0) || OWN.with(Cell::get) > 0 {
        return;
    }
    // Both, one after the other: a borrow may have read the phase just before it changed.
    for _ in 0..2 {
        let phase = PHASE.fetch_add(1, SeqCst) as usize & 1;
        for _ in 0..MOST_PAUSES {
            if UNDER_WAY[phase].load(SeqCst) == 0 {
                break;
            }
            sys::sleep_ns(PAUSE_NS);
        }
    }
}

/// In a forked child: the parent's other threads are not here.
pub fn after_fork_in_child() {
    if OWN.with(Cell::get) == 0 {
        UNDER_WAY.iter().for_each(|n| n.store(0, SeqCst));
    }
}

/// A descriptor's file, written through a borrowed descriptor; what is read of it is read by its own.
pub struct Lent {
    own: FdStore,
    writer: FdStore,
}

impl Lent {
    /// `own`, which can write by `writer`.
    pub fn new(own: FdStore, writer: FdStore) -> Self {
        Self { own, writer }
    }
}

impl Store for Lent {
    fn readable(&self) -> bool {
        self.own.readable()
    }

    fn writable(&self) -> bool {
        self.writer.writable()
    }

    fn read(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        self.own.read(parts, offset)
    }

    fn write(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        self.writer.write(parts, offset)
    }

    fn stamp(&self) -> Result<millpond_model::Stamp, Errno> {
        self.own.stamp()
    }
}
