//! Stacks of the smallest size.

use millpond_tests::cases::Case;

#[test]
fn threads_of_the_smallest_stack() {
    Case::new("small_stacks", "$BIN/small_stacks")
        .program("small_stacks", include_str!("small_stacks.c"), &["-pthread"])
        .check();
}

#[test]
fn coroutines() {
    Case::new("coroutines", "$BIN/coroutines")
        .program("coroutines", include_str!("coroutines.c"), &[])
        .check();
}

#[test]
fn alternate_signal_stacks() {
    Case::new("altstack", "$BIN/altstack 16384; $BIN/altstack 32768")
        .program("altstack", include_str!("altstack.c"), &[])
        .check();
}
