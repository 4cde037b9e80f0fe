//! Programs that are told of what happens to files.

use millpond_tests::cases::Case;

/// Reads and writes of watched files and of files in watched directories are seen one by one: files open before and opened later, by the
/// watcher and by others, watched by inotify, dnotify and fanotify.
#[test]
fn each_read_and_write_is_seen() {
    Case::new("watches", "mkdir d e; $BIN/watches")
        .program("watches", include_str!("watches.c"), &[])
        .check();
}

/// A file that the kernel is told to use by its name is whole by then.
#[test]
fn swap_files() {
    Case::new("swap_files", include_str!("swap_files.sh"))
        .needs(&["mkswap"])
        .program("swap_files", include_str!("swap_files.c"), &[])
        .disk_only()
        .check();
}
