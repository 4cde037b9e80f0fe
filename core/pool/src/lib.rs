//! The buffer pool over a segment: files, pages, open file descriptions, and the paths that read, write and flush them.
//!
//! Everything here is synchronous and is linked by the shim and by the coordinator alike: a hit of data or of metadata needs nobody else. The real
//! file is reached through a [`Store`], so that faults can be injected.
//!
//! Order of locks: a file's `append_lock`, its `flush_lock`, its `lock`, page locks in ascending order of pages, then one leaf lock (a bucket, a file's list of
//! pages, a free list) at a time. Room is made with no page lock held but by trying.
#![forbid(unsafe_code)]

mod accounts;
mod buffers;
mod clients;
mod counts;
mod descriptions;
mod direct;
mod files;
mod flush;
mod idle;
mod inspect;
mod pages;
mod read;
mod recovery;
mod room;
mod size;
mod store;
mod watches;
mod write;

pub use accounts::{ProcessSums, COORDINATOR_NAME};
pub use clients::{Claim, FIRST_PIN};
pub use counts::{Named, ProgramView, TotalsView};
pub use direct::DirectWrite;
pub use files::Opened;
pub use flush::{Flushed, NO_WRITER};
pub use inspect::{ClientView, FileView, PoolView, SlabView};
pub use millpond_segment as segment;
pub use recovery::Recovered;
pub use store::{noappend_supported, FdStore, Store};
pub use watches::Watched;

use millpond_segment::stats;
use millpond_segment::{Errno, Holder, Segment};

/// Who calls: a thread of a client.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The holder that its locks name.
    pub me: Holder,
}

impl Caller {
    /// Thread `thread` of client slot `client`.
    pub fn new(client: u32, thread: u32) -> Self {
        Self { me: Holder::new(client, thread) }
    }

    /// The client slot.
    pub fn client(self) -> u32 {
        self.me.client()
    }
}

/// The coordinator's client slot.
pub(crate) const COORDINATOR: u32 = 0;

/// Why an operation did not happen, or ended before its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program's memory was not there.
    Fault,
    /// The store said no.
    Errno(Errno),
    /// The bytes would reach beyond what the caller may write.
    Limit,
}

impl From<Errno> for Failure {
    fn from(e: Errno) -> Self {
        Self::Errno(e)
    }
}

/// The pool, as one process sees it.
pub struct Pool {
    segment: Segment,
}

impl Pool {
    /// The pool in `segment`.
    pub fn new(segment: Segment) -> Self {
        Self { segment }
    }

    /// The segment.
    #[inline]
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The calling thread's stripe of counters.
    #[inline]
    fn tally(&self, who: Caller) -> Tally<'_> {
        let stripe = (who.me.thread() as usize).min(stats::STRIPES - 1);
        Tally {
            stripe: &self.segment.client(who.client()).stripes[stripe],
            shared: stripe == stats::STRIPES - 1,
        }
    }
}

/// A stripe of counters, and whether several threads add to it.
struct Tally<'a> {
    stripe: &'a stats::Stripe,
    shared: bool,
}

impl Tally<'_> {
    /// Counts spans of pages that were served at once.
    #[inline]
    fn hits(&self, n: u64) {
        stats::add(&self.stripe.page_hits, n, self.shared);
    }

    /// Counts a span of a page for which something had to be fetched or made.
    fn miss(&self) {
        stats::add(&self.stripe.page_misses, 1, self.shared);
    }

    /// Counts bytes served.
    #[inline]
    fn read(&self, n: usize) {
        stats::add(&self.stripe.bytes_read, n as u64, self.shared);
    }

    /// Counts bytes taken.
    #[inline]
    fn wrote(&self, n: usize) {
        stats::add(&self.stripe.bytes_written, n as u64, self.shared);
    }
}

#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod direct_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
