//! Flushing: dirty ranges leave as few large vectored writes, in the order of the file as far as its list of pages has it: after a death the list
//! is made anew, in no order.
//!
//! Signals are held back as long as a flush has a file's flush lock: a handler that comes then may start whoever needs it.
//!
//! **clean-means-written**: a page becomes clean only if nothing changed it while it was being written. A flush that fails is latched in the file,
//! its bytes stay dirty, and a later flush tries again.

use crate::pages::LockedPage;
use crate::{Caller, Pool, Store, COORDINATOR};
use millpond_model::{ByteRange, PageIndex, RangeSet};
use millpond_segment::sys::{self, IoPart, Masked};
use millpond_segment::Errno;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// Pieces that one write call gathers. A flush may have to run on what is left of a stack of 16 KiB.
const PARTS: usize = 32;
/// Pages that one write call gathers.
const HELD: usize = 32;
/// Pages that one pass sorts: adjacent ones among them leave together.
const BATCH: usize = 128;

/// What a flush did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Bytes written to the file.
    pub bytes: u64,
    /// Write calls made.
    pub writes: u64,
}

/// A run of adjacent dirty bytes being gathered, with the pages that it comes from.
struct Run<'a> {
    who: Caller,
    parts: [IoPart; PARTS],
    count: usize,
    start: u64,
    end: u64,
    pages: [Option<(LockedPage<'a>, u32)>; HELD],
    held: usize,
}

impl Run<'_> {
    fn new(who: Caller) -> Self {
        Self {
            who,
            parts: [IoPart::default(); PARTS],
            count: 0,
            start: 0,
            end: 0,
            pages: [const { None }; HELD],
            held: 0,
        }
    }
}

impl Pool {
    /// Writes all dirty bytes of `file` through `store`. When it returns, what was dirty at the call is in the file, whoever wrote it there.
    ///
    /// # Errors
    /// The store's error, which is also latched in the file; the bytes that were not written stay dirty.
    pub fn flush(&self, who: Caller, file: u32, store: &impl Store) -> Result<Flushed, Errno> {
        let f = self.segment.file(file);
        if f.dirty_pages.load(SeqCst) == 0 && f.flush_lock.holder().is_none() {
            return Ok(Flushed::default());
        }
        self.under_flush_lock(who, file, || self.flush_locked(who, file, store))
    }

    /// Makes `attempt` under the file's flush lock, with signals held back, until no page is held up; in between, the lock is anybody's. The
    /// coordinator, which serves everybody, waits for nobody.
    ///
    /// # Errors
    /// What `attempt` returns; for the coordinator, `EBUSY` when a page is held up. That is latched nowhere.
    pub(crate) fn under_flush_lock<T>(
        &self,
        who: Caller,
        file: u32,
        mut attempt: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        loop {
            let outcome = {
                let _masked = Masked::begin();
                let _flusher = self.segment.file(file).flush_lock.lock(who.me, &self.segment);
                attempt()
            };
            match outcome {
                Err(HELD_UP) if who.client() == COORDINATOR => return Err(Errno(EBUSY)),
                // Long enough for somebody who waits for the lock to get it.
                Err(HELD_UP) => sys::sleep_ns(PAUSE_NS),
                other => return other,
            }
        }
    }

    /// As [`Pool::flush`], with a store that exists only under the file's flush lock: `open` makes it, and it is dropped before anybody who
    /// waited for this flush goes on. A descriptor opened for writing is then never met by a program that executes what it has just closed.
    ///
    /// # Errors
    /// What `open` returns, or the store's error; both are latched in the file.
    pub fn flush_by<S: Store>(
        &self,
        who: Caller,
        file: u32,
        durable: bool,
        open: impl Fn() -> Result<S, Errno>,
        then: impl Fn(&S) -> Result<(), Errno>,
    ) -> Result<Flushed, Errno> {
        self.under_flush_lock(who, file, || {
            if self.segment.file(file).dirty_pages.load(SeqCst) == 0 && !durable {
                return Ok(Flushed::default());
            }
            let store = open().inspect_err(|e| self.latch_error(who, file, *e))?;
            let flushed = self.flush_locked(who, file, &store)?;
            then(&store)?;
            Ok(flushed)
        })
    }

    /// As [`Pool::flush`], under the file's flush lock.
    pub(crate) fn flush_locked(&self, who: Caller, file: u32, store: &impl Store) -> Result<Flushed, Errno> {
        let mut flushed = Flushed::default();
        if self.segment.file(file).dirty_pages.load(SeqCst) == 0 {
            return Ok(flushed);
        }
        if !store.writable() {
            return Err(NO_WRITER);
        }
        let known = self.stamp_holds(file, store);
        let mut from = None;
        let mut slots = [0u32; BATCH];
        let result = loop {
            let (found, more) = self.walk(who, file, from, &mut slots, |page| !page.dirty.is_empty());
            let batch = &mut slots[..found];
            batch.sort_unstable_by_key(|&slot| self.segment.page(slot).index.load(Relaxed));
            match self.flush_batch(who, file, store, batch, &mut flushed) {
                Ok(()) if more.is_some() => from = more,
                result => break result,
            }
        };
        if flushed.writes > 0 && matches!(result, Ok(()) | Err(HELD_UP)) {
            self.take_stamp(file, store, known);
        }
        result.map(|()| flushed)
    }

    /// Writes the dirty bytes of one page.
    ///
    /// # Errors
    /// As [`Pool::flush`].
    pub(crate) fn flush_page(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        index: u64,
    ) -> Result<(), Errno> {
        self.under_flush_lock(who, file, || {
            let Some(slot) = self.segment.find_page(file, index) else { return Ok(()) };
            let known = self.stamp_holds(file, store);
            self.flush_batch(who, file, store, &[slot], &mut Flushed::default())?;
            self.take_stamp(file, store, known);
            Ok(())
        })
    }

    fn flush_batch(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        batch: &[u32],
        flushed: &mut Flushed,
    ) -> Result<(), Errno> {
        let mut run = Run::new(who);
        for &slot in batch {
            let Some(locked) = self.lock_slot_patiently(who, slot, file)? else { continue };
            let start = self.segment.geometry().start_of(PageIndex(locked.page.index.load(Relaxed)));
            let dirty = locked.page.dirty.load();
            let changes = locked.page.changes.load(Relaxed);
            let Some(first) = dirty.as_slice().first() else { continue };
            if run.held == HELD || run.count > 0 && start + u64::from(first.start) != run.end {
                self.finish(&mut run, file, store, flushed)?;
            }
            for &range in dirty.as_slice() {
                self.gather(&mut run, file, store, locked.page, start, range, flushed)?;
            }
            run.pages[run.held] = Some((locked, changes));
            run.held += 1;
        }
        self.finish(&mut run, file, store, flushed)
    }

    #[allow(clippy::too_many_arguments)]
    fn gather(
        &self,
        run: &mut Run<'_>,
        file: u32,
        store: &impl Store,
        page: &millpond_segment::Page,
        start: u64,
        range: ByteRange,
        flushed: &mut Flushed,
    ) -> Result<(), Errno> {
        self.pieces(page, range, |at, within, len| {
            let offset = start + u64::from(range.start) + within as u64;
            if run.count == PARTS || run.count > 0 && offset != run.end {
                self.issue(run, file, store, flushed)?;
            }
            if run.count == 0 {
                run.start = offset;
            }
            run.parts[run.count] = self.segment.part(at, len);
            run.count += 1;
            run.end = offset + len as u64;
            Ok(())
        })
    }

    /// Writes what is gathered; the pages stay locked.
    fn issue(
        &self,
        run: &mut Run<'_>,
        file: u32,
        store: &impl Store,
        flushed: &mut Flushed,
    ) -> Result<(), Errno> {
        let account = self.account(run.who);
        let mut parts = &mut run.parts[..run.count];
        run.count = 0;
        let mut at = run.start;
        while !parts.is_empty() {
            let mut n = store
                .write(parts, at)
                .and_then(|n| if n == 0 { Err(Errno(EIO)) } else { Ok(n) })
                .inspect_err(|e| {
                    self.latch_error(run.who, file, *e);
                })?;
            at += n as u64;
            flushed.writes += 1;
            flushed.bytes += n as u64;
            account.flush_writes.fetch_add(1, Relaxed);
            account.bytes_flushed.fetch_add(n as u64, Relaxed);
            self.segment.file(file).stored_size.fetch_max(at, Relaxed);
            while let Some(first) = parts.first_mut() {
                if n < first.len() {
                    *first = first.after(n);
                    break;
                }
                n -= first.len();
                parts = &mut parts[1..];
            }
        }
        Ok(())
    }

    /// Writes what is gathered, makes the pages clean and lets them go.
    fn finish(
        &self,
        run: &mut Run<'_>,
        file: u32,
        store: &impl Store,
        flushed: &mut Flushed,
    ) -> Result<(), Errno> {
        self.issue(run, file, store, flushed)?;
        for entry in &mut run.pages[..run.held] {
            if let Some((locked, changes)) = entry.take() {
                // Under an interrupted write, what is dirty includes bytes that are still to come.
                if locked.page.changes.load(Relaxed) == changes && !locked.held.is_nested() {
                    locked.page.dirty.store(&RangeSet::EMPTY);
                    self.uncount_dirty(locked.page, file);
                }
            }
        }
        run.held = 0;
        Ok(())
    }

    /// Notes in the file that a flush failed.
    pub(crate) fn latch_error(&self, who: Caller, file: u32, e: Errno) {
        let f = self.segment.file(file);
        f.error.store(e.0 as u32, Relaxed);
        f.errors.fetch_add(1, Release);
        self.account(who).flush_errors.fetch_add(1, Relaxed);
    }

    /// The error of a flush that failed since this description was last told, if it has written. It is told once.
    pub fn report_error(&self, description: u32) -> Option<Errno> {
        let d = self.segment.description(description);
        let f = self.segment.file(d.file.load(Relaxed));
        let errors = f.errors.load(Acquire);
        if errors == d.seen_errors.load(Relaxed) || !d.has(millpond_segment::description::flags::WROTE) {
            return None;
        }
        d.seen_errors.store(errors, Relaxed);
        Some(Errno(f.error.load(Relaxed) as i32))
    }

    /// Whether the real file is as the clean pages have it. Asked before a write of ours changes its stamp.
    pub(crate) fn stamp_holds(&self, file: u32, store: &impl Store) -> bool {
        store.stamp() == Ok(self.stamp_of(file).0)
    }

    /// Keeps the real file's stamp of now as the one that the clean pages stand for. If it was not `known` before our writes, somebody outside
    /// has changed the file: then the pages stand for nothing, and the next open or read at the end takes the file as it is.
    pub(crate) fn take_stamp(&self, file: u32, store: &impl Store, known: bool) {
        if let Ok(stamp) = store.stamp() {
            self.set_stamp(file, if known { stamp } else { millpond_model::Stamp { ctime: 0, ..stamp } });
        }
    }

    pub(crate) fn set_stamp(&self, file: u32, stamp: millpond_model::Stamp) {
        let f = self.segment.file(file);
        f.stamp_size.store(stamp.size, Relaxed);
        f.stamp_mtime.store(stamp.mtime as u64, Relaxed);
        f.stamp_ctime.store(stamp.ctime as u64, Relaxed);
        f.stamp_btime.store(stamp.btime as u64, Relaxed);
        f.stamp_taken.store(sys::realtime_ns() as u64, Relaxed);
    }

    pub(crate) fn stamp_of(&self, file: u32) -> (millpond_model::Stamp, i64) {
        let f = self.segment.file(file);
        let stamp = millpond_model::Stamp {
            size: f.stamp_size.load(Relaxed),
            mtime: f.stamp_mtime.load(Relaxed) as i64,
            ctime: f.stamp_ctime.load(Relaxed) as i64,
            btime: f.stamp_btime.load(Relaxed) as i64,
        };
        (stamp, f.stamp_taken.load(Relaxed) as i64)
    }
}

const EIO: i32 = 5;
const EBUSY: i32 = 16;
/// How long a flush that was held up waits before it comes again.
const PAUSE_NS: u64 = 5_000_000;

/// A flush that was asked of a store which cannot write. It is latched nowhere: whoever asked finds another writer.
pub const NO_WRITER: Errno = Errno(4095);

/// A page was not let go in time; no error of the file's.
pub(crate) const HELD_UP: Errno = Errno(4094);
