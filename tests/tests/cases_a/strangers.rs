//! The kernel or another program at the same file: fresh programs, every stat, calls by number, static programs, rings.

use std::time::Duration;

use millpond_tests::cases::Case;

#[test]
fn c23_exec_of_a_fresh_file() {
    Case::new("c23", include_str!("c23.sh"))
        .needs(&["gcc", "python3", "dash"])
        .bound(Duration::from_secs(120))
        .check();
}

#[test]
fn c24_stat_family() {
    Case::new("c24", include_str!("c24.sh"))
        .needs(&["python3", "awk", "find"])
        .program("c24", include_str!("c24.c"), &[])
        .check();
}

#[test]
fn c25_calls_by_number() {
    Case::new("c25", include_str!("c25.sh")).program("c25", include_str!("c25.c"), &[]).check();
}

#[test]
fn c26_static_programs() {
    Case::new("c26", include_str!("c26.sh"))
        .program("c26_static", include_str!("c26.c"), &["-static"])
        .program("c26_dynamic", include_str!("c26.c"), &[])
        .check();
}

#[test]
fn c26_go_programs() {
    Case::new("c26_go", include_str!("c26_go.sh"))
        .needs(&["go"])
        .file("c26.go", include_str!("c26.go"))
        .file("c26.sh", include_str!("c26.sh"))
        .program("c26_dynamic", include_str!("c26.c"), &[])
        .check();
}

#[test]
fn c27_rings_and_asynchronous_calls() {
    Case::new("c27", include_str!("c27.sh"))
        .program("c27", include_str!("c27.c"), &["-pthread", "-lrt"])
        .check();
}

#[test]
fn c27_node() {
    Case::new("c27_node", include_str!("c27_node.sh"))
        .needs(&["node"])
        .file("c27_node.js", include_str!("c27_node.js"))
        .check();
}

#[test]
fn c27_fio_engines() {
    Case::new("c27_fio", include_str!("c27_fio.sh")).needs(&["fio"]).disk_only().check();
}

#[test]
fn c23_threads_that_write_and_run() {
    Case::new("c23_threads", "$BIN/c23")
        .needs(&["dash"])
        .program("c23", include_str!("c23.c"), &["-pthread"])
        .bound(Duration::from_secs(120))
        .check();
}

#[test]
fn truncations_of_files_that_strangers_have_changed() {
    let script = r#"
head -c 9000 /dev/zero | tr '\0' a > f
md5sum < f
head -c 9000 /dev/zero | tr '\0' b > "$BIN/b"
outside dd if="$BIN/b" of=f conv=notrunc 2> /dev/null
truncate -s 8000 f
outside md5sum f
md5sum f
exec 3<> f
outside dd if="$BIN/b" of=f bs=100 seek=10 count=1 conv=notrunc 2> /dev/null
python3 -c 'import os; os.ftruncate(3, 7000); print(os.pread(3, 7000, 0).count(b"b"))'
"#;
    Case::new("strangers_truncated", script).needs(&["python3"]).check();
}
