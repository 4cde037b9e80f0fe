//! libc's functions that write by system calls of their own.

use millpond_tests::cases::Case;
use std::time::Duration;

#[test]
fn messages_before_an_abort() {
    Case::new("last_words", include_str!("last_words.sh"))
        .program(
            "last_words",
            include_str!("last_words.c"),
            &["-O1", "-fstack-protector-all", "-rdynamic", "-no-pie"],
        )
        .bound(Duration::from_secs(120))
        .check();
}

#[test]
fn profiles_of_programs() {
    Case::new("profiled", include_str!("profiled.sh"))
        .needs(&["gprof"])
        .program("profiled", include_str!("profiled.c"), &["-pg", "-O0"])
        .check();
}
