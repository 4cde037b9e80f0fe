//! Programs whose files are the kernel's: by the configuration, or because libc cannot be patched.

use millpond_tests::cases::Case;

#[test]
fn c44_programs_that_are_excluded() {
    let runs = Case::new("excluded", include_str!("excluded.sh"))
        .config("[programs]\nexclude = [\"aside\", \"dash\"]\n")
        .needs(&["dash"])
        .program("aside", include_str!("threads.c"), &["-pthread"])
        .program("served", include_str!("threads.c"), &["-pthread"])
        .check();
    for run in runs {
        assert!(run.sync_downs().iter().any(|reason| reason == "excluded"), "{run:?}");
    }
}

#[test]
fn programs_whose_libc_cannot_be_patched() {
    let runs = Case::new("unpatched", include_str!("unpatched.sh"))
        .program("deny", include_str!("deny.c"), &[])
        .program("served", include_str!("threads.c"), &["-pthread"])
        .check();
    for run in runs {
        assert!(run.sync_downs().iter().any(|reason| reason == "unpatched"), "{run:?}");
    }
}
