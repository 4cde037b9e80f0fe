//! Descriptors that are locked, passed on, or in a table of their own.

use millpond_tests::cases::Case;
use millpond_tests::shim_env::in_ci;

#[test]
fn locks_count_from_offset_and_end() {
    Case::new("locks", "$BIN/locks").program("locks", include_str!("locks.c"), &["-pthread"]).check();
}

#[test]
fn descriptors_that_are_passed() {
    Case::new("passed", "$BIN/passed; cat f").program("passed", include_str!("passed.c"), &[]).check();
}

#[test]
fn tables_that_threads_do_not_share() {
    Case::new("tables", "$BIN/tables; cat f g h")
        .program("tables", include_str!("tables.c"), &["-pthread"])
        .check();
}

/// What newer C libraries do for `posix_spawn`: a raw call with memory shared until the exec.
#[test]
fn c43_children_by_raw_clone() {
    Case::new("c43_clone", "$BIN/clones; cat f child* | sort | uniq -c")
        .program("clones", include_str!("clones.c"), &["-O1"])
        .check();
}

#[test]
fn forks_that_nobody_sees() {
    Case::new("unseen", "$BIN/unseen; rm t0 t1")
        .program("unseen", include_str!("unseen.c"), &["-pthread"])
        .check();
}

/// The dynamic linker preloads nothing into what a process runs that acts for another user.
#[test]
fn c51_programs_run_by_who_acts_for_another_user() {
    if !nix::unistd::geteuid().is_root() {
        assert!(!in_ci(), "c51_programs_run_by_who_acts_for_another_user: not root");
        return eprintln!("SKIPPED c51_programs_run_by_who_acts_for_another_user: not root");
    }
    Case::new("c51_acting", "$BIN/acting; cat f").program("acting", include_str!("acting.c"), &[]).check();
}
