//! A [`RangeSet`] as it lies in a page's slot: read and written under the page's lock, or read optimistically and checked afterwards.

use millpond_model::{ByteRange, RangeSet, MAX_RANGES};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Sorted ranges of one page.
#[repr(C)]
pub struct SharedRanges {
    len: AtomicU32,
    pad: AtomicU32,
    words: [AtomicU64; MAX_RANGES],
}
crate::assert_shared!(SharedRanges, 8 + 8 * MAX_RANGES);

impl SharedRanges {
    /// Whether one stored range covers `range`. May be asked without the lock when the answer is checked by the page's sequence.
    #[inline]
    pub fn covers(&self, range: ByteRange) -> bool {
        let len = (self.len.load(Ordering::Relaxed) as usize).min(MAX_RANGES);
        // Nearly every page has one range: looked at first.
        len > 0 && ByteRange::from_word(self.words[0].load(Ordering::Relaxed)).covers(range)
            || self.words[..len]
                .iter()
                .skip(1)
                .any(|w| ByteRange::from_word(w.load(Ordering::Relaxed)).covers(range))
    }

    /// Whether no range is stored.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    /// The set. Under the lock.
    pub fn load(&self) -> RangeSet {
        let len = (self.len.load(Ordering::Relaxed) as usize).min(MAX_RANGES);
        RangeSet::from_sorted(
            self.words[..len].iter().map(|w| ByteRange::from_word(w.load(Ordering::Relaxed))),
        )
    }

    /// Replaces the set. Under the lock.
    pub fn store(&self, set: &RangeSet) {
        for (word, range) in self.words.iter().zip(set.as_slice()) {
            word.store(range.to_word(), Ordering::Relaxed);
        }
        self.len.store(set.as_slice().len() as u32, Ordering::Relaxed);
    }
}
