//! Children, however they are made.

use millpond_tests::cases::Case;

#[test]
fn vfork_children() {
    Case::new("vforks", "$BIN/vforks").program("vforks", include_str!("vforks.c"), &[]).check();
}

#[test]
fn children_by_clone() {
    Case::new("clones", "$BIN/clones").program("clones", include_str!("clones.c"), &[]).check();
}

#[test]
fn actions_of_spawn() {
    Case::new("actions", "$BIN/actions").program("actions", include_str!("actions.c"), &[]).check();
}

#[test]
fn trees_orphans_and_daemons() {
    let script = "$BIN/forks; until grep -q daemonized f; do sleep 0.1; done; tail -c 11 f";
    Case::new("forks", script).program("forks", include_str!("forks.c"), &[]).check();
}

#[test]
fn daemons_that_close_everything() {
    Case::new("daemon", include_str!("daemon.sh"))
        .needs(&["python3"])
        .file("daemon.py", include_str!("daemon.py"))
        .check();
}

#[test]
fn environments_that_are_taken_away() {
    Case::new("environment", include_str!("environment.sh"))
        .needs(&["python3"])
        .program("environment", include_str!("environment.c"), &[])
        .check();
}
