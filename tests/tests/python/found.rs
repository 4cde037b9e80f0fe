//! What the suite has found, each kind as a small program.

use millpond_tests::cases::Case;

#[test]
fn a_program_that_counts_its_descriptors_does_not_meet_the_shims() {
    let program = include_str!("descriptors.c");
    Case::new("python_descriptors", "$BIN/descriptors").program("descriptors", program, &[]).check();
}

#[test]
fn a_program_has_all_the_descriptors_that_its_limit_allows() {
    Case::new("python_limits", "$BIN/limits").program("limits", include_str!("limits.c"), &[]).check();
}
