//! Descriptors: duplicates, inheritance, death without close, close-all loops and closed standard streams.

use millpond_tests::cases::Case;

#[test]
fn c01_duplicates_share_an_offset() {
    Case::new("c01", "$BIN/c01").program("c01", include_str!("c01.c"), &[]).check();
}

#[test]
fn c01_shell_redirections() {
    Case::new("c01_shell", include_str!("c01_shell.sh")).check();
}

#[test]
fn c02_fork_exec_inheritance() {
    Case::new("c02", "$BIN/c02").program("c02", include_str!("c02.c"), &[]).check();
}

#[test]
fn c02_generations_of_shells() {
    Case::new("c02_nested", include_str!("c02_nested.sh")).check();
}

#[test]
fn c03_death_without_close() {
    Case::new("c03", include_str!("c03.sh")).program("c03", include_str!("c03.c"), &[]).check();
}

#[test]
fn c21_close_all_descriptors() {
    Case::new("c21", include_str!("c21.sh")).program("c21", include_str!("c21.c"), &[]).check();
}

#[test]
fn c21_python_close_fds() {
    Case::new("c21_python", "python3 $BIN/c21.py")
        .needs(&["python3"])
        .file("c21.py", include_str!("c21.py"))
        .check();
}

#[test]
fn c22_closed_standard_streams() {
    Case::new("c22", include_str!("c22.sh")).program("c22", include_str!("c22.c"), &[]).check();
}
