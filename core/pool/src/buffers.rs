//! Buffers for a page's blob: taken by a plan, all or nothing, largest first.

use crate::{Caller, Pool};
use millpond_model::placement::{plan, Offer, MAX_SLABS};
use millpond_segment::freelist::IN_USE;
use millpond_segment::page::{Page, MAX_BUFFERS};
use millpond_segment::slab::BufferSlots;
use std::sync::atomic::Ordering::Relaxed;

/// Buffers that were taken together, in the order of the bytes they are to hold.
pub(crate) struct Taken {
    pub(crate) ids: [u32; MAX_BUFFERS],
    pub(crate) count: usize,
    pub(crate) bytes: u32,
}

/// Attempts at a plan that others' allocations overtake.
const TRIES: u32 = 4;

impl Pool {
    /// Takes buffers that hold `bytes` bytes, without making room.
    pub(crate) fn take_buffers(&self, who: Caller, bytes: u32) -> Option<Taken> {
        (0..TRIES).find_map(|_| self.try_take(who, bytes)).flatten()
    }

    /// `Some(None)` when the pool has not got them, `None` when another allocation came in between.
    fn try_take(&self, who: Caller, bytes: u32) -> Option<Option<Taken>> {
        let slabs = self.segment.slabs();
        let mut offers = [Offer { buffer: 1, free: 0 }; MAX_SLABS];
        for (offer, slab) in offers.iter_mut().zip(slabs) {
            *offer = Offer { buffer: slab.buffer_bytes.load(Relaxed), free: slab.list.free() };
        }
        let Some(plan) = plan(bytes, &offers[..slabs.len()], MAX_BUFFERS as u32) else { return Some(None) };
        let mut taken = Taken { ids: [0; MAX_BUFFERS], count: 0, bytes: 0 };
        for (slot, slab) in slabs.iter().enumerate().rev() {
            let first = slab.first.load(Relaxed);
            for _ in 0..plan.take[slot] {
                let Some(index) =
                    slab.list.pop(who.me, &self.segment, &BufferSlots::new(&self.segment, first))
                else {
                    self.give_back(who, &taken.ids[..taken.count]);
                    return None;
                };
                taken.ids[taken.count] = first + index;
                taken.count += 1;
                taken.bytes += slab.buffer_bytes.load(Relaxed);
            }
        }
        Some(Some(taken))
    }

    /// Gives buffers back.
    pub(crate) fn give_back(&self, who: Caller, ids: &[u32]) {
        for &id in ids.iter().rev() {
            let Some((slab, _)) = self.segment.locate(id) else { continue };
            let first = slab.first.load(Relaxed);
            self.segment.buffer(id).page.store(0, Relaxed);
            slab.list.push(who.me, &self.segment, &BufferSlots::new(&self.segment, first), id - first);
        }
    }

    /// Gives a page these buffers instead of what it has. Under the page's lock.
    pub(crate) fn replace_buffers(&self, slot: u32, taken: &Taken) {
        let page = self.segment.page(slot);
        for (place, &id) in page.buffer.iter().zip(&taken.ids[..taken.count]) {
            place.store(id, Relaxed);
            let header = self.segment.buffer(id);
            header.page.store(slot + 1, Relaxed);
            header.state.store(IN_USE, Relaxed);
        }
        page.first.store(self.segment.locate(taken.ids[0]).map_or(0, |(_, at)| at), Relaxed);
        page.buffers.store(taken.count as u32, Relaxed);
        page.cap.store(taken.bytes, Relaxed);
    }

    /// Takes a page's buffers away and gives them back. Under the page's lock, inside a change.
    pub(crate) fn detach_buffers(&self, who: Caller, page: &Page) {
        let (ids, count) = buffer_ids(page);
        page.buffers.store(0, Relaxed);
        page.cap.store(0, Relaxed);
        self.give_back(who, &ids[..count]);
    }

    /// Calls `f` with the place in the segment, the place in the range and the length of each piece of `range`, in order, until it fails.
    #[inline]
    pub(crate) fn pieces<E>(
        &self,
        page: &Page,
        range: millpond_model::ByteRange,
        mut f: impl FnMut(u64, usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = (page.buffers.load(Relaxed) as usize).min(MAX_BUFFERS);
        if count == 1 {
            return f(page.first.load(Relaxed) + u64::from(range.start), 0, range.len() as usize);
        }
        let (ids, count) = buffer_ids(page);
        self.pieces_in(&ids[..count], range, f)
    }

    /// As [`Pool::pieces`], for buffers that hold a page's bytes in this order.
    pub(crate) fn pieces_in<E>(
        &self,
        ids: &[u32],
        range: millpond_model::ByteRange,
        mut f: impl FnMut(u64, usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for &id in ids {
            let Some((slab, at)) = self.segment.locate(id) else { continue };
            let here = millpond_model::ByteRange::new(start, start + slab.buffer_bytes.load(Relaxed));
            let part = range.intersect(here);
            if !part.is_empty() {
                f(
                    at + u64::from(part.start - start),
                    (part.start - range.start) as usize,
                    part.len() as usize,
                )?;
            }
            start = here.end;
        }
        Ok(())
    }
}

pub(crate) fn buffer_ids(page: &Page) -> ([u32; MAX_BUFFERS], usize) {
    let count = (page.buffers.load(Relaxed) as usize).min(MAX_BUFFERS);
    let mut ids = [0; MAX_BUFFERS];
    for (id, place) in ids.iter_mut().zip(&page.buffer[..count]) {
        *id = place.load(Relaxed);
    }
    (ids, count)
}
