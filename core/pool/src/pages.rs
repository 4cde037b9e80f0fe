//! Pages: finding, making, growing and dropping them.
//!
//! Lists and buckets are everybody's, and held for moments only, with signals held back: a handler would make those moments as long as it likes.

use crate::buffers::buffer_ids;
use crate::flush::HELD_UP;
use crate::{Caller, Pool};
use millpond_model::{ByteRange, RangeSet};
use millpond_segment::freelist::IN_USE;
use millpond_segment::index::{link, unlink};
use millpond_segment::lock::Held;
use millpond_segment::page::{Page, PageSlots};
use millpond_segment::sys::Masked;
use millpond_segment::Errno;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A page that this caller has locked.
pub(crate) struct LockedPage<'a> {
    pub(crate) slot: u32,
    pub(crate) page: &'a Page,
    pub(crate) held: Held<'a>,
}

/// Slots that one walk over a file's pages hands out.
pub(crate) const WALK: usize = 64;

impl Pool {
    /// Locks page `index` of `file`, if the pool has it.
    #[inline(always)]
    pub(crate) fn lock_page(&self, who: Caller, file: u32, index: u64) -> Option<LockedPage<'_>> {
        loop {
            let slot = self.segment.find_page(file, index)?;
            if let Some(locked) = self.lock_slot(who, slot, file, Some(index)) {
                return Some(locked);
            }
        }
    }

    /// As [`Pool::lock_page`]; looks under the bucket's lock before it says that there is no such page. A walk without the lock may be led astray by a
    /// page that leaves the chain.
    pub(crate) fn lock_page_surely(&self, who: Caller, file: u32, index: u64) -> Option<LockedPage<'_>> {
        loop {
            if let Some(locked) = self.lock_page(who, file, index) {
                return Some(locked);
            }
            let _masked = Masked::begin();
            let _chain = self.segment.page_bucket_of(file, index).lock.lock(who.me, &self.segment);
            self.segment.find_page(file, index)?;
        }
    }

    /// Locks page slot `slot` if it still holds a page of `file` (number `index`, when given).
    #[inline(always)]
    pub(crate) fn lock_slot(
        &self,
        who: Caller,
        slot: u32,
        file: u32,
        index: Option<u64>,
    ) -> Option<LockedPage<'_>> {
        let held = self.segment.page(slot).lock.lock(who.me, &self.segment);
        self.locked(slot, file, index, held)
    }

    /// As [`Pool::lock_slot`], under a lock that whoever has the page may be waiting for: its owner may be in a signal handler, which waits for
    /// another process or uses the file itself.
    ///
    /// # Errors
    /// [`HELD_UP`]: the caller gives back what it holds and comes again, or says that it cannot.
    pub(crate) fn lock_slot_patiently(
        &self,
        who: Caller,
        slot: u32,
        file: u32,
    ) -> Result<Option<LockedPage<'_>>, Errno> {
        let held = self.segment.page(slot).lock.lock_patiently(who.me, &self.segment).ok_or(HELD_UP)?;
        Ok(self.locked(slot, file, None, held))
    }

    #[inline]
    fn locked<'a>(
        &'a self,
        slot: u32,
        file: u32,
        index: Option<u64>,
        held: Held<'a>,
    ) -> Option<LockedPage<'a>> {
        let page = self.segment.page(slot);
        if held.is_recovered() {
            self.repair_page(page);
        }
        let is_it =
            page.file.load(Acquire) == file + 1 && index.is_none_or(|i| page.index.load(Relaxed) == i);
        is_it.then_some(LockedPage { slot, page, held })
    }

    /// Puts a page right whose changer died: bytes that were valid and may be half overwritten count as written.
    #[cold]
    pub(crate) fn repair_page(&self, page: &Page) {
        let pending = ByteRange::from_word(page.pending.load(Relaxed));
        let begun = page.begin_change();
        let (valid, mut dirty) = (page.valid.load(), page.dirty.load());
        for range in valid.as_slice() {
            // A set that is full already keeps what it has: those bytes are then as the file has them or as they are.
            let _ = dirty.insert(range.intersect(pending));
        }
        page.dirty.store(&dirty);
        page.pending.store(0, Relaxed);
        if !dirty.is_empty() && page.file.load(Relaxed) != 0 {
            self.count_dirty(page);
        }
        page.end_change(begun & !1);
    }

    /// Makes a page for `index` of `file` with buffers for `cap` bytes. `None` when there is no room, or when the caller cannot change the
    /// index now; if somebody else was faster, theirs.
    pub(crate) fn create_page(&self, who: Caller, file: u32, index: u64, cap: u32) -> Option<LockedPage<'_>> {
        if self.segment.file(file).list_lock.is_held_by(who.me) {
            return None;
        }
        let masked = Masked::begin();
        let taken = self.take_buffers(who, cap)?;
        let Some(slot) =
            self.segment.header().page_list.pop(who.me, &self.segment, &PageSlots(&self.segment))
        else {
            self.give_back(who, &taken.ids[..taken.count]);
            return None;
        };
        let page = self.segment.page(slot);
        let held = page.lock.lock(who.me, &self.segment);
        let bucket = self.segment.page_bucket_of(file, index);
        {
            let locked = bucket.lock.lock(who.me, &self.segment);
            let other = self.segment.find_page(file, index);
            if locked.is_nested() || other.is_some() {
                drop(locked);
                drop(held);
                self.segment.header().page_list.push(who.me, &self.segment, &PageSlots(&self.segment), slot);
                self.give_back(who, &taken.ids[..taken.count]);
                drop(masked);
                return other.and_then(|_| self.lock_page(who, file, index));
            }
            let begun = page.begin_change();
            self.replace_buffers(slot, &taken);
            page.valid.store(&RangeSet::EMPTY);
            page.dirty.store(&RangeSet::EMPTY);
            page.pending.store(0, Relaxed);
            page.counted.store(0, Relaxed);
            page.referenced.store(1, Relaxed);
            page.index.store(index, Relaxed);
            page.file.store(file + 1, Release);
            page.state.store(IN_USE, Relaxed);
            link(bucket, slot, &page.next_in_bucket);
            page.end_change(begun & !1);
        }
        self.list_page(who, file, slot);
        Some(LockedPage { slot, page, held })
    }

    /// Sees to it that a locked page has buffers up to `end`.
    pub(crate) fn grow_page(&self, who: Caller, locked: &LockedPage<'_>, end: u32) -> bool {
        let page = locked.page;
        let cap = page.cap.load(Relaxed);
        if cap >= end {
            return true;
        }
        // The operation underneath goes on with the buffers that it knows.
        if locked.held.is_nested() {
            return false;
        }
        let _masked = Masked::begin();
        let Some(taken) = self.take_buffers(who, end) else { return false };
        // One new blob instead of a growing tail: pages of one buffer are the fast ones. The bytes are there before the page names the new
        // buffers, so that whoever finds the page after a death here finds them.
        let old = buffer_ids(page);
        let _ = self.pieces(page, ByteRange::new(0, cap), |from, place, len| {
            let range = ByteRange::new(place as u32, (place + len) as u32);
            self.pieces_in(&taken.ids[..taken.count], range, |to, within, n| {
                self.segment.copy_within(from + within as u64, to, n);
                Ok::<(), ()>(())
            })
        });
        let begun = page.begin_change();
        self.replace_buffers(locked.slot, &taken);
        page.end_change(begun);
        self.give_back(who, &old.0[..old.1]);
        true
    }

    /// Drops a locked page with all its bytes.
    pub(crate) fn drop_page(&self, who: Caller, locked: LockedPage<'_>) {
        let LockedPage { slot, page, held } = locked;
        let _masked = Masked::begin();
        let (file, index) = (page.file.load(Relaxed) - 1, page.index.load(Relaxed));
        let begun = page.begin_change();
        let bucket = self.segment.page_bucket_of(file, index);
        {
            let _locked = bucket.lock.lock(who.me, &self.segment);
            unlink(bucket, slot, |s| &self.segment.page(s).next_in_bucket);
        }
        self.unlist_page(who, file, slot);
        self.uncount_dirty(page, file);
        page.file.store(0, Release);
        page.valid.store(&RangeSet::EMPTY);
        page.dirty.store(&RangeSet::EMPTY);
        self.detach_buffers(who, page);
        page.end_change(begun & !1);
        drop(held);
        self.segment.header().page_list.push(who.me, &self.segment, &PageSlots(&self.segment), slot);
    }

    /// Counts the page among its file's dirty ones, once.
    #[inline]
    pub(crate) fn count_dirty(&self, page: &Page) {
        if page.counted.load(Relaxed) == 0 {
            self.count_newly_dirty(page);
        }
    }

    #[cold]
    fn count_newly_dirty(&self, page: &Page) {
        if page.counted.swap(1, Relaxed) == 0 {
            let file = self.segment.file(page.file.load(Relaxed) - 1);
            file.dirty_pages.fetch_add(1, Relaxed);
            self.segment.header().dirty_pages.fetch_add(1, Relaxed);
            page.dirty_since.store(millpond_segment::sys::monotonic_ns(), Relaxed);
            file.written_at.store(millpond_segment::sys::realtime_ns() as u64, Relaxed);
        }
    }

    /// Takes the page out of the count.
    pub(crate) fn uncount_dirty(&self, page: &Page, file: u32) {
        if page.counted.swap(0, Relaxed) == 1 {
            self.segment.file(file).dirty_pages.fetch_sub(1, Relaxed);
            self.segment.header().dirty_pages.fetch_sub(1, Relaxed);
        }
    }

    /// Takes the lock of a file's list of pages; makes the list anew if its holder had died.
    fn enter_list(&self, who: Caller, file: u32) -> Held<'_> {
        let held = self.segment.file(file).list_lock.lock(who.me, &self.segment);
        if held.is_recovered() {
            self.relist(file);
        }
        held
    }

    /// Makes a file's list of pages anew from the page slots. Under the list's lock.
    pub(crate) fn relist(&self, file: u32) {
        let f = self.segment.file(file);
        f.first_page.store(0, Relaxed);
        f.last_page.store(0, Relaxed);
        let mut count = 0;
        for slot in 0..self.segment.pages() {
            let page = self.segment.page(slot);
            if page.file.load(Acquire) != file + 1 {
                continue;
            }
            let last = f.last_page.load(Relaxed);
            page.prev_in_file.store(last, Relaxed);
            page.next_in_file.store(0, Relaxed);
            match last.checked_sub(1) {
                Some(last) => self.segment.page(last).next_in_file.store(slot + 1, Relaxed),
                None => f.first_page.store(slot + 1, Relaxed),
            }
            f.last_page.store(slot + 1, Relaxed);
            count += 1;
        }
        f.pages.store(count, Relaxed);
    }

    fn list_page(&self, who: Caller, file: u32, slot: u32) {
        let (f, page) = (self.segment.file(file), self.segment.page(slot));
        let _held = self.enter_list(who, file);
        let last = f.last_page.load(Relaxed);
        page.next_in_file.store(0, Relaxed);
        page.prev_in_file.store(last, Relaxed);
        match last.checked_sub(1) {
            Some(last) => self.segment.page(last).next_in_file.store(slot + 1, Relaxed),
            None => f.first_page.store(slot + 1, Relaxed),
        }
        f.last_page.store(slot + 1, Relaxed);
        f.pages.fetch_add(1, Relaxed);
    }

    fn unlist_page(&self, who: Caller, file: u32, slot: u32) {
        let (f, page) = (self.segment.file(file), self.segment.page(slot));
        let _held = self.enter_list(who, file);
        let (prev, next) = (page.prev_in_file.load(Relaxed), page.next_in_file.load(Relaxed));
        match prev.checked_sub(1) {
            Some(prev) => self.segment.page(prev).next_in_file.store(next, Relaxed),
            None => f.first_page.store(next, Relaxed),
        }
        match next.checked_sub(1) {
            Some(next) => self.segment.page(next).prev_in_file.store(prev, Relaxed),
            None => f.last_page.store(prev, Relaxed),
        }
        f.pages.fetch_sub(1, Relaxed);
    }

    /// Walks a file's pages from the one after slot `after` (from the first, when `None`) and puts those that `wanted` picks into `out`,
    /// until it is full. Returns how many, and the slot where it stopped when there is more.
    pub(crate) fn walk(
        &self,
        who: Caller,
        file: u32,
        from: Option<u32>,
        out: &mut [u32],
        wanted: impl Fn(&Page) -> bool,
    ) -> (usize, Option<u32>) {
        let f = self.segment.file(file);
        let _masked = Masked::begin();
        let _held = self.enter_list(who, file);
        let mut at = match from {
            Some(slot) if self.segment.page(slot).file.load(Relaxed) == file + 1 => slot + 1,
            _ => f.first_page.load(Relaxed),
        };
        let mut found = 0;
        // Bounded by the number of slots, in case a list was left torn by a death.
        for _ in 0..self.segment.pages() {
            let Some(slot) = at.checked_sub(1) else { return (found, None) };
            let page = self.segment.page(slot);
            if wanted(page) {
                if found == out.len() {
                    return (found, Some(slot));
                }
                out[found] = slot;
                found += 1;
            }
            at = page.next_in_file.load(Relaxed);
        }
        (found, None)
    }

    /// Drops every page of `file` that `wanted` picks; what it says is asked again under the page's lock.
    pub(crate) fn drop_pages(&self, who: Caller, file: u32, wanted: impl Fn(&Page) -> bool) {
        let mut slots = [0; WALK];
        loop {
            let (found, more) = self.walk(who, file, None, &mut slots, &wanted);
            let mut dropped = 0;
            for &slot in &slots[..found] {
                if let Some(locked) = self.lock_slot(who, slot, file, None) {
                    if wanted(locked.page)
                        && !locked.held.is_nested()
                        && !self.segment.file(file).list_lock.is_held_by(who.me)
                    {
                        self.drop_page(who, locked);
                        dropped += 1;
                    }
                }
            }
            if more.is_none() && found < WALK || dropped == 0 {
                return;
            }
        }
    }

    /// Drops all pages of `file` without dirty bytes, and forgets the clean bytes of the others.
    pub(crate) fn drop_clean(&self, who: Caller, file: u32) {
        self.drop_pages(who, file, |page| page.dirty.is_empty());
        let mut from = None;
        let mut slots = [0; WALK];
        loop {
            let (found, more) = self.walk(who, file, from, &mut slots, |_| true);
            for &slot in &slots[..found] {
                if let Some(locked) = self.lock_slot(who, slot, file, None) {
                    let begun = locked.page.begin_change();
                    locked.page.valid.store(&locked.page.dirty.load());
                    locked.page.end_change(begun);
                }
            }
            if more.is_none() {
                return;
            }
            from = more;
        }
    }
}
