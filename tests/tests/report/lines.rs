//! The line at the end of a process.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::pond::{lines, without_number, Pond};

/// The one line of a deed.
fn line_of(pond: &Pond, words: &[&str]) -> String {
    let output = pond.told(pond.deeds()).args(words).output().expect("deeds");
    assert!(output.status.success(), "{words:?}: {output:?}");
    let lines = lines(&output);
    assert_eq!(lines.len(), 1, "{words:?}: {output:?}");
    without_number(&lines[0])
}

#[test]
fn a_line_says_what_was_served_and_what_was_not() {
    let Some(pond) = Pond::start("report-line", "16MiB", &["busybox"]) else { return };
    assert_eq!(line_of(&pond, &["plain"]), "millpond: deeds: 40 bytes read, 40 written through the pool");
    assert_eq!(
        line_of(&pond, &["map"]),
        "millpond: deeds: 0 bytes read, 10 written through the pool; sync-downs: mmap 1; \
         files left to the kernel: mmap 1; calls on them: mmap 5"
    );
    let ring = line_of(&pond, &["ring"]);
    assert!(ring.contains("files left to the kernel: io_uring 1"), "{ring}");
    assert!(ring.ends_with("; escapes: io_uring 1"), "{ring}");
    for deed in ["filter", "strict"] {
        let line = line_of(&pond, &[deed]);
        assert!(line.contains("0 bytes read, 5 written") && line.ends_with("; escapes: seccomp 1"), "{line}");
    }
}

#[test]
fn nothing_is_said_unless_it_is_asked_for() {
    let Some(pond) = Pond::start("report-silent", "16MiB", &[]) else { return };
    for value in [None, Some("0"), Some("")] {
        let mut command = pond.told(pond.deeds());
        match value {
            Some(value) => command.env("MILLPOND_REPORT", value),
            None => command.env_remove("MILLPOND_REPORT"),
        };
        let output = command.arg("plain").output().expect("deeds");
        assert!(output.status.success() && output.stderr.is_empty(), "{value:?}: {output:?}");
    }
    // Without a coordinator's address there is nothing to report of.
    let plain = std::process::Command::new(pond.deeds())
        .arg("plain")
        .env("MILLPOND_REPORT", "1")
        .env("LD_PRELOAD", &pond.shim.environment().iter().find(|(n, _)| n == "LD_PRELOAD").expect("it").1)
        .current_dir(pond.store.path())
        .output()
        .expect("deeds");
    assert!(plain.status.success() && plain.stderr.is_empty(), "{plain:?}");
}

#[test]
fn a_standard_error_that_is_closed_or_another_file_is_left_alone() {
    let Some(pond) = Pond::start("report-stderr", "16MiB", &[]) else { return };
    for deed in ["moved", "closed"] {
        let output = pond.told(pond.deeds()).arg(deed).output().expect("deeds");
        assert!(output.status.success() && output.stderr.is_empty(), "{deed}: {output:?}");
        assert_eq!(std::fs::read(pond.file(deed)).expect("its file"), b"xxxxx", "{deed}");
    }
    let output = pond.script("\"$DEEDS\" plain 2>&-; echo $?");
    assert_eq!(output.stdout, b"0\n", "{output:?}");
    // The shell's own line alone.
    assert_eq!(lines(&output).len(), 1, "{output:?}");
}

#[test]
fn a_standard_error_in_the_store_gets_the_line_where_the_program_left_off() {
    let Some(pond) = Pond::start("report-buffered", "16MiB", &[]) else { return };
    let script = "{ echo before >&2; \"$DEEDS\" plain; echo between >&2; /bin/echo by-itself >&2; echo after >&2; } 2> log";
    let output = pond.script(script);
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(pond.file("log")).expect("log");
    let seen: Vec<_> =
        log.lines().map(|l| if l.contains('[') { without_number(l) } else { l.into() }).collect();
    let plain = "millpond: deeds: 40 bytes read, 40 written through the pool";
    assert_eq!(seen[..3], ["before", plain, "between"], "{log}");
    assert_eq!(seen[3], "by-itself", "{log}");
    assert!(seen[4].starts_with("millpond: echo: 0 bytes read, 10 written through the pool"), "{log}");
    assert_eq!(seen[5..], ["after"], "{log}");
}

#[test]
fn a_pipe_that_is_broken_or_full_changes_nothing() {
    let Some(pond) = Pond::start("report-pipes", "16MiB", &[]) else { return };
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let status = pond.told(pond.deeds()).arg("plain").stderr(writer).status().expect("deeds");
    assert!(status.success(), "{status:?}");

    let (mut reader, writer) = std::io::pipe().expect("pipe");
    let mut fill = pond.told(pond.deeds());
    let begun = Instant::now();
    let full = writer.try_clone().expect("dup");
    rustix::io::ioctl_fionbio(&full, true).expect("non-blocking");
    while rustix::io::write(&full, &[b'.'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&full, false).expect("blocking");
    drop(full);
    let status = fill.arg("plain").stderr(writer).status().expect("deeds");
    drop(fill);
    assert!(status.success() && begun.elapsed() < Duration::from_secs(20), "{status:?}");
    let mut all = Vec::new();
    reader.read_to_end(&mut all).expect("read");
    assert!(all.iter().all(|&b| b == b'.'));
}

#[test]
fn counts_go_on_over_an_exec_and_not_over_a_fork() {
    let Some(pond) = Pond::start("report-exec", "16MiB", &[]) else { return };
    let output = pond.script("echo 123456 > f; exec cat f");
    assert_eq!(output.stdout, b"123456\n");
    let lines_of_exec = lines(&output);
    assert_eq!(lines_of_exec.len(), 1, "{output:?}");
    let line = without_number(&lines_of_exec[0]);
    assert!(line.starts_with("millpond: cat: 7 bytes read, 7 written through the pool"), "{line}");
    // Nothing to hand on, and no file of the store in the new image.
    let output = pond.script("echo 123456 > f; exec true");
    let line = without_number(&lines(&output)[0]);
    assert!(line.starts_with("millpond: true: 0 bytes read, 7 written through the pool"), "{line}");
    // Two processes, two lines, each with its own.
    let output = pond.script("echo 123456 > f; (cat f > g; exit); true");
    let seen: Vec<_> = lines(&output).iter().map(|l| without_number(l)).collect();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(
        seen[0].starts_with("millpond: cat: 7 bytes read, 7 written") || seen[0].contains("copy_file_range"),
        "{seen:?}"
    );
    assert!(seen[1].starts_with("millpond: bash: nothing through the pool"), "{seen:?}");
    assert!(seen[2].starts_with("millpond: bash: 0 bytes read, 7 written"), "{seen:?}");
}

#[test]
fn a_process_that_dies_of_a_signal_writes_none() {
    let Some(pond) = Pond::start("report-abort", "16MiB", &[]) else { return };
    let output = pond.told(pond.deeds()).arg("abort").stdin(Stdio::null()).output().expect("deeds");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT));
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn without_a_coordinator_the_line_says_so() {
    let Some(pond) = Pond::start("report-nobody", "16MiB", &[]) else { return };
    let output = pond
        .told(pond.deeds())
        .arg("plain")
        .env("MILLPOND_SOCKET", pond.bin.path().join("nobody"))
        .output()
        .expect("deeds");
    assert!(output.status.success(), "{output:?}");
    let line = without_number(&lines(&output)[0]);
    assert_eq!(line, "millpond: deeds: nothing through the pool; escapes: no_coordinator 1");
}

#[test]
fn a_full_pool_is_an_escape() {
    let Some(pond) = Pond::start("report-full", "1MiB", &[]) else { return };
    // Four writers of dirty bytes that nobody can drop: the last ones find no buffer.
    let output = pond.script("for i in 1 2 3 4 5 6; do exec {fd}> f$i; for j in 1 2; do head -c 700000 /dev/zero >&$fd; done; done");
    assert!(output.status.success(), "{output:?}");
    let told = lines(&output).join("\n");
    let evicted = pond.shim.totals().pages_evicted;
    assert!(told.contains("pool_full") || evicted > 0, "{told}");
}
