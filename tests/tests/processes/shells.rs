//! Shells, their redirections and their jobs.

use std::time::Duration;

use millpond_tests::cases::Case;

const SHELLS: [&str; 6] = ["bash", "dash", "zsh", "ksh", "mksh", "busybox"];

#[test]
fn redirections() {
    Case::new("shells", include_str!("shells.sh")).needs(&SHELLS).check();
}

#[test]
fn jobs_under_a_terminal() {
    Case::new("jobs", include_str!("jobs.sh"))
        .needs(&SHELLS)
        .needs(&["python3"])
        .file("jobs.py", include_str!("jobs.py"))
        .bound(Duration::from_secs(240))
        .disk_only()
        .check();
}
