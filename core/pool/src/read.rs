//! The read path: copy from cached pages, fetch what is missing.
//!
//! A page is copied without its lock: its sequence number is looked at before and after, and a page that changed meanwhile is copied
//! again. Bytes beyond the size of the real file that nobody wrote are zeros.

use crate::pages::LockedPage;
use crate::{Caller, Failure, Pool, Store};
use millpond_model::{ByteRange, Span};
use millpond_segment::map::zero_user;
use millpond_segment::sys::{IoPart, Masked};
use millpond_segment::{Errno, UserMemory};
use std::sync::atomic::{
    fence,
    Ordering::{Acquire, Relaxed},
};

/// Optimistic copies before a reader takes the page's lock.
const OPTIMISM: u32 = 64;

/// How a span was served.
enum Served {
    /// From a page that was there.
    Hit,
    /// Not yet: something has to be fetched.
    Miss,
    /// The program's memory was not there after so many bytes.
    Fault(usize),
}

impl Pool {
    /// Reads from `offset` of `file` into `to`, up to the end of the file. Returns the number of bytes.
    ///
    /// # Errors
    /// When not even the first byte could be read.
    #[inline]
    pub fn read(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        to: &impl UserMemory,
        offset: u64,
    ) -> Result<usize, Failure> {
        let size = self.segment.file(file).size.load(Acquire);
        if offset >= size {
            return Ok(0);
        }
        let len = (to.total() as u64).min(size - offset) as usize;
        let mut done = 0;
        let mut hits = 0;
        while done < len {
            let span = self.segment.geometry().span(offset, len, done);
            let take = span.range.len() as usize;
            let outcome = match self.copy_cached(who, file, span, to) {
                Served::Hit => {
                    hits += 1;
                    Ok(())
                }
                Served::Fault(n) => Err((n, Failure::Fault)),
                Served::Miss => self.read_missing(who, file, store, span, to),
            };
            if let Err((n, failure)) = outcome {
                done += n;
                if done == 0 {
                    return Err(failure);
                }
                break;
            }
            done += take;
        }
        let tally = self.tally(who);
        tally.hits(hits);
        tally.read(done);
        Ok(done)
    }

    #[inline]
    fn copy_cached(&self, who: Caller, file: u32, span: Span, to: &impl UserMemory) -> Served {
        let Some(slot) = self.segment.find_page(file, span.page.0) else { return Served::Miss };
        let page = self.segment.page(slot);
        for _ in 0..OPTIMISM {
            let before = page.seq.load(Acquire);
            if before & 1 == 1 {
                if page.lock.is_held_by(who.me) {
                    break;
                }
                std::hint::spin_loop();
                continue;
            }
            if !page.is(file, span.page.0)
                || !page.valid.covers(span.range)
                || page.cap.load(Relaxed) < span.range.end
            {
                return Served::Miss;
            }
            let copied = self.pieces(page, span.range, |at, within, len| {
                self.segment.copy_out(at, to, span.at + within, len).map_err(|f| within + f.done)
            });
            fence(Acquire);
            if page.seq.load(Relaxed) == before {
                if page.referenced.load(Relaxed) == 0 {
                    page.referenced.store(1, Relaxed);
                }
                return copied.map_or_else(Served::Fault, |()| Served::Hit);
            }
        }
        Served::Miss
    }

    #[cold]
    fn read_missing(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        span: Span,
        to: &impl UserMemory,
    ) -> Result<(), (usize, Failure)> {
        self.tally(who).miss();
        // As in a write.
        let _masked = Masked::if_handlers();
        let mut made_room = false;
        loop {
            if let Some(locked) = self.lock_page(who, file, span.page.0) {
                if locked.held.is_nested() && !locked.page.valid.load().covers(span.range) {
                    // What an interrupted write has put there and not yet said is not to be fetched over.
                    drop(locked);
                    return self.read_around_dirty(who, file, store, span, to);
                }
                if self.grow_page(who, &locked, span.range.end) {
                    self.fetch(file, &locked, store, span.range).map_err(|e| (0, Failure::Errno(e)))?;
                    return self.pieces(locked.page, span.range, |at, within, len| {
                        self.segment
                            .copy_out(at, to, span.at + within, len)
                            .map_err(|f| (within + f.done, Failure::Fault))
                    });
                }
                if locked.page.dirty.is_empty() {
                    // No buffers to grow it: let it go and read past the pool.
                    if !locked.held.is_nested() {
                        self.drop_page(who, locked);
                    }
                    return self.read_through(file, store, span, to);
                }
                drop(locked);
                if !self.make_room(who, file, store) || made_room {
                    return self.read_around_dirty(who, file, store, span, to);
                }
                made_room = true;
                continue;
            }
            let f = self.segment.file(file);
            if self.segment.geometry().start_of(span.page) >= f.stored_size.load(Relaxed) {
                if self.lock_page_surely(who, file, span.page.0).is_some() {
                    continue;
                }
                return zero_user(to, span.at, span.range.len() as usize)
                    .map_err(|f| (f.done, Failure::Fault));
            }
            let cap = self.wanted_cap(file, span);
            let locked = self.create_page(who, file, span.page.0, cap).or_else(|| {
                (self.evict(who) > 0).then(|| self.create_page(who, file, span.page.0, cap)).flatten()
            });
            match locked {
                // Fetched and copied in the next round, which finds the page.
                Some(locked) => drop(locked),
                None if self.segment.find_page(file, span.page.0).is_some() => {}
                None => return self.read_through(file, store, span, to),
            }
        }
    }

    /// Bytes of buffers that a page should have: a small file gets what it needs, other pages are whole.
    pub(crate) fn wanted_cap(&self, file: u32, span: Span) -> u32 {
        let page = self.segment.geometry().bytes();
        if span.page.0 > 0 {
            return page;
        }
        let size = self.segment.file(file).size.load(Relaxed).min(u64::from(page)) as u32;
        size.max(span.range.end)
    }

    /// Makes all bytes of a locked page valid that its buffers hold, by reading the missing ones.
    pub(crate) fn fetch(
        &self,
        file: u32,
        locked: &LockedPage<'_>,
        store: &impl Store,
        needed: ByteRange,
    ) -> Result<(), Errno> {
        let page = locked.page;
        if page.valid.covers(needed) {
            return Ok(());
        }
        // Whoever else wants the page waits for the file now; a handler that came then might wait for them.
        let _masked = Masked::begin();
        let all = ByteRange::new(0, page.cap.load(Relaxed).min(self.segment.geometry().bytes()));
        let start = self.segment.geometry().start_of(millpond_model::PageIndex(page.index.load(Relaxed)));
        let stored = self.segment.file(file).stored_size.load(Relaxed);
        let valid = page.valid.load();
        let begun = page.begin_change();
        let result = valid.gaps(all).try_for_each(|gap| {
            let at = start + u64::from(gap.start);
            let there = stored.saturating_sub(at).min(u64::from(gap.len())) as u32;
            let got = if there == 0 {
                0
            } else {
                self.read_gap(page, ByteRange::new(gap.start, gap.start + there), store, at)?
            };
            let rest = ByteRange::new(gap.start + got, gap.end);
            self.pieces(page, rest, |at, _, len| {
                self.segment.zero(at, len);
                Ok(())
            })
        });
        if result.is_ok() {
            page.valid.store(&millpond_model::RangeSet::from_sorted([all]));
        }
        page.end_change(begun);
        result
    }

    fn read_gap(
        &self,
        page: &millpond_segment::Page,
        gap: ByteRange,
        store: &impl Store,
        offset: u64,
    ) -> Result<u32, Errno> {
        let mut parts = [IoPart::default(); millpond_segment::page::MAX_BUFFERS];
        let mut count = 0;
        let _ = self.pieces(page, gap, |at, _, len| {
            parts[count] = self.segment.part(at, len);
            count += 1;
            Ok::<(), ()>(())
        });
        read_whole(store, &mut parts[..count], offset).map(|n| n as u32)
    }

    /// Reads a span whose page is not in the pool straight from the file.
    fn read_through(
        &self,
        file: u32,
        store: &impl Store,
        span: Span,
        to: &impl UserMemory,
    ) -> Result<(), (usize, Failure)> {
        let at = self.segment.geometry().start_of(span.page) + u64::from(span.range.start);
        let stored = self.segment.file(file).stored_size.load(Relaxed);
        let there = stored.saturating_sub(at).min(u64::from(span.range.len())) as usize;
        let got = self.read_user(store, to, span.at, there, at)?;
        zero_user(to, span.at + got, span.range.len() as usize - got)
            .map_err(|f| (got + f.done, Failure::Fault))
    }

    fn read_user(
        &self,
        store: &impl Store,
        to: &impl UserMemory,
        at: usize,
        len: usize,
        offset: u64,
    ) -> Result<usize, (usize, Failure)> {
        let mut done = 0;
        to.parts(at, len, |part| {
            let got = read_whole(store, &mut [part], offset + done as u64)
                .map_err(|e| (done, Failure::Errno(e)))?;
            done += got;
            if got < part.len() {
                Err((done, Failure::Errno(Errno(0))))
            } else {
                Ok(())
            }
        })
        .or_else(|stop| if stop.1 == Failure::Errno(Errno(0)) { Ok(()) } else { Err(stop) })?;
        Ok(done)
    }

    /// Reads a span of a page that has dirty bytes and cannot be completed for want of buffers: the file's bytes first, the page's over them.
    fn read_around_dirty(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        span: Span,
        to: &impl UserMemory,
    ) -> Result<(), (usize, Failure)> {
        self.read_through(file, store, span, to)?;
        let Some(locked) = self.lock_page(who, file, span.page.0) else { return Ok(()) };
        for range in locked.page.valid.load().as_slice() {
            let part = range.intersect(span.range);
            if !part.is_empty() {
                let at = span.at + (part.start - span.range.start) as usize;
                self.pieces(locked.page, part, |from, within, len| {
                    self.segment.copy_out(from, to, at + within, len)
                })
                .map_err(|f| (f.done, Failure::Fault))?;
            }
        }
        Ok(())
    }
}

/// Reads until `parts` are full or the file ends; returns the bytes read.
fn read_whole(store: &impl Store, mut parts: &mut [IoPart], offset: u64) -> Result<usize, Errno> {
    let mut done = 0;
    while !parts.is_empty() {
        let mut n = store.read(parts, offset + done as u64)?;
        if n == 0 {
            break;
        }
        done += n;
        while let Some(first) = parts.first_mut() {
            if n < first.len() {
                *first = first.after(n);
                break;
            }
            n -= first.len();
            parts = &mut parts[1..];
        }
    }
    Ok(done)
}
