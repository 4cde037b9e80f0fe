//! Who had what served, and what was left to the kernel and why: counted by process, kept by program.
//!
//! A process counts in its own slot, with no locked instruction on the path of a cached page. When it ends or execs, its counters move to the row of its program
//! and run. Rows are few; when they run out, runs that are over give theirs up to the programs' common ones, and what then finds no row is counted with
//! the others. **nothing-lost**: the sum over processes and rows is the sum of all that was counted.

use crate::{Caller, Flushed, Pool};
use millpond_segment::account::{Account, Escape};
use millpond_segment::client::Client;
use millpond_segment::program::{state, NAME_BYTES, OTHERS, PROGRAMS};
use millpond_segment::stats::{Reason, Stripe};
use millpond_segment::{sys, Held, Program, Run};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// Looks at the lock of the rows, a millisecond apart, before counters go to the others' row: its holder may be a stopped process.
const LOOKS: u32 = 50;
/// The coordinator's name as a program, also for what it wrote for a run's programs.
pub const COORDINATOR_NAME: &[u8] = b"(coordinator)";

impl Pool {
    /// Counts a call for which a file was written out and which was left to the kernel.
    pub fn count_sync_down(&self, who: Caller, reason: Reason) {
        self.account(who).sync_downs[reason as usize].fetch_add(1, Relaxed);
    }

    /// Counts a turn to direct mode: a sync-down, and when the reason is new for the file (`first`), one more file that is the kernel's.
    pub(crate) fn count_turn(&self, who: Caller, reason: Reason, first: bool) {
        self.count_sync_down(who, reason);
        if first {
            self.account(who).direct_files[reason as usize].fetch_add(1, Relaxed);
        }
    }

    /// Counts a read or write of a file that is the kernel's, by the first reason why it is.
    pub fn count_direct_call(&self, who: Caller, file: u32) {
        let bits = self.segment.file(file).direct.load(Relaxed);
        if let Some(count) = self.account(who).direct_calls.get(bits.trailing_zeros() as usize) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Counts something that the shim saw and cannot see into.
    pub fn count_escapes(&self, who: Caller, escape: Escape, times: u64) {
        self.account(who).escapes[escape as usize].fetch_add(times, Relaxed);
    }

    /// Takes one such count back.
    pub fn uncount_escape(&self, who: Caller, escape: Escape) {
        self.account(who).escapes[escape as usize].fetch_sub(1, Relaxed);
    }

    /// The caller's counters.
    pub(crate) fn account(&self, who: Caller) -> &Account {
        &self.segment.client(who.client()).account
    }

    /// Puts what the coordinator has just flushed of `file` to the run whose file it is.
    pub fn attribute_flush(&self, who: Caller, file: u32, flushed: Flushed, failed: bool) {
        let run = Run(self.segment.file(file).run.load(Relaxed));
        if run == Run::NONE || flushed.writes == 0 && !failed {
            return;
        }
        let Some(_held) = self.lock_programs(who) else { return };
        let moves = &self.segment.header().programs_moves;
        let (from, to) = (self.account(who), &self.program_of(run, COORDINATOR_NAME).sums.account);
        moves.fetch_add(1, SeqCst);
        for (pick, n) in [
            ((|a| &a.bytes_flushed) as fn(&Account) -> &AtomicU64, flushed.bytes),
            (|a| &a.flush_writes, flushed.writes),
            (|a| &a.flush_errors, u64::from(failed)),
        ] {
            pick(from).fetch_sub(n, Relaxed);
            pick(to).fetch_add(n, Relaxed);
        }
        moves.fetch_add(1, SeqCst);
    }

    /// The lock of the rows; `None` when it cannot be had within a bound.
    fn lock_programs(&self, who: Caller) -> Option<Held<'_>> {
        let lock = &self.segment.header().programs_lock;
        for look in 0..LOOKS {
            if look > 0 {
                sys::sleep_ns(1_000_000);
            }
            let dead = lock.holder().filter(|h| self.segment.client_is_dead(h.client()));
            let taken = lock
                .try_lock(who.me)
                .or_else(|| lock.take_from(millpond_segment::Whose::Client(dead?.client()), who.me));
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// Moves a client's counters, if there are any, to its program's row. With `carry`, they are kept for the process's own report, too.
    pub(crate) fn end_counters(&self, who: Caller, c: &Client, carry: bool) {
        if c.account.is_zero() && c.stripes.iter().all(Stripe::is_zero) {
            // Nothing to tell: such a process is counted nowhere.
            if !carry {
                c.carried.clear();
            }
            return;
        }
        let header = self.segment.header();
        let held = self.lock_programs(who);
        let row = match held {
            Some(_) => self.program_of(Run(c.run.load(Relaxed)), c.name.get(&mut [0; NAME_BYTES])),
            None => self.segment.program(OTHERS),
        };
        // What holds the lock is alone here; who could not have it may leave the count odd for a moment, which costs a reader another look.
        header.programs_moves.fetch_add(1, SeqCst);
        row.sums.take(&c.stripes, &c.account, carry.then_some(&c.carried));
        if !carry {
            row.processes.fetch_add(1, Relaxed);
            c.carried.clear();
        }
        header.programs_moves.fetch_add(1, SeqCst);
    }

    /// The process goes on as another program: what it has counted so far was its old one's.
    pub fn become_program(&self, who: Caller, name: &[u8], command: &[u8]) {
        let c = self.segment.client(who.client());
        self.end_counters(who, c, true);
        c.name.set(name);
        c.command.set(command);
    }

    fn rows(&self) -> impl Iterator<Item = &Program> {
        let top = self.segment.header().program_top.load(Acquire).min(PROGRAMS);
        (0..top).map(|i| self.segment.program(i)).filter(|p| p.state.load(Acquire) == state::LIVE)
    }

    /// The row of a program in a run; under the lock.
    fn program_of(&self, run: Run, name: &[u8]) -> &Program {
        let of =
            |run: Run, name: &[u8]| self.rows().find(|p| p.run.load(Relaxed) == run.0 && p.name.is(name));
        if let Some(row) = of(run, name).or_else(|| self.fresh_program(run, name)) {
            return row;
        }
        self.fold_runs_that_are_over();
        if let Some(row) = of(run, name).or_else(|| self.fresh_program(run, name)) {
            return row;
        }
        if run != Run::NONE {
            // A run's sum must be exact: its rows go before those that belong to none.
            if let Some(other) = self.rows().skip(1).find(|p| p.run.load(Relaxed) == 0) {
                self.fold(other, self.segment.program(OTHERS));
                if let Some(row) = self.fresh_program(run, name) {
                    return row;
                }
            }
            if let Some(own) = self.rows().find(|p| p.run.load(Relaxed) == run.0) {
                own.name.set(b"");
                return own;
            }
        }
        self.segment.program(OTHERS)
    }

    fn fresh_program(&self, run: Run, name: &[u8]) -> Option<&Program> {
        let index = (1..PROGRAMS).find(|&i| self.segment.program(i).state.load(Relaxed) == state::FREE)?;
        let row = self.segment.program(index);
        row.run.store(run.0, Relaxed);
        row.name.set(name);
        row.processes.store(0, Relaxed);
        row.sums.clear();
        row.state.store(state::LIVE, Release);
        self.segment.header().program_top.fetch_max(index + 1, Release);
        Some(row)
    }

    fn fold(&self, from: &Program, to: &Program) {
        let moves = &self.segment.header().programs_moves;
        moves.fetch_add(1, SeqCst);
        to.sums.absorb(&from.sums);
        to.processes.fetch_add(from.processes.swap(0, Relaxed), Relaxed);
        from.state.store(state::FREE, Release);
        moves.fetch_add(1, SeqCst);
    }

    fn fold_runs_that_are_over(&self) {
        for row in self.rows() {
            let run = Run(row.run.load(Relaxed));
            if run == Run::NONE || !run.is_over() {
                continue;
            }
            let mut buf = [0; NAME_BYTES];
            let name = row.name.get(&mut buf);
            match self.rows().find(|p| p.run.load(Relaxed) == 0 && p.name.is(name)) {
                Some(common) => self.fold(row, common),
                None => row.run.store(0, Relaxed),
            }
        }
    }

    /// Calls `add` with all counters that are kept: of each living client, and of each program's row. Again from the start (`restart`) when some were on
    /// their way meanwhile, a bounded number of times.
    pub(crate) fn for_counters(&self, mut restart: impl FnMut(), mut add: impl FnMut(Counted<'_>)) {
        let header = self.segment.header();
        for _ in 0..LOOKS {
            restart();
            let before = header.programs_moves.load(SeqCst);
            let top = header.client_top.load(Relaxed).min(self.segment.layout().sizes.clients);
            (0..top).for_each(|slot| add(Counted::Client(slot, self.segment.client(slot))));
            self.rows().for_each(|row| add(Counted::Program(row)));
            if before % 2 == 0 && header.programs_moves.load(SeqCst) == before {
                break;
            }
            sys::sleep_ns(100_000);
        }
    }

    /// What the process in client slot `slot` has counted, in all images that it has run.
    pub fn of_process(&self, slot: u32) -> ProcessSums<'_> {
        ProcessSums { client: self.segment.client(slot) }
    }
}

/// Counters that are kept somewhere.
pub(crate) enum Counted<'a> {
    /// Those of a client slot.
    Client(u32, &'a Client),
    /// Those of a program's row.
    Program(&'a Program),
}

impl Counted<'_> {
    pub(crate) fn run(&self) -> Run {
        Run(match self {
            Self::Client(_, c) => c.run.load(Relaxed),
            Self::Program(p) => p.run.load(Relaxed),
        })
    }
}

/// The counters of one process.
pub struct ProcessSums<'a> {
    client: &'a Client,
}

impl ProcessSums<'_> {
    /// Bytes read from and written into the pool.
    pub fn bytes(&self) -> (u64, u64) {
        let stripes = |pick: fn(&Stripe) -> &AtomicU64| {
            let own: u64 = self.client.stripes.iter().map(|s| pick(s).load(Relaxed)).sum();
            pick(&self.client.carried.hot).load(Relaxed) + own
        };
        (stripes(|s| &s.bytes_read), stripes(|s| &s.bytes_written))
    }

    /// Times that a call was handed to the kernel for this reason, files that became the kernel's, and calls on such files.
    pub fn by_reason(&self, reason: Reason) -> [u64; 3] {
        let (own, carried) = (&self.client.account, &self.client.carried.account);
        let i = reason as usize;
        [
            carried.sync_downs[i].load(Relaxed) + own.sync_downs[i].load(Relaxed),
            carried.direct_files[i].load(Relaxed) + own.direct_files[i].load(Relaxed),
            carried.direct_calls[i].load(Relaxed) + own.direct_calls[i].load(Relaxed),
        ]
    }

    /// Times that an escape was seen.
    pub fn escapes(&self, escape: Escape) -> u64 {
        let i = escape as usize;
        self.client.carried.account.escapes[i].load(Relaxed) + self.client.account.escapes[i].load(Relaxed)
    }
}
