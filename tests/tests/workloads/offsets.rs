//! One offset that several move.

use millpond_tests::cases::Case;

/// Threads and processes that read and write through one description have places of their own, from the pool and from the kernel.
#[test]
fn each_call_has_a_place_of_its_own() {
    Case::new("shared_offset", "$BIN/shared_offset; for i in 1 2 3 4 5; do $BIN/shared_offset direct; done")
        .program("shared_offset", include_str!("shared_offset.c"), &["-pthread"])
        .check();
}

/// Long lists of pieces, which the pool takes in several steps, too.
#[test]
fn each_vectored_call_has_a_place_of_its_own() {
    Case::new("shared_vectors", "for i in 1 2 3; do $BIN/shared_vectors; $BIN/shared_vectors direct; done")
        .program("shared_vectors", include_str!("shared_offset.c"), &["-pthread", "-DVECTORS"])
        .check();
}
