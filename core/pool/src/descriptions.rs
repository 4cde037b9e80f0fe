//! Open file descriptions: shared offsets and flags.

use crate::{Caller, Pool};
use millpond_segment::description::flags;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

impl Pool {
    /// A new description of `file`, which must count it already (see [`Pool::open_file`]), with one reference. `None` when there is no slot;
    /// the file's count is then taken back.
    pub fn new_description(&self, who: Caller, file: u32, flags: u32, offset: u64) -> Option<u32> {
        let total = self.segment.layout().sizes.descriptions;
        let hint = &self.segment.header().description_hint;
        let start = hint.load(Relaxed);
        for step in 0..total {
            let index = (start + step) % total;
            let d = self.segment.description(index);
            if d.refs.load(Relaxed) != 0 || d.refs.compare_exchange(0, 1, AcqRel, Relaxed).is_err() {
                continue;
            }
            d.claimed_by.store(who.client() + 1, Relaxed);
            d.file.store(file, Relaxed);
            d.flags.store(flags, Relaxed);
            d.offset.store(offset, Relaxed);
            d.seen_errors.store(self.segment.file(file).errors.load(Acquire), Relaxed);
            // Last in, first out: the slot that was just freed is the warm one.
            hint.store(index, Relaxed);
            return Some(index);
        }
        self.let_go(file);
        None
    }

    /// One reference more, unless the last one has just gone. Whoever holds none checks afterwards that the slot is still what it took it for.
    pub fn hold_description(&self, index: u32) -> bool {
        let refs = &self.segment.description(index).refs;
        refs.fetch_update(AcqRel, Acquire, |n| (n > 0).then_some(n + 1)).is_ok()
    }

    /// One reference fewer; the last one frees the description and counts it off its file.
    pub fn drop_description(&self, index: u32) {
        let d = self.segment.description(index);
        let file = d.file.load(Relaxed);
        let mapped = d.has(flags::MAPPED);
        if d.refs.fetch_sub(1, AcqRel) == 1 {
            if mapped {
                self.segment.file(file).mapped.fetch_sub(1, SeqCst);
            }
            self.let_go(file);
            self.segment.header().description_hint.store(index, Relaxed);
        }
    }

    /// Moves the description's offset from `from` to `to`, unless somebody else has moved it.
    #[inline]
    pub fn move_offset(&self, index: u32, from: u64, to: u64) -> bool {
        self.segment.description(index).offset.compare_exchange(from, to, SeqCst, Relaxed).is_ok()
    }
}
