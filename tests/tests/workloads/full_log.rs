//! A coordinator whose log is on a full disk, which is when there is something to tell.

use millpond_tests::cases::Case;

/// It goes on, and so does what it does for programs: killed ones' bytes arrive.
#[test]
fn a_log_that_cannot_be_written_ends_nobody() {
    let ran = Case::new("full_log", include_str!("full_log.sh"))
        .config("[log]\nfile = \"/dev/full\"\nlevel = \"trace\"\n")
        .check();
    for ran in ran {
        assert_eq!(ran.status["restarts"], 0, "the worker died: {:#}", ran.status);
    }
}
