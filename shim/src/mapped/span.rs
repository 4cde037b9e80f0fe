//! One mapped range of a file.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Ranges that are kept track of.
const MOST: usize = 256;

/// The table. Changed only under its lock.
pub static SPANS: [Span; MOST] = [const { Span::new() }; MOST];

/// A range, or a mapping that is being made while both ends are 0.
pub struct Span {
    /// File slot plus 1; 0: free.
    file: AtomicU32,
    dev: AtomicU64,
    ino: AtomicU64,
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Span {
    const fn new() -> Self {
        Self {
            file: AtomicU32::new(0),
            dev: AtomicU64::new(0),
            ino: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
        }
    }

    pub fn is_free(&self) -> bool {
        self.file.load(Relaxed) == 0
    }

    /// The file slot.
    pub fn file(&self) -> u32 {
        self.file.load(Relaxed).wrapping_sub(1)
    }

    /// Device and inode.
    pub fn identity(&self) -> (u64, u64) {
        (self.dev.load(Relaxed), self.ino.load(Relaxed))
    }

    pub fn range(&self) -> Range<usize> {
        self.start.load(Relaxed)..self.end.load(Relaxed)
    }

    /// Whether the span has addresses in common with `place`.
    pub fn meets(&self, place: &Range<usize>) -> bool {
        let own = self.range();
        !self.is_free() && own.start < place.end && place.start < own.end
    }

    pub fn claim(&self, file: u32, (dev, ino): (u64, u64)) {
        self.set(0..0);
        self.dev.store(dev, Relaxed);
        self.ino.store(ino, Relaxed);
        self.file.store(file + 1, Relaxed);
    }

    pub fn set(&self, range: Range<usize>) {
        self.start.store(range.start, Relaxed);
        self.end.store(range.end, Relaxed);
    }

    pub fn free(&self) {
        self.file.store(0, Relaxed);
        self.set(0..0);
    }
}
