//! Errors and limits: bad pointers, sizes, counts, descriptors.

use millpond_tests::cases::Case;

#[test]
fn bad_pointers_with_signals_blocked() {
    Case::new("blocked", "$BIN/blocked").program("blocked", include_str!("blocked.c"), &["-pthread"]).check();
}
