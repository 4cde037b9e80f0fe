//! Errors and limits: bad pointers, sizes, counts, memory, programs that run, file systems that become read-only.

use millpond_tests::cases::Case;
use millpond_tests::shim_env::in_ci;
use std::time::Duration;

#[test]
fn bad_pointers_with_signals_blocked() {
    Case::new("blocked", "$BIN/blocked").program("blocked", include_str!("blocked.c"), &["-pthread"]).check();
}

#[test]
fn bad_pointers_beside_data() {
    Case::new("pointers", "$BIN/pointers; cat f")
        .program("pointers", include_str!("pointers.c"), &[])
        .check();
}

#[test]
fn several_append_up_to_a_limit() {
    Case::new("appenders", "$BIN/appenders").program("appenders", include_str!("appenders.c"), &[]).check();
}

/// The kernel at hand need not have quotas: a tracer refuses what would go beyond one.
#[test]
fn c36_quotas_are_told_and_nothing_is_lost() {
    let runs = Case::new("quota", include_str!("quota.sh"))
        .needs(&["strace"])
        .program("quota", include_str!("quota.c"), &[])
        .bound(Duration::from_secs(120))
        .check();
    for run in runs {
        assert!(run.status["totals"]["flush_errors"].as_u64() > Some(0), "no flush was refused: {run:?}");
    }
}

#[test]
fn programs_that_run_and_files_that_are_written() {
    Case::new("busy", include_str!("busy.sh")).needs(&["python3"]).bound(Duration::from_secs(120)).check();
}

#[test]
fn sizes_up_to_the_file_systems_own() {
    Case::new("sizes", "$BIN/sizes; rm f").program("sizes", include_str!("sizes.c"), &[]).check();
}

#[test]
fn no_memory_for_the_pool() {
    Case::new("memory", include_str!("memory.sh")).program("memory", include_str!("memory.c"), &[]).check();
}

#[test]
fn file_systems_that_become_read_only() {
    if !nix::unistd::geteuid().is_root() {
        assert!(!in_ci(), "file_systems_that_become_read_only: not root");
        return eprintln!("SKIPPED file_systems_that_become_read_only: not root");
    }
    Case::new("remount", include_str!("remount.sh")).needs(&["unshare", "mount"]).check();
}
