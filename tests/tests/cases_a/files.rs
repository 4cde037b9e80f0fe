//! The file under its descriptors: bytes and size before close, partial pages, times, names, truncation.

use millpond_tests::cases::Case;

#[test]
fn c10_read_after_write_before_close() {
    Case::new("c10", include_str!("c10.sh")).program("c10", include_str!("c10.c"), &[]).check();
}

#[test]
fn c12_times_set_before_close() {
    Case::new("c12", include_str!("c12.sh"))
        .needs(&["rsync", "tar", "make"])
        .program("c12", include_str!("c12.c"), &[])
        .check();
}

#[test]
fn c13_rename_of_an_open_dirty_file() {
    Case::new("c13", include_str!("c13.sh")).program("c13", include_str!("c13.c"), &[]).check();
}

#[test]
fn c14_unlink_while_open() {
    Case::new("c14", "$BIN/c14").program("c14", include_str!("c14.c"), &[]).check();
}

#[test]
fn c15_truncate_by_path_while_open() {
    Case::new("c15", "$BIN/c15").program("c15", include_str!("c15.c"), &[]).check();
}

#[test]
fn c10_follower_is_told_of_writes() {
    Case::new("c10_follow", include_str!("c10_follow.sh")).needs(&["python3"]).check();
}
