//! Mappings beside reads and writes: a file is the kernel's while anybody has it mapped, and buffered again when the last mapping has gone.

use millpond_tests::cases::Case;

/// What the program of [`back_to_the_pool`] writes after its mappings have gone; all of it has to go through the pool.
const WRITTEN_AFTERWARDS: u64 = 14 << 20;

fn case(name: &'static str, script: &'static str, source: &'static str) -> Case {
    Case::new(name, script).program(name, source, &["-pthread"])
}

#[test]
fn back_to_the_pool() {
    case("back", "$BIN/back", include_str!("back.c")).least_bytes(WRITTEN_AFTERWARDS).check();
}

#[test]
fn while_a_mapping_lives_every_view_agrees() {
    case("during", "$BIN/during", include_str!("during.c")).check();
}

#[test]
fn mappings_that_come_and_go_lose_no_write_of_others() {
    // Most of it is the kernel's, and how much depends on the turns; the mode changes thousands of times.
    case("turns", "$BIN/turns", include_str!("turns.c")).direct("mappings come and go all the time").check();
}

#[test]
fn a_buffer_may_be_a_mapping_of_the_same_file() {
    case("itself", "$BIN/itself", include_str!("itself.c")).direct("mapped from the start").check();
}
