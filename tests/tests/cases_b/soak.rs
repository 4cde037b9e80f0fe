//! Random operations against a model of the file (C54), on one node.

use crate::twice::{has, Case};

/// The files are compared by a program that has no library of ours in it.
const LOOK: &str = "busybox cmp f model && echo same; rm model";

fn soak(name: &'static str, arguments: &str, pool: &'static str) {
    if has(name, "busybox true") {
        let script = format!("soak {arguments} && {LOOK}");
        Case::new(name, &script).program("soak", &[]).pool(pool).prints("right to the end\nsame\n").check();
    }
}

#[test]
fn c54_one_process() {
    soak("c54_one", "1 20000", "32M");
}

#[test]
fn c54_a_pool_smaller_than_the_file() {
    soak("c54_small", "2 5000", "1M");
}

#[test]
fn c54_two_processes_by_turns() {
    soak("c54_turns", "3 4000 2", "32M");
    soak("c54_turns_small", "4 1500 3", "1M");
}
