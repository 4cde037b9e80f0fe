//! Views of the accounts: of one process, of each program, of a run, of all.

use crate::accounts::Counted;
use crate::Pool;
use millpond_segment::account::{Account, Escape, ESCAPES};
use millpond_segment::client::state;
use millpond_segment::program::NAME_BYTES;
use millpond_segment::stats::{Reason, Stripe, REASONS};
use millpond_segment::Run;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Counts by name, those that are not zero.
pub type Named = Vec<(&'static str, u64)>;

/// What was counted, by one process or by many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TotalsView {
    /// Files that were buffered.
    pub files_buffered: u64,
    /// Bytes served from the pool.
    pub bytes_read: u64,
    /// Bytes taken into the pool.
    pub bytes_written: u64,
    /// Bytes written to real files by flushes.
    pub bytes_flushed: u64,
    /// Write calls made by flushes.
    pub flush_writes: u64,
    /// Flushes that failed.
    pub flush_errors: u64,
    /// Spans served at once.
    pub page_hits: u64,
    /// Spans that had to wait for something.
    pub page_misses: u64,
    /// Bytes that went through for want of buffers.
    pub bytes_through: u64,
    /// Clean pages dropped to make room.
    pub pages_evicted: u64,
    /// Files written out and calls on them handed to the kernel, by reason.
    pub sync_downs: Named,
    /// Files that became the kernel's, by reason.
    pub direct_files: Named,
    /// Reads and writes of files that are the kernel's, by reason.
    pub direct_calls: Named,
    /// What was seen to be out of sight, by kind.
    pub escapes: Named,
}

/// One program: all processes of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramView {
    /// Its name; empty for all that found no row of their own.
    pub name: String,
    /// Processes that run and have counted something.
    pub living: u64,
    /// Processes that have ended and had counted something.
    pub ended: u64,
    /// What they counted.
    pub counts: TotalsView,
}

/// Sums on the way to a view.
struct Adder {
    plain: [u64; 10],
    sync_downs: [u64; REASONS],
    direct_files: [u64; REASONS],
    direct_calls: [u64; REASONS],
    escapes: [u64; ESCAPES],
}

impl Adder {
    fn new() -> Self {
        Self {
            plain: [0; 10],
            sync_downs: [0; REASONS],
            direct_files: [0; REASONS],
            direct_calls: [0; REASONS],
            escapes: [0; ESCAPES],
        }
    }

    fn stripes(&mut self, stripes: &[Stripe]) {
        for stripe in stripes {
            add_all(&mut self.plain[..4], stripe.words());
        }
    }

    fn account(&mut self, a: &Account) {
        let plain = [
            &a.files_buffered,
            &a.bytes_flushed,
            &a.flush_writes,
            &a.flush_errors,
            &a.bytes_through,
            &a.pages_evicted,
        ];
        add_all(&mut self.plain[4..], plain);
        add_all(&mut self.sync_downs, &a.sync_downs);
        add_all(&mut self.direct_files, &a.direct_files);
        add_all(&mut self.direct_calls, &a.direct_calls);
        add_all(&mut self.escapes, &a.escapes);
    }

    fn view(&self) -> TotalsView {
        let [bytes_read, bytes_written, page_hits, page_misses, files_buffered, bytes_flushed, flush_writes, flush_errors, bytes_through, pages_evicted] =
            self.plain;
        TotalsView {
            files_buffered,
            bytes_read,
            bytes_written,
            bytes_flushed,
            flush_writes,
            flush_errors,
            page_hits,
            page_misses,
            bytes_through,
            pages_evicted,
            sync_downs: named(Reason::ALL.iter().map(|r| r.name()), &self.sync_downs),
            direct_files: named(Reason::ALL.iter().map(|r| r.name()), &self.direct_files),
            direct_calls: named(Reason::ALL.iter().map(|r| r.name()), &self.direct_calls),
            escapes: named(Escape::ALL.iter().map(|e| e.name()), &self.escapes),
        }
    }
}

fn add_all<'a>(to: &mut [u64], from: impl IntoIterator<Item = &'a AtomicU64>) {
    to.iter_mut().zip(from).for_each(|(sum, n)| *sum += n.load(Relaxed));
}

fn named(names: impl Iterator<Item = &'static str>, counts: &[u64]) -> Named {
    names.zip(counts.iter().copied()).filter(|(_, n)| *n > 0).collect()
}

impl Pool {
    /// What all programs counted, or those of one run.
    pub fn view_totals(&self, run: Option<Run>) -> TotalsView {
        let sum = RefCell::new(Adder::new());
        self.for_counters(
            || *sum.borrow_mut() = Adder::new(),
            |counted| {
                let mut sum = sum.borrow_mut();
                if run.is_some_and(|run| counted.run() != run) {
                    return;
                }
                match counted {
                    Counted::Client(_, c) => {
                        sum.stripes(&c.stripes);
                        sum.account(&c.account);
                    }
                    Counted::Program(p) => {
                        sum.stripes(std::slice::from_ref(&p.sums.hot));
                        sum.account(&p.sums.account);
                    }
                }
            },
        );
        sum.into_inner().view()
    }

    /// What each program counted, in all runs or in one.
    pub fn view_programs(&self, run: Option<Run>) -> Vec<ProgramView> {
        let sums = RefCell::new(BTreeMap::<String, (Adder, u64, u64)>::new());
        self.for_counters(
            || sums.borrow_mut().clear(),
            |counted| {
                if run.is_some_and(|run| counted.run() != run) {
                    return;
                }
                let mut sums = sums.borrow_mut();
                let mut buf = [0; NAME_BYTES];
                match counted {
                    Counted::Client(slot, c) => {
                        let free = matches!(c.state.load(Acquire), state::FREE | state::CLAIMED);
                        let idle = c.account.is_zero() && c.stripes.iter().all(Stripe::is_zero);
                        let name = String::from_utf8_lossy(c.name.get(&mut buf)).into_owned();
                        if free || idle {
                            return;
                        }
                        let (sum, living, _) = sums.entry(name).or_insert_with(|| (Adder::new(), 0, 0));
                        sum.stripes(&c.stripes);
                        sum.account(&c.account);
                        *living += u64::from(slot != 0);
                    }
                    Counted::Program(p) => {
                        let name = String::from_utf8_lossy(p.name.get(&mut buf)).into_owned();
                        let (sum, _, ended) = sums.entry(name).or_insert_with(|| (Adder::new(), 0, 0));
                        sum.stripes(std::slice::from_ref(&p.sums.hot));
                        sum.account(&p.sums.account);
                        *ended += p.processes.load(Relaxed);
                    }
                }
            },
        );
        let views = sums.into_inner().into_iter().map(|(name, (sum, living, ended))| ProgramView {
            name,
            living,
            ended,
            counts: sum.view(),
        });
        views.filter(|p| p.counts != TotalsView::default()).collect()
    }

    /// What the process in a client slot has counted.
    pub(crate) fn view_process(&self, slot: u32) -> TotalsView {
        let c = self.segment.client(slot);
        let mut sum = Adder::new();
        sum.stripes(&c.stripes);
        sum.account(&c.account);
        sum.stripes(std::slice::from_ref(&c.carried.hot));
        sum.account(&c.carried.account);
        sum.view()
    }
}
