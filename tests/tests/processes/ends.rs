//! Ends of programs, from every corner.

use millpond_tests::cases::Case;

#[test]
fn last_writes() {
    Case::new("teardown", include_str!("teardown.sh"))
        .program("teardown", include_str!("teardown.c"), &["-pthread"])
        .check();
}

#[test]
fn globals_and_thread_locals() {
    let script = "g++ -O1 -o $BIN/globals $BIN/globals.cc -pthread
$BIN/globals; cat order o_* stream | tail -n 40; $BIN/globals x; outside cat order";
    Case::new("globals", script).needs(&["g++"]).file("globals.cc", include_str!("globals.cc")).check();
}

#[test]
fn libraries_that_come_and_go() {
    Case::new("plugins", include_str!("plugins.sh")).needs(&["gcc"]).check();
}
