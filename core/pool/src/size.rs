//! What changes a file other than by writing its bytes: truncation, and calls that the kernel serves.

use crate::{Caller, Pool, Store};
use millpond_model::PageIndex;
use millpond_segment::stats::Reason;
use millpond_segment::sys::Masked;
use millpond_segment::Errno;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

impl Pool {
    /// Does `change`, which sets the real file's size (a truncation) and returns its stamp afterwards, and follows it in the pool. `before` gives
    /// the stamp right before, as far as that can be told: where it is not the one that the clean pages stand for, somebody outside has changed the
    /// file, and they must not be taken for what is left of it.
    ///
    /// # Errors
    /// What `change` returns; the pool is then as before.
    pub fn truncate(
        &self,
        who: Caller,
        file: u32,
        before: impl FnOnce() -> Option<millpond_model::Stamp>,
        change: impl FnOnce() -> Result<millpond_model::Stamp, Errno>,
    ) -> Result<(), Errno> {
        let f = self.segment.file(file);
        let _masked = Masked::begin();
        // An append that has its offset is waited for: overtaken, it would leave its bytes behind where the end was.
        let _appender = f.append_lock.lock(who.me, &self.segment);
        let _flusher = f.flush_lock.lock(who.me, &self.segment);
        let size = f.lock.lock(who.me, &self.segment);
        if size.is_recovered() && f.epoch.load(SeqCst) & 1 == 1 {
            f.epoch.fetch_add(1, SeqCst);
        }
        let now = before();
        let stamp = change()?;
        self.distrust(who, file, now);
        // Odd while it lasts: no write begins meanwhile, and one that began before looks again.
        f.epoch.fetch_add(1, SeqCst);
        f.size.store(stamp.size, Release);
        f.stored_size.store(stamp.size, Release);
        self.cut(who, file, stamp.size);
        self.set_stamp(file, stamp);
        f.epoch.fetch_add(1, SeqCst);
        Ok(())
    }

    /// Drops all bytes at and beyond `size`.
    fn cut(&self, who: Caller, file: u32, size: u64) {
        let geometry = self.segment.geometry();
        self.drop_pages(who, file, |page| geometry.start_of(PageIndex(page.index.load(Relaxed))) >= size);
        let within = geometry.within(size);
        if within == 0 {
            return;
        }
        if let Some(locked) = self.lock_page_surely(who, file, geometry.page_of(size).0) {
            let begun = locked.page.begin_change();
            let (mut valid, mut dirty) = (locked.page.valid.load(), locked.page.dirty.load());
            valid.truncate(within);
            dirty.truncate(within);
            locked.page.valid.store(&valid);
            locked.page.dirty.store(&dirty);
            if dirty.is_empty() {
                self.uncount_dirty(locked.page, file);
            }
            locked.page.end_change(begun);
        }
    }

    /// Writes all dirty bytes and drops all cached pages, does `call` on the real file, and takes over the size that it leaves.
    ///
    /// # Errors
    /// The flush's error; then `call` was not made.
    pub fn around_kernel<T>(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        reason: Reason,
        call: impl FnOnce() -> T,
    ) -> Result<T, Errno> {
        self.count_sync_down(who, reason);
        let f = self.segment.file(file);
        self.flush(who, file, store)?;
        // No lock is held over the call: it may wait (for a pipe, a socket), or be left by a signal handler's jump. Bytes that others
        // write meanwhile stay dirty and are kept.
        let result = call();
        let _masked = Masked::begin();
        let _flusher = f.flush_lock.lock(who.me, &self.segment);
        let _size = f.lock.lock(who.me, &self.segment);
        self.drop_clean(who, file);
        self.adopt_size(who, file, store);
        Ok(result)
    }

    /// Takes over size and stamp of the real file; dirty bytes beyond its end count too. Under the file's lock.
    pub(crate) fn adopt_size(&self, who: Caller, file: u32, store: &impl Store) {
        let Ok(stamp) = store.stamp() else { return };
        self.adopt_stamp(who, file, stamp);
    }

    pub(crate) fn adopt_stamp(&self, who: Caller, file: u32, stamp: millpond_model::Stamp) {
        let f = self.segment.file(file);
        f.stored_size.store(stamp.size, Relaxed);
        f.size.store(stamp.size.max(self.dirty_end(who, file)), Release);
        self.set_stamp(file, stamp);
    }

    /// One past the last dirty byte of a file, 0 when there is none.
    fn dirty_end(&self, who: Caller, file: u32) -> u64 {
        if self.segment.file(file).dirty_pages.load(SeqCst) == 0 {
            return 0;
        }
        let end = std::cell::Cell::new(0);
        self.walk(who, file, None, &mut [], |page| {
            let dirty = page.dirty.load();
            if !dirty.is_empty() {
                let start = self.segment.geometry().start_of(PageIndex(page.index.load(Relaxed)));
                end.set(end.get().max(start + u64::from(dirty.end())));
            }
            false
        });
        end.get()
    }

    /// Looks whether somebody outside changed the real file: then clean pages go and the size is the file's.
    pub fn revalidate(&self, who: Caller, file: u32, store: &impl Store) {
        let Ok(now) = store.stamp() else { return };
        let (kept, _) = self.stamp_of(file);
        if now == kept {
            return;
        }
        let f = self.segment.file(file);
        // Whoever flushes now will leave a fresh stamp; and who cannot wait need not.
        let _masked = Masked::begin();
        let Some(_flusher) = f.flush_lock.try_lock(who.me) else { return };
        let Some(_size) = f.lock.try_lock(who.me) else { return };
        let (Ok(now), (kept, _)) = (store.stamp(), self.stamp_of(file)) else { return };
        if now != kept {
            self.drop_clean(who, file);
            self.adopt_stamp(who, file, now);
        }
    }
}
