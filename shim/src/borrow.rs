//! Descriptors that one thread writes a file through while they are another thread's to close.
//!
//! A flush takes any descriptor of the process that can write the file. **close-after-borrows**: a descriptor leaves the table first, then every
//! borrow that began before is waited for, and only then the kernel closes it: so no flush meets a number that is closed, or
//! is another file's by then.
//!
//! A borrow is a word that names its thread, so that a thread which leaves one in the middle can take it back.

use crate::thread;
use millpond_pool::{FdStore, Store};
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{nesting, Errno};
use std::sync::atomic::{fence, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Longest that a close waits for one borrow, in pauses: a flush to a stuck disk must not hold up every close for ever.
const MOST_PAUSES: u32 = 200_000;
const PAUSE_NS: u64 = 50_000;
/// Borrows of one process at a time; one more waits.
const MOST: usize = 64;

/// Borrows under way: thread number plus 1 in the high half, a running number in the low one; 0 where there is none.
static UNDER_WAY: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
static NEXT: AtomicU32 = AtomicU32::new(0);

/// While it lives, no descriptor that the table names now is closed.
pub struct Borrow(usize);

impl Borrow {
    /// Begins one; descriptors are looked up after this.
    pub fn begin() -> Self {
        nesting::enter();
        let me = thread::number() + 1;
        let word = u64::from(me) << 32 | u64::from(NEXT.fetch_add(1, Relaxed));
        loop {
            for step in 0..MOST {
                let place = (me as usize + step) % MOST;
                if UNDER_WAY[place].compare_exchange(0, word, SeqCst, Relaxed).is_ok() {
                    fence(SeqCst);
                    return Self(place);
                }
            }
            sys::sleep_ns(PAUSE_NS);
        }
    }
}

impl Drop for Borrow {
    fn drop(&mut self) {
        UNDER_WAY[self.0].store(0, SeqCst);
        nesting::leave();
    }
}

fn is_mine(word: u64) -> bool {
    (word >> 32) as u32 == thread::number() + 1
}

/// Waits for the borrows that are under way. Called between a descriptor's leaving the table and its close.
pub fn settle() {
    fence(SeqCst);
    let words = || UNDER_WAY.iter().map(|w| w.load(SeqCst));
    // A handler that interrupted this thread's own flush cannot wait for it.
    if words().all(|w| w == 0) || words().any(is_mine) {
        return;
    }
    for place in &UNDER_WAY {
        let word = place.load(SeqCst);
        for _ in 0..MOST_PAUSES {
            if word == 0 || place.load(SeqCst) != word {
                break;
            }
            sys::sleep_ns(PAUSE_NS);
        }
    }
}

/// The thread has left its borrows in the middle, for good.
pub fn abandon() {
    take_back(is_mine);
}

/// In a forked child: the parent's other threads are not here.
pub fn after_fork_in_child() {
    take_back(|word| !is_mine(word));
}

fn take_back(which: impl Fn(u64) -> bool) {
    for place in &UNDER_WAY {
        let word = place.load(SeqCst);
        if word != 0 && which(word) {
            let _ = place.compare_exchange(word, 0, SeqCst, Relaxed);
        }
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
