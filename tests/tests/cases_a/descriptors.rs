//! Descriptors: duplicates, inheritance, death without close, close-all loops and closed standard streams.

use millpond_tests::cases::Case;

#[test]
fn c01_duplicates_share_an_offset() {
    Case::new("c01", "$BIN/c01").program("c01", include_str!("c01.c"), &[]).check();
}

#[test]
fn c01_shell_redirections() {
    Case::new("c01_shell", include_str!("c01_shell.sh")).check();
}
