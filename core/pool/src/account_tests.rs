//! Accounts: who ended, what its program's row says, and what happens when rows run out.

use crate::testing::pool;
use crate::{Caller, Claim, Pool, TotalsView};
use millpond_segment::account::Escape;
use millpond_segment::client::state;
use millpond_segment::program::PROGRAMS;
use millpond_segment::stats::Reason;
use millpond_segment::Run;
use proptest::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// A run whose process cannot be there.
const OVER: Run = Run(4_194_303 << 40 | 7);

fn start(pool: &Pool, name: &str, run: Run) -> Caller {
    let claim = Claim {
        process: millpond_segment::sys::Process::here(std::process::id()),
        start: 0,
        command: name.as_bytes(),
        name: name.as_bytes(),
        run,
        state: state::LIVE,
        parent: None,
    };
    Caller::new(pool.claim_client(claim).expect("a client slot"), 0)
}

/// A process that reads `bytes` and is gone.
fn came_and_went(pool: &Pool, name: &str, run: Run, bytes: u64) {
    let who = start(pool, name, run);
    pool.segment().client(who.client()).stripes[0].bytes_read.fetch_add(bytes, Relaxed);
    pool.release_client(who, who.client());
}

fn bytes_of(pool: &Pool, run: Option<Run>, name: &str) -> Option<u64> {
    pool.view_programs(run).into_iter().find(|p| p.name == name).map(|p| p.counts.bytes_read)
}

#[test]
fn counters_are_told_by_program_and_by_run() {
    let pool = pool(4096, &[(4096, 4)]);
    let run = Run::here();
    came_and_went(&pool, "cat", run, 5);
    came_and_went(&pool, "cat", Run::NONE, 7);
    let who = start(&pool, "dd", run);
    pool.count_sync_down(who, Reason::Mapping);
    pool.count_escapes(who, Escape::Ring, 2);
    assert_eq!((bytes_of(&pool, Some(run), "cat"), bytes_of(&pool, None, "cat")), (Some(5), Some(12)));
    let of_run = pool.view_totals(Some(run));
    assert_eq!(
        (of_run.bytes_read, of_run.sync_downs, of_run.escapes),
        (5, vec![("mmap", 1)], vec![("io_uring", 2)])
    );
    assert_eq!(pool.view_totals(None).bytes_read, 12);
    let programs = pool.view_programs(Some(run));
    let counts: Vec<_> = programs.iter().map(|p| (p.name.as_str(), p.living, p.ended)).collect();
    assert_eq!(counts, [("cat", 0, 1), ("dd", 1, 0)]);
}

#[test]
fn a_process_that_becomes_another_program_carries_its_counts_on() {
    let pool = pool(4096, &[(4096, 4)]);
    let who = start(&pool, "sh", Run::NONE);
    pool.count_escapes(who, Escape::ExecGo, 1);
    pool.become_program(who, b"cat", b"cat file");
    pool.segment().client(who.client()).stripes[3].bytes_written.store(9, Relaxed);
    let sums = pool.of_process(who.client());
    assert_eq!((sums.bytes(), sums.escapes(Escape::ExecGo)), ((0, 9), 1));
    let view = pool.view();
    assert_eq!(
        (view.clients[0].name.as_str(), view.clients[0].counts.escapes.as_slice()),
        ("cat", &[("exec_go", 1)][..])
    );
    let names: Vec<_> = view.programs.iter().map(|p| (p.name.as_str(), p.counts.bytes_written)).collect();
    assert_eq!(names, [("cat", 9), ("sh", 0)]);
    // Counted once, whatever is carried.
    assert_eq!((view.totals.escapes, view.totals.bytes_written), (vec![("exec_go", 1)], 9));
    pool.release_client(who, who.client());
    assert_eq!(pool.of_process(who.client()).escapes(Escape::ExecGo), 0);
    assert_eq!(pool.view_totals(None).escapes, [("exec_go", 1)]);
}

#[test]
fn what_finds_no_row_is_with_the_others_and_a_run_stays_exact() {
    let pool = pool(4096, &[(4096, 4)]);
    let many = u64::from(PROGRAMS) + 40;
    (0..many).for_each(|i| came_and_went(&pool, &format!("p{i}"), Run::NONE, 1));
    assert_eq!(bytes_of(&pool, None, ""), Some(41));
    let run = Run::here();
    (0..many).for_each(|i| came_and_went(&pool, &format!("p{i}"), run, 1));
    assert_eq!(pool.view_totals(Some(run)).bytes_read, many);
    assert_eq!(pool.view_totals(None).bytes_read, 2 * many);
    assert!(bytes_of(&pool, Some(run), "").is_some(), "a run with more programs than rows has others, too");
}

#[test]
fn runs_that_are_over_make_room() {
    let pool = pool(4096, &[(4096, 4)]);
    came_and_went(&pool, "cat", Run::NONE, 1);
    (0..u64::from(PROGRAMS) - 2).for_each(|i| came_and_went(&pool, &format!("p{i}"), OVER, 1));
    came_and_went(&pool, "p7", Run::NONE, 1);
    assert_eq!((bytes_of(&pool, None, "p7"), bytes_of(&pool, None, "")), (Some(2), None));
    assert_eq!(pool.view_totals(Some(OVER)), TotalsView::default());
    assert_eq!(pool.view_totals(None).bytes_read, u64::from(PROGRAMS));
}

#[test]
fn a_flush_by_the_coordinator_is_the_runs() {
    let pool = pool(4096, &[(4096, 4)]);
    let coordinator = Caller::new(0, 1);
    let run = Run::here();
    pool.segment().file(3).run.store(run.0, Relaxed);
    pool.account(coordinator).bytes_flushed.store(100, Relaxed);
    pool.account(coordinator).flush_writes.store(10, Relaxed);
    pool.attribute_flush(coordinator, 3, crate::Flushed { bytes: 60, writes: 4 }, true);
    pool.account(coordinator).flush_errors.fetch_add(1, Relaxed);
    let view = pool.view_totals(Some(run));
    assert_eq!((view.bytes_flushed, view.flush_writes, view.flush_errors), (60, 4, 1));
    pool.segment().header().client_top.fetch_max(1, Relaxed);
    assert_eq!(pool.view_totals(None).bytes_flushed, 100);
}

#[test]
fn a_lock_that_a_stopped_process_holds_is_not_waited_for() {
    let pool = pool(4096, &[(4096, 4)]);
    let holder = start(&pool, "stopped", Run::NONE);
    let held = pool.segment().header().programs_lock.lock(holder.me, pool.segment());
    came_and_went(&pool, "cat", Run::NONE, 3);
    drop(held);
    assert_eq!((bytes_of(&pool, None, "cat"), bytes_of(&pool, None, "")), (None, Some(3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost(ends in prop::collection::vec((0u32..400, 0u8..4, 1u64..100), 1..600)) {
        let pool = pool(4096, &[(4096, 4)]);
        let runs = [Run::NONE, Run::here(), OVER, Run(OVER.0 + 1)];
        for &(name, run, bytes) in &ends {
            came_and_went(&pool, &format!("p{name}"), runs[usize::from(run)], bytes);
        }
        prop_assert_eq!(pool.view_totals(None).bytes_read, ends.iter().map(|e| e.2).sum::<u64>());
        let of_run = ends.iter().filter(|e| e.1 == 1).map(|e| e.2).sum::<u64>();
        prop_assert_eq!(pool.view_totals(Some(Run::here())).bytes_read, of_run);
        let by_program: u64 = pool.view_programs(None).iter().map(|p| p.counts.bytes_read).sum();
        prop_assert_eq!(by_program, pool.view_totals(None).bytes_read);
    }
}
