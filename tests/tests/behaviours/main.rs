//! What suites of system call tests look at: calls with every argument that the kernel refuses, or takes in a way of its own. Each program is a matrix
//! of calls that prints what each gave and where that left the file; the output behind a coordinator must be the plain one, literally, and so must the files.
//! Of the large ones, each so-manieth cell is taken; `MATRIX_STRIDE=1` takes all.

use millpond_tests::cases::Case;
use std::time::Duration;

/// A matrix: the program `name` with `source`.
fn matrix(name: &'static str, script: &'static str, source: &'static str) -> Case {
    Case::new(name, script)
        .program(name, source, &["-O1", "-D_FILE_OFFSET_BITS=64", "-pthread"])
        .file("matrix.h", include_str!("matrix.h"))
        .bound(Duration::from_secs(120))
}

#[test]
fn pointers_good_bad_and_half_good() {
    matrix("pointers", "MATRIX_STRIDE=${MATRIX_STRIDE:-11} $BIN/pointers", include_str!("pointers.c"))
        .check();
}

#[test]
fn vectors_odd_in_number_place_and_length() {
    matrix("vectors", "$BIN/vectors", include_str!("vectors.c")).check();
}

#[test]
fn offsets_from_everywhere_to_everywhere() {
    matrix("offsets", "MATRIX_STRIDE=${MATRIX_STRIDE:-7} $BIN/offsets", include_str!("offsets.c")).check();
}

#[test]
fn descriptors_misused_copied_and_limited() {
    matrix("descriptors", "$BIN/descriptors", include_str!("descriptors.c")).check();
}

#[test]
fn sizes_cut_allocated_limited_and_advised() {
    // A limit on file size would hold for the output, too, if that were a file.
    matrix("sizes", "MATRIX_STRIDE=${MATRIX_STRIDE:-3} $BIN/sizes | cat", include_str!("sizes.c")).check();
}

#[test]
fn copies_inside_the_kernel() {
    matrix("copies", "MATRIX_STRIDE=${MATRIX_STRIDE:-7} $BIN/copies", include_str!("copies.c")).check();
}

#[test]
fn mappings_refused_cut_short_and_outliving() {
    matrix("mappings", "MATRIX_STRIDE=${MATRIX_STRIDE:-5} $BIN/mappings", include_str!("mappings.c")).check();
}

#[test]
fn opens_by_every_flag_name_and_handle() {
    matrix("opens", "MATRIX_STRIDE=${MATRIX_STRIDE:-3} $BIN/opens", include_str!("opens.c")).check();
}

#[test]
fn flags_changed_while_bytes_wait() {
    matrix("flags", "$BIN/flags", include_str!("flags.c")).check();
}

#[test]
fn attributes_set_while_bytes_wait() {
    matrix("attributes", "$BIN/attributes", include_str!("attributes.c")).check();
}

#[test]
fn locks_of_each_family_and_leases() {
    matrix("locks", "$BIN/locks", include_str!("locks.c")).check();
}

#[test]
fn times_of_access_are_set_by_reads_from_the_pool() {
    matrix("touched", "$BIN/touched", include_str!("touched.c")).check();
}

/// Kind: something of ours on standard error, where the program itself has limited what it may map.
#[test]
fn a_limit_on_address_space_goes_without_a_word() {
    let script =
        "echo before > file; (ulimit -v 40000; cat file; echo more >> file; cut -b1-3 file); cat file";
    Case::new("address_space", script).check();
}

#[test]
fn threads_cancelled_before_a_call() {
    matrix("cancelled", "$BIN/cancelled", include_str!("cancelled.c")).check();
}
