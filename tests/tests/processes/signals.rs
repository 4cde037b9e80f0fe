//! Handlers that do I/O, leave it, and stop it.

use millpond_tests::cases::Case;

#[test]
fn handlers_use_the_files_that_they_interrupt() {
    Case::new("timer", "$BIN/timer; $BIN/timer alt").program("timer", include_str!("timer.c"), &[]).check();
}

#[test]
fn handlers_flush_what_is_being_rewritten() {
    Case::new("rewrites", "$BIN/rewrites").program("rewrites", include_str!("rewrites.c"), &[]).check();
}

#[test]
fn handlers_write_further_on_in_the_page() {
    Case::new("grows", "$BIN/grows").program("grows", include_str!("grows.c"), &[]).check();
}

#[test]
fn handlers_start_programs_that_use_the_file() {
    Case::new("commands", "$BIN/commands").program("commands", include_str!("commands.c"), &[]).check();
}

#[test]
fn handlers_leave_by_jumps() {
    Case::new("jump", "$BIN/jump").program("jump", include_str!("jump.c"), &[]).check();
}

#[test]
fn stopped_writers_hold_nobody_up() {
    Case::new("stopped", "$BIN/stopped").program("stopped", include_str!("stopped.c"), &[]).check();
}

#[test]
fn cancelled_threads_leave_the_others_alone() {
    Case::new("cancel", "$BIN/cancel 0; $BIN/cancel 1")
        .program("cancel", include_str!("cancel.c"), &["-pthread"])
        .check();
}
