//! Processes that change what they may do in mid-life: restricted calls, another root.

use millpond_tests::cases::Case;

/// A filter that kills at the first call that the program does not make itself, in the process, its children and what they execute.
#[test]
fn restricted_processes_make_no_call_of_ours() {
    Case::new("restricted", "echo before > f; $BIN/restricted; cat f g h")
        .program("restricted", include_str!("restricted.c"), &[])
        .check();
}

/// Where the library is out of reach, nobody is told of it, and descriptors, bytes and offsets go on.
#[test]
fn another_root_without_the_library() {
    Case::new("another_root", include_str!("another_root.sh"))
        .needs(&["chroot", "unshare"])
        .program("chrooted", include_str!("chrooted.c"), &[])
        .check();
}

/// The kernel writes structures to any address, aligned or not.
#[test]
fn structures_that_are_not_aligned() {
    Case::new("unaligned", "$BIN/unaligned").program("unaligned", include_str!("unaligned.c"), &[]).check();
}
