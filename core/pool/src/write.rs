//! The write path. A write never reads first, and never fails for want of memory: what finds no buffer goes through to the file.

use crate::pages::LockedPage;
use crate::{Caller, Failure, Pool, Store};
use millpond_model::{ByteRange, Span};
use millpond_segment::account::Escape;
use millpond_segment::stats::Reason;
use millpond_segment::sys::Masked;
use millpond_segment::{Errno, UserMemory};
use std::sync::atomic::{
    fence,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

/// Why a span could not be put into its page.
enum Refused {
    /// The program's memory was not there after so many bytes.
    Fault(usize),
    /// The page's sets of ranges are full.
    Ranges,
    /// No buffers.
    Room,
    /// This is a signal handler, and the write that it interrupted goes on with the buffers that it knows.
    Interrupting,
}

/// How an attempt at a write ended.
enum Once {
    /// So many bytes are written.
    Done(usize),
    /// A truncation came in between: to be written again.
    Overtaken,
}

impl Pool {
    /// Writes `from` at `offset` of `file`. Returns the number of bytes.
    ///
    /// # Errors
    /// When not even the first byte could be written.
    pub fn write(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        from: &impl UserMemory,
        offset: u64,
    ) -> Result<usize, Failure> {
        // A handler that came while a page is locked might wait for somebody who needs the page.
        let _masked = Masked::if_handlers();
        loop {
            match self.write_once(who, file, store, from, offset)? {
                Once::Done(done) => return Ok(done),
                Once::Overtaken => {}
            }
        }
    }

    /// Writes `from` at `offset`, unless a truncation comes in between.
    fn write_once(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        from: &impl UserMemory,
        offset: u64,
    ) -> Result<Once, Failure> {
        let f = self.segment.file(file);
        let mut epoch = f.epoch.load(SeqCst);
        if epoch & 1 == 1 {
            // A truncation is under way: after it.
            drop(f.lock.lock(who.me, &self.segment));
            epoch = f.epoch.load(SeqCst);
        }
        let (done, failure) = self.write_spans(who, file, store, from, offset, from.total());
        let end = offset + done as u64;
        let stands = if done > 0 && end > f.size.load(Relaxed) {
            self.raise_size(who, file, end, epoch)
        } else {
            fence(SeqCst);
            f.epoch.load(SeqCst) == epoch
        };
        // The pages may have been written and dropped before these bytes came into one: then the kernel does not have them.
        if f.direct.load(SeqCst) != 0 && store.writable() {
            self.flush(who, file, store)?;
        } else if !stands {
            return Ok(Once::Overtaken);
        }
        self.wrote(who, done, failure).map(Once::Done)
    }

    /// Makes the file at least `end` bytes long, unless a truncation has come since `epoch`. **size-under-lock**: the size changes only under the
    /// file's lock, so that it is never raised for bytes that a truncation has dropped.
    fn raise_size(&self, who: Caller, file: u32, end: u64, epoch: u32) -> bool {
        let f = self.segment.file(file);
        let _size = f.lock.lock(who.me, &self.segment);
        let stands = f.epoch.load(SeqCst) == epoch;
        if stands {
            f.size.fetch_max(end, Release);
        }
        stands
    }

    fn wrote(&self, who: Caller, done: usize, failure: Option<Failure>) -> Result<usize, Failure> {
        self.tally(who).wrote(done);
        match failure {
            Some(failure) if done == 0 => Err(failure),
            _ => Ok(done),
        }
    }

    /// Writes `from` at the end of `file`, if that does not reach beyond `limit`. Returns the number of bytes and the offset behind them.
    ///
    /// # Errors
    /// As [`Pool::write`], and [`Failure::Limit`]: where the end is, is known only under the lock of appends.
    pub fn append(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        from: &impl UserMemory,
        limit: u64,
    ) -> Result<(usize, u64), Failure> {
        let f = self.segment.file(file);
        let _masked = Masked::if_handlers();
        let _held = self.hold_appends(who, file);
        if f.direct.load(SeqCst) != 0 {
            self.meet_end(who, file, store);
        }
        let outer = f.reserved.load(Relaxed);
        let result = loop {
            let offset = f.size.load(Acquire).max(outer);
            if offset.saturating_add(from.total() as u64) > limit {
                break Err(Failure::Limit);
            }
            f.reserved.store(offset + from.total() as u64, Relaxed);
            match self.write_once(who, file, store, from, offset) {
                Ok(Once::Done(n)) => break Ok((n, offset + n as u64)),
                // The end is another one now.
                Ok(Once::Overtaken) => {}
                Err(failure) => break Err(failure),
            }
        };
        f.reserved.store(outer, Relaxed);
        result
    }

    /// The file turned direct after the caller had looked: others may have appended by the kernel, which alone knows the end. They hold the lock of
    /// appends, too.
    #[cold]
    fn meet_end(&self, who: Caller, file: u32, store: &impl Store) {
        let f = self.segment.file(file);
        if let Ok(stamp) = store.stamp() {
            let _size = f.lock.lock(who.me, &self.segment);
            f.stored_size.fetch_max(stamp.size, Relaxed);
            f.size.fetch_max(stamp.size, Release);
        }
    }

    fn write_spans(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        from: &impl UserMemory,
        offset: u64,
        len: usize,
    ) -> (usize, Option<Failure>) {
        let mut done = 0;
        while done < len {
            let span = self.segment.geometry().span(offset, len, done);
            match self.write_span(who, file, store, span, from) {
                Ok(()) => done += span.range.len() as usize,
                Err((n, failure)) => return (done + n, Some(failure)),
            }
        }
        (done, None)
    }

    #[inline(always)]
    fn write_span(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        span: Span,
        from: &impl UserMemory,
    ) -> Result<(), (usize, Failure)> {
        if let Some(locked) = self.lock_page(who, file, span.page.0) {
            let page = locked.page;
            if page.cap.load(Relaxed) >= span.range.end {
                match self.put(&locked, span, from) {
                    Ok(()) => {
                        self.tally(who).hits(1);
                        return Ok(());
                    }
                    Err(Refused::Fault(n)) => return Err((n, Failure::Fault)),
                    Err(_) => {}
                }
            }
        }
        self.write_missing(who, file, store, span, from)
    }

    #[cold]
    fn write_missing(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        span: Span,
        from: &impl UserMemory,
    ) -> Result<(), (usize, Failure)> {
        self.tally(who).miss();
        let (mut searches, mut flushed) = (0, false);
        loop {
            let cap = self.wanted_cap(file, span);
            let locked = self
                .lock_page(who, file, span.page.0)
                .or_else(|| self.create_page(who, file, span.page.0, cap));
            let refused = match &locked {
                None => Refused::Room,
                Some(locked) if locked.held.is_nested() && locked.page.cap.load(Relaxed) < span.range.end => {
                    Refused::Interrupting
                }
                Some(locked)
                    if !self.grow_page(who, locked, cap)
                        && locked.page.cap.load(Relaxed) < span.range.end =>
                {
                    Refused::Room
                }
                Some(locked) => match self.put(locked, span, from) {
                    Ok(()) => return Ok(()),
                    Err(refused) => refused,
                },
            };
            match refused {
                Refused::Fault(n) => return Err((n, Failure::Fault)),
                Refused::Interrupting => return self.write_through(who, file, store, span, from, locked),
                Refused::Room if searches == SEARCHES => {
                    return self.write_through(who, file, store, span, from, locked)
                }
                Refused::Room => {
                    drop(locked);
                    searches = if self.make_room(who, file, store) { searches + 1 } else { SEARCHES };
                }
                Refused::Ranges if flushed => {
                    return self.write_through(who, file, store, span, from, locked)
                }
                Refused::Ranges => {
                    drop(locked);
                    flushed = true;
                    if store.writable() {
                        self.flush_page(who, file, store, span.page.0).map_err(|e| (0, Failure::Errno(e)))?;
                        self.forget_clean(who, file, span.page.0);
                    }
                }
            }
        }
    }

    /// Puts a span into a locked page whose buffers reach far enough.
    #[inline]
    fn put(&self, locked: &LockedPage<'_>, span: Span, from: &impl UserMemory) -> Result<(), Refused> {
        let page = locked.page;
        let known = page.dirty.covers(span.range);
        if !known && !has_room(page, span.range) {
            return Err(Refused::Ranges);
        }
        let begun = page.begin_change();
        page.pending.store(span.range.to_word(), Relaxed);
        let changes = page.changes.load(Relaxed);
        let copied = self.pieces(page, span.range, |at, within, len| {
            self.segment.copy_in(at, from, span.at + within, len).map_err(|f| within + f.done)
        });
        let done = match copied {
            Ok(()) => span.range.len(),
            Err(n) => n as u32,
        };
        // What a signal handler did to the page meanwhile may have taken the bytes out of its ranges.
        let stands = known && page.changes.load(Relaxed) == changes;
        let marked =
            stands || done == 0 || mark(page, ByteRange::new(span.range.start, span.range.start + done));
        page.pending.store(0, Relaxed);
        page.end_change(begun);
        if !marked {
            return Err(Refused::Ranges);
        }
        if done > 0 {
            self.count_dirty(page);
        }
        if page.referenced.load(Relaxed) == 0 {
            page.referenced.store(1, Relaxed);
        }
        copied.map_err(Refused::Fault)
    }

    /// Drops the clean bytes of a page from its valid ranges, to make them fewer.
    fn forget_clean(&self, who: Caller, file: u32, index: u64) {
        if let Some(locked) = self.lock_page(who, file, index) {
            let begun = locked.page.begin_change();
            locked.page.valid.store(&locked.page.dirty.load());
            locked.page.end_change(begun);
        }
    }

    /// Writes a span straight to the file, taking its bytes out of the page if there is one.
    fn write_through(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        span: Span,
        from: &impl UserMemory,
        locked: Option<LockedPage<'_>>,
    ) -> Result<(), (usize, Failure)> {
        if !store.writable() {
            return Err((0, Failure::Errno(Errno(ENOSPC))));
        }
        let locked = locked.or_else(|| self.lock_page(who, file, span.page.0));
        // The page is held over the kernel's work.
        let _masked = Masked::begin();
        self.count_sync_down(who, Reason::PoolFull);
        self.count_escapes(who, Escape::PoolFull, 1);
        let at = self.segment.geometry().start_of(span.page) + u64::from(span.range.start);
        let known = self.stamp_holds(file, store);
        let mut done = 0;
        let outcome = from.parts(span.at, span.range.len() as usize, |mut part| {
            while part.len() > 0 {
                match store.write(&[part], at + done as u64) {
                    Ok(n) => {
                        done += n;
                        part = part.after(n);
                    }
                    Err(Errno(EFAULT)) => return Err(Failure::Fault),
                    Err(e) => return Err(Failure::Errno(e)),
                }
            }
            Ok(())
        });
        let written = ByteRange::new(span.range.start, span.range.start + done as u32);
        // A reader may have made the page meanwhile, with the bytes of before.
        let locked = locked.or_else(|| self.lock_page(who, file, span.page.0));
        if let Some(locked) = &locked {
            let begun = locked.page.begin_change();
            let (mut valid, mut dirty) = (locked.page.valid.load(), locked.page.dirty.load());
            // What cannot be cut out by ranges stays dirty with the new bytes, or goes when it is clean.
            if dirty.remove(written).is_ok() && valid.remove(written).is_ok() {
                locked.page.dirty.store(&dirty);
                locked.page.valid.store(&valid);
            } else {
                let _ = self.pieces(locked.page, written, |to, within, len| {
                    self.segment.copy_in(to, from, span.at + within, len)
                });
            }
            if locked.page.dirty.is_empty() {
                self.uncount_dirty(locked.page, file);
            }
            locked.page.end_change(begun);
        }
        let f = self.segment.file(file);
        f.stored_size.fetch_max(at + done as u64, Relaxed);
        self.account(who).bytes_through.fetch_add(done as u64, Relaxed);
        self.take_stamp(file, store, known);
        outcome.map_err(|failure| (done, failure))
    }
}

/// Whether the page's sets can take `range`. Asked before the copy, so that a refusal leaves the page as it was.
#[inline(never)]
fn has_room(page: &millpond_segment::Page, range: ByteRange) -> bool {
    let (mut valid, mut dirty) = (page.valid.load(), page.dirty.load());
    valid.insert(range).is_ok() && dirty.insert(range).is_ok()
}

/// Adds `range` to the valid and the dirty bytes; again, if a signal handler's write came in between.
#[inline(never)]
fn mark(page: &millpond_segment::Page, range: ByteRange) -> bool {
    loop {
        let changes = page.changes.load(Relaxed);
        let (mut valid, mut dirty) = (page.valid.load(), page.dirty.load());
        let fits = valid.insert(range).is_ok() && dirty.insert(range).is_ok();
        if fits {
            page.valid.store(&valid);
            page.dirty.store(&dirty);
        }
        std::sync::atomic::compiler_fence(SeqCst);
        if page.changes.load(Relaxed) == changes {
            return fits;
        }
    }
}

/// Searches for room before a write goes through: others may take what one has found.
const SEARCHES: u32 = 4;
const ENOSPC: i32 = 28;
const EFAULT: i32 = 14;
