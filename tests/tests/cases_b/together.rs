//! Two processes of one node that want each other's files (C41, C42).

use crate::twice::Case;

#[test]
fn c41_each_writes_what_the_other_reads() {
    Case::new("c41_cross", "cross 4").program("cross", &[]).prints("0 0\n").check();
    Case::new("c41_cross_small", "cross 2").program("cross", &[]).pool("1M").prints("0 0\n").check();
}

#[test]
fn c42_locked_counters_and_second_reads() {
    let printed = "counter 1000, status 0\nreaders' errors: 0\n";
    Case::new("c42_counter", "counter").program("counter", &[]).prints(printed).check();
}
