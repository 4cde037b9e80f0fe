//! Repair after a death: what a dead client held is taken from it and put right.

use crate::{Caller, Pool};
use millpond_segment::client::state;
use millpond_segment::freelist::{FREE, IN_USE};
use millpond_segment::index::unlink;
use millpond_segment::page::PageSlots;
use millpond_segment::slab::BufferSlots;
use millpond_segment::sys::Masked;
use millpond_segment::{nesting, FutexLock, Whose};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// What a repair found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Locks that the dead client held.
    pub locks: u32,
    /// Page and buffer slots that it had claimed and not put to use.
    pub slots: u32,
}

impl Pool {
    /// Marks a client whose process is gone, so that nobody else deals with it. `false` when somebody does already.
    pub fn begin_recovery(&self, client: u32) -> bool {
        let c = self.segment.client(client);
        let now = c.state.load(Acquire);
        now != state::FREE
            && now != state::DEAD
            && c.state.compare_exchange(now, state::DEAD, SeqCst, Relaxed).is_ok()
    }

    /// After an `exec`: what the old image's other threads held when they were ended is taken from them and put right.
    pub fn repair_after_exec(&self, who: Caller) {
        if self.segment.client(who.client()).several.swap(0, SeqCst) == 1 {
            self.repair(who, who.client());
        }
    }

    /// Takes every lock that the dead client holds, repairs what it guards, and gives back what the client had claimed.
    pub fn repair(&self, who: Caller, dead: u32) -> Recovered {
        let mut found = Recovered { locks: self.repair_locks(who, Whose::Client(dead)), slots: 0 };
        for slot in 0..self.file_slots() {
            self.repair_claim(who, dead, slot);
        }
        for index in 0..self.segment.layout().sizes.descriptions {
            let d = self.segment.description(index);
            if d.claimed_by.load(Relaxed) == dead + 1 && d.refs.load(Acquire) > 0 {
                d.claimed_by.store(0, Relaxed);
                if !self.is_named(dead, index) {
                    self.drop_description(index);
                }
            }
        }
        found.slots +=
            self.segment.header().page_list.recover(dead, who.me, &self.segment, &PageSlots(&self.segment));
        for slab in self.segment.slabs() {
            let slots = BufferSlots::new(&self.segment, slab.first.load(Relaxed));
            found.slots += slab.list.recover(dead, who.me, &self.segment, &slots);
        }
        found
    }

    /// The calling thread has left an operation in the middle, for good: gives back the locks that it took there and repairs what they guard. What it
    /// had claimed comes back when its process ends. Returns the number of locks.
    pub fn repair_abandoned(&self, who: Caller) -> u32 {
        nesting::abandon();
        let whose = Whose::Thread(who.me);
        let mut locks = self.repair_locks(who, whose);
        let lists = &self.segment.header().page_list;
        locks += u32::from(lists.recover_lock(whose, who.me, &PageSlots(&self.segment)));
        for slab in self.segment.slabs() {
            let slots = BufferSlots::new(&self.segment, slab.first.load(Relaxed));
            locks += u32::from(slab.list.recover_lock(whose, who.me, &slots));
        }
        locks
    }

    fn repair_locks(&self, who: Caller, whose: Whose) -> u32 {
        let _masked = Masked::begin();
        let mut locks = 0;
        // Buckets and files first: mending a page takes their locks, and must not wait for the dead client's.
        for index in 0..self.segment.layout().sizes.page_buckets() {
            locks += self.free_lock(who, whose, &self.segment.page_bucket(index).lock);
        }
        for index in 0..self.segment.layout().sizes.file_buckets() {
            locks += self.free_lock(who, whose, &self.segment.file_bucket(index).lock);
        }
        for slot in 0..self.file_slots() {
            locks += self.repair_file(who, whose, slot);
        }
        for slot in 0..self.segment.pages() {
            locks += u32::from(self.repair_slot(who, whose, slot));
        }
        locks
    }

    pub(crate) fn file_slots(&self) -> u32 {
        self.segment.header().file_top.load(Relaxed).min(self.segment.layout().sizes.files)
    }

    fn is_named(&self, client: u32, description: u32) -> bool {
        let mut named = false;
        self.for_entries(client, |_, d| named |= d == description);
        named
    }

    fn free_lock(&self, who: Caller, whose: Whose, lock: &FutexLock) -> u32 {
        u32::from(lock.take_from(whose, who.me).is_some())
    }

    fn repair_slot(&self, who: Caller, whose: Whose, slot: u32) -> bool {
        let page = self.segment.page(slot);
        let Some(held) = page.lock.take_from(whose, who.me) else { return false };
        let Some(file) = page.file.load(Acquire).checked_sub(1) else {
            // It died while making or dropping the page: what is left of it goes back.
            let begun = page.begin_change();
            self.sweep_buffers(who, slot);
            page.buffers.store(0, Relaxed);
            page.cap.store(0, Relaxed);
            page.end_change(begun & !1);
            drop(held);
            if page.state.load(Relaxed) == IN_USE {
                self.segment.header().page_list.push(who.me, &self.segment, &PageSlots(&self.segment), slot);
            }
            return true;
        };
        self.repair_page(page);
        let index = page.index.load(Relaxed);
        if self.segment.find_page(file, index) == Some(slot) {
            // The list may lack it, or have it twice.
            let list = self.segment.file(file).list_lock.lock(who.me, &self.segment);
            self.relist(file);
            drop(list);
            return true;
        }
        // Made and not yet published, or taken out and not yet freed: nobody else can find it.
        let bucket = self.segment.page_bucket_of(file, index);
        {
            let _locked = bucket.lock.lock(who.me, &self.segment);
            unlink(bucket, slot, |s| &self.segment.page(s).next_in_bucket);
        }
        let begun = page.begin_change();
        self.uncount_dirty(page, file);
        page.file.store(0, Release);
        page.buffers.store(0, Relaxed);
        page.cap.store(0, Relaxed);
        self.sweep_buffers(who, slot);
        page.end_change(begun & !1);
        {
            let _list = self.segment.file(file).list_lock.lock(who.me, &self.segment);
            self.relist(file);
        }
        drop(held);
        if page.state.load(Relaxed) != FREE {
            self.segment.header().page_list.push(who.me, &self.segment, &PageSlots(&self.segment), slot);
        }
        true
    }

    /// Gives back all buffers that say they are a page's.
    fn sweep_buffers(&self, who: Caller, slot: u32) {
        for id in 0..self.segment.layout().sizes.buffers() {
            let header = self.segment.buffer(id);
            if header.page.load(Relaxed) == slot + 1 && header.state.load(Relaxed) == IN_USE {
                self.give_back(who, &[id]);
            }
        }
    }

    fn repair_file(&self, who: Caller, whose: Whose, slot: u32) -> u32 {
        let f = self.segment.file(slot);
        let mut locks = 0;
        if let Some(_held) = f.list_lock.take_from(whose, who.me) {
            self.relist(slot);
            locks += 1;
        }
        if let Some(_held) = f.append_lock.take_from(whose, who.me) {
            f.reserved.store(0, Relaxed);
            locks += 1;
        }
        if let Some(_held) = f.lock.take_from(whose, who.me) {
            // A truncation may have been half followed: writers look again, and it is under way no longer.
            let step = 2 - (f.epoch.load(SeqCst) & 1);
            f.epoch.fetch_add(step, SeqCst);
            f.ending.store(0, SeqCst);
            locks += 1;
        }
        locks += self.free_lock(who, whose, &f.flush_lock);
        if f.handed.load(Relaxed) == 2 {
            f.handed.store(0, SeqCst);
        }
        locks
    }

    /// Frees a file slot that the dead client was filling in or removing.
    fn repair_claim(&self, who: Caller, dead: u32, slot: u32) {
        let f = self.segment.file(slot);
        if f.claimed_by.load(Relaxed) == dead + 1
            && f.state.load(Acquire) == millpond_segment::file::state::CLAIMED
        {
            self.drop_pages(who, slot, |_| true);
            f.claimed_by.store(0, Relaxed);
            f.state.store(millpond_segment::file::state::FREE, Release);
        }
    }
}
