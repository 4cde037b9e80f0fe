//! The many names of one operation: 64-bit and fortified symbols, libc's own calls, and calls that move bytes in the kernel.

use std::time::Duration;

use millpond_tests::cases::Case;

#[test]
fn c04_64_bit_symbols() {
    Case::new("c04", include_str!("c04.sh"))
        .needs(&["python3"])
        .program("c04_plain", include_str!("c04.c"), &["-U_FILE_OFFSET_BITS", "-D_LARGEFILE_SOURCE"])
        .program("c04_large", include_str!("c04.c"), &["-D_FILE_OFFSET_BITS=64"])
        .file("c04.py", include_str!("c04.py"))
        .check();
}

#[test]
fn c05_fortified_symbols() {
    let fortified = &["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"];
    Case::new("c05", include_str!("c05.sh"))
        .needs(&["tar", "gzip", "nm"])
        .program("c05_plain", include_str!("c05.c"), &["-O0", "-U_FORTIFY_SOURCE"])
        .program("c05_fortified", include_str!("c05.c"), fortified)
        .check();
}

#[test]
fn c06_streams_and_internal_calls() {
    Case::new("c06", include_str!("c06.sh")).program("c06", include_str!("c06.c"), &[]).check();
}

#[test]
fn c07_copy_file_range() {
    Case::new("c07", include_str!("c07.sh")).program("c07", include_str!("c07.c"), &[]).check();
}

#[test]
fn c08_sendfile_and_splice() {
    Case::new("c08", include_str!("c08.sh"))
        .needs(&["python3"])
        .program("c08", include_str!("c08.c"), &[])
        .check();
}

#[test]
fn c09_mapping_coherence() {
    Case::new("c09", "$BIN/c09").program("c09", include_str!("c09.c"), &[]).check();
}

#[test]
fn c09_tools_that_map() {
    Case::new("c09_tools", include_str!("c09_tools.sh"))
        .needs(&["git", "gcc", "ld", "objdump", "sqlite3", "diff"])
        .disk_only()
        .bound(Duration::from_secs(120))
        .check();
}

/// A filter that kills at the first call it does not know: ours included.
#[test]
fn processes_that_lock_themselves_in() {
    Case::new("seccomp", "$BIN/seccomp; echo $?; cat f")
        .program("seccomp", include_str!("seccomp.c"), &[])
        .check();
}

/// What such a process has open is the kernel's for as long as its children have it, who find their slots without a call of ours.
#[test]
fn children_of_processes_that_lock_themselves_in() {
    Case::new("locked", "$BIN/locked; sleep 1; $BIN/locked read")
        .program("locked", include_str!("locked.c"), &[])
        .check();
}

/// A truncating open by any name takes what waits in the pool with it.
#[test]
fn opens_by_other_names_truncate() {
    Case::new("other_opens", "$BIN/other_opens; wc -c f")
        .program("other_opens", include_str!("other_opens.c"), &[])
        .check();
}
