//! Making room: clean pages go, by a clock with a reference bit.
//!
//! Eviction only ever tries locks, so that it may run while the caller holds some.

use crate::pages::LockedPage;
use crate::{Caller, Pool, Store};
use std::sync::atomic::Ordering::Relaxed;

/// Pages that one search for room lets go at once, so that the next few callers need not search.
const BATCH: u32 = 8;

impl Pool {
    /// Drops some clean pages that have not been used lately. Returns how many.
    pub(crate) fn evict(&self, who: Caller) -> u32 {
        let pages = self.segment.pages();
        let hand = &self.segment.header().clock_hand;
        let mut dropped = 0;
        // Two rounds: the first one may only clear reference bits.
        for _ in 0..u64::from(pages) * 2 {
            let slot = hand.fetch_add(1, Relaxed) % pages;
            let page = self.segment.page(slot);
            let file = page.file.load(Relaxed);
            if file == 0 || !page.dirty.is_empty() {
                continue;
            }
            if page.referenced.swap(0, Relaxed) != 0 {
                continue;
            }
            if self.segment.file(file - 1).list_lock.is_held_by(who.me) {
                continue;
            }
            let Some(held) = page.lock.try_lock(who.me) else { continue };
            if page.file.load(Relaxed) == file && page.dirty.is_empty() {
                self.drop_page(who, LockedPage { slot, page, held });
                self.account(who).pages_evicted.fetch_add(1, Relaxed);
                dropped += 1;
                if dropped == BATCH {
                    break;
                }
            }
        }
        dropped
    }

    /// Makes room for a page of `file`: by dropping clean pages, else by flushing this file's dirty ones through `store` first. With no
    /// page lock held. Returns whether something came free.
    pub(crate) fn make_room(&self, who: Caller, file: u32, store: &impl Store) -> bool {
        if self.evict(who) > 0 {
            return true;
        }
        if self.segment.file(file).dirty_pages.load(Relaxed) == 0 || !store.writable() {
            return false;
        }
        self.flush(who, file, store).is_ok() && self.evict(who) > 0
    }
}
