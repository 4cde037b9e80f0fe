//! What is around a program: namespaces, other roots and users, other preloads, tracers, other C libraries.

use std::time::Duration;

use millpond_tests::cases::Case;

#[test]
fn namespaces_of_processes() {
    Case::new("namespaces", include_str!("namespaces.sh")).needs(&["unshare", "bwrap"]).check();
}

#[test]
fn other_roots_and_users() {
    Case::new("roots", include_str!("roots.sh")).needs(&["python3", "unshare", "setpriv"]).check();
}

#[test]
fn nested_preloads() {
    let needs = ["stdbuf", "fakeroot-sysv", "fakeroot-tcp", "eatmydata", "faketime"];
    Case::new("nested", include_str!("nested.sh")).needs(&needs).bound(Duration::from_secs(180)).check();
}

#[test]
fn sanitized_and_static_pie() {
    Case::new("sanitizers", include_str!("sanitizers.sh")).needs(&["gcc", "setarch"]).check();
}

#[test]
fn under_tracers() {
    Case::new("valgrind", include_str!("valgrind.sh"))
        .needs(&["gcc", "valgrind", "gdb", "strace", "ltrace"])
        .bound(Duration::from_secs(240))
        .disk_only()
        .check();
}

#[test]
fn programs_that_cannot_be_preloaded() {
    Case::new("order", include_str!("order.sh")).needs(&["setcap"]).check();
}

#[test]
fn a_program_with_names_of_libc() {
    Case::new("own_symbols", "$BIN/own_symbols; cat f s")
        .program("own_symbols", include_str!("own_symbols.c"), &["-rdynamic", "-ldl"])
        .check();
}

#[test]
fn programs_of_another_c_library() {
    Case::new("musl", include_str!("musl.sh"))
        .file("writer.c", include_str!("writer.c"))
        .needs(&["musl-gcc"])
        .check();
}
