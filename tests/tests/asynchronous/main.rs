//! Asynchronous calls on files with bytes that are not in them yet: rings, libaio, POSIX.

use std::time::Duration;

use millpond_tests::cases::Case;

#[test]
fn rings_by_liburing() {
    let runs = Case::new("ring", "$BIN/ring; for f in *; do echo $f; outside cat $f; done")
        .program("ring", include_str!("ring.c"), &["-luring"])
        .needs(&["header:liburing.h"])
        .check();
    for run in runs {
        assert!(run.sync_downs().iter().any(|reason| reason == "io_uring"), "{run:?}");
    }
}

#[test]
fn requests_by_libaio() {
    let runs = Case::new("libaio", "$BIN/native; for f in *; do echo $f; outside cat $f | tr -d '\\0'; done")
        .program("native", include_str!("native.c"), &["-laio"])
        .needs(&["header:libaio.h"])
        .check();
    for run in runs {
        assert!(run.sync_downs().iter().any(|reason| reason == "aio"), "{run:?}");
    }
}

#[test]
fn requests_by_posix_aio() {
    Case::new("posix_aio", "$BIN/posix; for f in *; do echo $f; outside cat $f; done")
        .program("posix", include_str!("posix.c"), &["-pthread", "-lrt"])
        .bound(Duration::from_secs(120))
        .check();
}
