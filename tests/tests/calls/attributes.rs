//! Attributes that are set while bytes wait, and requests by ioctl.

use millpond_tests::cases::Case;

#[test]
fn attributes_outlive_dirty_bytes() {
    Case::new("attributes", "$BIN/attributes; ls -l f | cut -c1-10; rm -f caps")
        .program("attributes", include_str!("attributes.c"), &[])
        .check();
}

#[test]
fn requests_by_ioctl() {
    Case::new("requests", "$BIN/requests; cat f")
        .program("requests", include_str!("requests.c"), &[])
        .check();
}
