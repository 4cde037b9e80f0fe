//! Several writers of one file: appends, and neighbours within a page.

use millpond_tests::cases::Case;

#[test]
fn c16_concurrent_appends() {
    Case::new("c16", include_str!("c16.sh"))
        .needs(&["awk"])
        .program("c16", include_str!("c16.c"), &["-pthread"])
        .check();
}

#[test]
fn c17_slots_of_one_page() {
    Case::new("c17", "$BIN/c17").program("c17", include_str!("c17.c"), &[]).check();
}
