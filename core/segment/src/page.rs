//! A page's slot: whose bytes it holds, where they lie, which of them are valid and which dirty.
//!
//! **one-page-one-slot**: at most one slot of the index names a given page of a file. Changes are made under `lock` and
//! bump `seq` (odd while bytes or ranges are being changed); readers copy without the lock and look at `seq` afterwards.
//! **dirty-is-valid**: every dirty byte is valid.

use crate::freelist::Slots;
use crate::ranges::SharedRanges;
use crate::{FutexLock, Segment};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Most buffers that hold one page's blob.
pub const MAX_BUFFERS: usize = 16;

/// One page of a file in the pool.
#[repr(C, align(64))]
pub struct Page {
    /// Taken for every change.
    pub lock: FutexLock,
    /// Odd while the page is being changed.
    pub seq: AtomicU32,
    /// File slot plus 1, 0 when the slot holds no page.
    pub file: AtomicU32,
    /// Bytes that the buffers cover, from the page's start.
    pub cap: AtomicU32,
    /// Next page slot of the same bucket plus 1.
    pub next_in_bucket: AtomicU32,
    /// Number of the page in its file.
    pub index: AtomicU64,
    /// Offset in the segment of the first buffer.
    pub first: AtomicU64,
    /// Number of buffers.
    pub buffers: AtomicU32,
    /// Set by use, cleared by the eviction clock.
    pub referenced: AtomicU32,
    /// Raised by each change, so that a change that was interrupted by a signal handler's sees it.
    pub changes: AtomicU32,
    /// 1 while the page counts among its file's dirty pages.
    pub counted: AtomicU32,
    /// The range that a write is about to change, as a range's word; 0 when none.
    pub pending: AtomicU64,

    /// Next page of the file's list, plus 1.
    pub next_in_file: AtomicU32,
    /// Previous page of the file's list, plus 1.
    pub prev_in_file: AtomicU32,
    /// State for the free list.
    pub state: AtomicU32,
    /// Link for the free list.
    pub next_free: AtomicU32,
    /// Buffer numbers, in order of the bytes they hold.
    pub buffer: [AtomicU32; MAX_BUFFERS],
    /// Bytes that are as a reader should see them.
    pub valid: SharedRanges,
    /// Bytes that the file does not have yet.
    pub dirty: SharedRanges,
    /// When the page became dirty, monotonic nanoseconds.
    pub dirty_since: AtomicU64,
    pad: [AtomicU64; 3],
}
crate::assert_shared!(Page, 640);

impl Page {
    /// Whether the slot holds page `index` of file slot `file`.
    #[inline]
    pub fn is(&self, file: u32, index: u64) -> bool {
        self.file.load(Ordering::Acquire) == file + 1 && self.index.load(Ordering::Relaxed) == index
    }

    /// Starts a change: readers that overlap it will look again. Under the lock. Returns what [`Page::end_change`] wants.
    #[inline]
    pub fn begin_change(&self) -> u32 {
        let seq = self.seq.load(Ordering::Relaxed);
        self.seq.store(seq | 1, Ordering::Relaxed);
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        // The bytes are stored after the odd number is; a reader that sees one of them sees the number.
        std::sync::atomic::fence(Ordering::Release);
        seq
    }

    /// Ends a change. Under the lock. A change inside another one (a signal handler's) leaves the outer one open.
    #[inline]
    pub fn end_change(&self, begun: u32) {
        if begun & 1 == 0 {
            self.seq.store(begun.wrapping_add(2), Ordering::Release);
        }
    }
}

/// The page slots of a segment as a free list's slots.
pub struct PageSlots<'a>(pub &'a Segment);

impl Slots for PageSlots<'_> {
    fn link(&self, index: u32) -> &AtomicU32 {
        &self.0.page(index).next_free
    }

    fn state(&self, index: u32) -> &AtomicU32 {
        &self.0.page(index).state
    }
}
