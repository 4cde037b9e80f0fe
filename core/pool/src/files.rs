//! Files: found by device and inode, kept after close for their clean pages, reclaimed when slots run out.

use crate::{Caller, Pool, Store};
use millpond_model::{Stamp, Verdict};
use millpond_segment::file::state;
use millpond_segment::header::modes;
use millpond_segment::index::{link, unlink};
use millpond_segment::sys::{FileStat, Masked};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// A file that an open found or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// File slot. Its count of open descriptions includes the new one.
    pub file: u32,
    /// Whether the pool knew it already.
    pub known: bool,
}

impl Pool {
    /// The slot of the file that `stat` describes, made if need be, with one more open description counted. `None` when there is no slot.
    pub fn open_file(&self, who: Caller, stat: &FileStat, store: &impl Store) -> Option<Opened> {
        loop {
            if let Some(file) = self.hold_known(who, stat) {
                self.judge(who, file, stat, store);
                return Some(Opened { file, known: true });
            }
            let slot = self.claim_file(who)?;
            if self.publish_file(who, slot, stat) {
                self.account(who).files_buffered.fetch_add(1, Relaxed);
                return Some(Opened { file: slot, known: false });
            }
        }
    }

    /// Counts one more description of a file that the pool knows; [`Pool::let_go`] takes it back.
    pub fn hold_known(&self, who: Caller, stat: &FileStat) -> Option<u32> {
        self.segment.find_file(stat.dev, stat.ino)?;
        let bucket = self.segment.file_bucket_of(stat.dev, stat.ino);
        let _masked = Masked::if_handlers();
        let _held = bucket.lock.lock(who.me, &self.segment);
        let file = self.segment.find_file(stat.dev, stat.ino)?;
        let f = self.segment.file(file);
        if f.opens.fetch_add(1, SeqCst) == 0 && f.direct.load(Relaxed) != 0 {
            // Direct mode ends here, not at the last close: whatever the kernel did to the file meanwhile shows in its stamp.
            self.forget_direct(file);
            f.stamp_ctime.store(0, Relaxed);
        }
        f.used.store(self.segment.header().open_clock.fetch_add(1, Relaxed), Relaxed);
        Some(file)
    }

    /// Decides at an open whether what is cached still stands for the file.
    fn judge(&self, who: Caller, file: u32, stat: &FileStat, store: &impl Store) {
        let (kept, taken) = self.stamp_of(file);
        let fine = self.segment.header().modes.load(Relaxed) & modes::FINE_TIMES != 0;
        if kept.judge(stat.stamp, taken, fine) == Verdict::Same {
            return;
        }
        let f = self.segment.file(file);
        let _masked = Masked::begin();
        let _flusher = f.flush_lock.lock(who.me, &self.segment);
        let _size = f.lock.lock(who.me, &self.segment);
        // The stat may be older than somebody's flush.
        let Ok(now) = store.stamp() else { return };
        if self.distrust(who, file, Some(now)) {
            self.adopt_stamp(who, file, now);
        }
    }

    /// Drops what is cached of a file unless the stamp of `now` is the one that it stands for. Under the file's flush and size locks. Returns
    /// whether anything was to be dropped.
    pub(crate) fn distrust(&self, who: Caller, file: u32, now: Option<Stamp>) -> bool {
        let fine = self.segment.header().modes.load(Relaxed) & modes::FINE_TIMES != 0;
        let (kept, taken) = self.stamp_of(file);
        match now.map_or(Verdict::Changed, |now| kept.judge(now, taken, fine)) {
            Verdict::Same => return false,
            Verdict::Changed => self.drop_clean(who, file),
            Verdict::Replaced => {
                let epoch = &self.segment.file(file).epoch;
                epoch.fetch_add(1, SeqCst);
                self.drop_pages(who, file, |_| true);
                epoch.fetch_add(1, SeqCst);
            }
        }
        true
    }

    fn claim_file(&self, who: Caller) -> Option<u32> {
        let files = self.segment.layout().sizes.files;
        let top = self.segment.header().file_top.load(Relaxed).min(files);
        let take = |slot: u32| {
            let f = self.segment.file(slot);
            f.state.load(Relaxed) == state::FREE
                && f.state.compare_exchange(state::FREE, state::CLAIMED, SeqCst, Relaxed).is_ok()
                && {
                    f.claimed_by.store(who.client() + 1, Relaxed);
                    self.segment.header().file_top.fetch_max(slot + 1, Relaxed);
                    true
                }
        };
        // A fresh slot costs nothing to find; then freed ones; then the files that were not used for longest.
        if top < files {
            if let Some(slot) = (top..files).find(|&s| take(s)) {
                return Some(slot);
            }
        }
        let hint = &self.segment.header().file_hint;
        let search = || {
            let start = hint.load(Relaxed);
            let slot = (0..files).map(|step| (start + step) % files).find(|&s| take(s))?;
            hint.store(slot + 1, Relaxed);
            Some(slot)
        };
        search().or_else(|| {
            self.reclaim_files(who);
            search()
        })
    }

    fn publish_file(&self, who: Caller, slot: u32, stat: &FileStat) -> bool {
        let f = self.segment.file(slot);
        let bucket = self.segment.file_bucket_of(stat.dev, stat.ino);
        let _masked = Masked::if_handlers();
        let held = bucket.lock.lock(who.me, &self.segment);
        if held.is_nested() || self.segment.find_file(stat.dev, stat.ino).is_some() {
            f.state.store(state::FREE, Release);
            return false;
        }
        for word in [
            &f.epoch,
            &f.mapped,
            &f.direct_calls,
            &f.ending,
            &f.dirty_pages,
            &f.errors,
            &f.error,
            &f.first_page,
            &f.last_page,
            &f.pages,
            &f.handed,
            &f.keeper_fd,
            &f.behind,
            &f.acknowledged,
        ] {
            word.store(0, Relaxed);
        }
        f.direct.store(0, Relaxed);
        f.reserved.store(0, Relaxed);
        f.name.set(b"");
        f.dev.store(stat.dev, Relaxed);
        f.ino.store(stat.ino, Relaxed);
        f.size.store(stat.stamp.size, Relaxed);
        f.stored_size.store(stat.stamp.size, Relaxed);
        self.set_stamp(slot, stat.stamp);
        f.opens.store(1, Relaxed);
        f.used.store(self.segment.header().open_clock.fetch_add(1, Relaxed), Relaxed);
        f.claimed_by.store(0, Relaxed);
        link(bucket, slot, &f.next_in_bucket);
        f.state.store(state::LIVE, Release);
        true
    }

    /// Frees the slots of files that nobody has open and that have nothing dirty: the older half of them.
    fn reclaim_files(&self, who: Caller) {
        let idle = |slot: u32| {
            let f = self.segment.file(slot);
            f.state.load(Acquire) == state::LIVE
                && f.opens.load(SeqCst) == 0
                && f.dirty_pages.load(SeqCst) == 0
                && f.handed.load(SeqCst) == 0
        };
        let files = self.segment.layout().sizes.files;
        let now = self.segment.header().open_clock.load(Relaxed);
        let oldest = (0..files).filter(|&s| idle(s)).map(|s| self.segment.file(s).used.load(Relaxed)).min();
        let Some(oldest) = oldest else { return };
        let line = oldest + (now - oldest) / 2;
        for slot in (0..files).filter(|&s| idle(s) && self.segment.file(s).used.load(Relaxed) <= line) {
            self.free_file(who, slot);
        }
    }

    /// Frees the slot of a file that nobody has open; not if somebody opens it meanwhile.
    fn free_file(&self, who: Caller, slot: u32) {
        let f = self.segment.file(slot);
        let bucket = self.segment.file_bucket_of(f.dev.load(Relaxed), f.ino.load(Relaxed));
        {
            let _masked = Masked::if_handlers();
            let held = bucket.lock.lock(who.me, &self.segment);
            if held.is_nested()
                || f.state.load(Acquire) != state::LIVE
                || f.opens.load(SeqCst) != 0
                || f.dirty_pages.load(SeqCst) != 0
            {
                return;
            }
            f.claimed_by.store(who.client() + 1, Relaxed);
            f.state.store(state::CLAIMED, Release);
            unlink(bucket, slot, |s| &self.segment.file(s).next_in_bucket);
        }
        self.drop_pages(who, slot, |_| true);
        f.claimed_by.store(0, Relaxed);
        f.state.store(state::FREE, Release);
    }

    /// One description of `file` fewer.
    pub fn let_go(&self, file: u32) {
        self.segment.file(file).opens.fetch_sub(1, SeqCst);
    }
}
