//! kill -9 of a program between its write and its close.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::{send, within, within_or, Pond};

/// What a dead program wrote is in the file within this time.
const SOON: Duration = Duration::from_secs(1);

/// Kills a program that holds `f` as said, and looks for its bytes.
fn killed(how: &str) -> Option<Pond> {
    let pond = Pond::start(&format!("killed_{how}"))?;
    let mut program = pond.crasher(&["hold", how]);
    assert_eq!(program.line(), "ready");
    assert!(pond.shim.totals().bytes_written >= 7, "nothing went through the pool");
    program.kill();
    within(SOON, "the bytes of the dead program are in its file", || pond.text("f").starts_with("survive"));
    Some(pond)
}

#[test]
fn killed_with_an_open_file() {
    killed("plain");
    killed("writeonly");
    killed("duplicated");
}

#[test]
fn killed_with_an_appending_descriptor() {
    killed("append");
}

#[test]
fn killed_with_a_file_that_cannot_be_opened_again() {
    killed("readonly");
}

#[test]
fn killed_after_a_rename() {
    if let Some(pond) = killed("renamed") {
        assert!(!pond.path("g").exists());
    }
    if let Some(pond) = killed("moved") {
        assert!(!pond.path("d").exists());
    }
}

#[test]
fn killed_with_several_files() {
    if let Some(pond) = killed("several") {
        within(SOON, "all files have their bytes", || {
            (0..100).all(|i| pond.text(&format!("f{i}")) == "survive")
        });
    }
}

#[test]
fn killed_with_many_bytes() {
    if let Some(pond) = killed("large") {
        within(SOON, "all bytes are there", || pond.text("f").len() == 5_000_007);
        assert!(pond.text("f").strip_prefix("survive").is_some_and(|rest| rest.bytes().all(|b| b == b's')));
    }
}

#[test]
fn killed_while_a_forked_child_holds_the_file() {
    if let Some(pond) = killed("forked") {
        fs::write(pond.path("go"), "").expect("file");
        within(SOON * 5, "the child goes on where its parent was", || pond.text("f") == "survive+child");
    }
}

#[test]
fn killed_with_the_worker_before_it() {
    let Some(pond) = Pond::start("killed_worker_first") else { return };
    let mut program = pond.crasher(&["hold", "several"]);
    assert_eq!(program.line(), "ready");
    let worker = pond.worker();
    send(worker, Signal::SIGKILL);
    program.kill();
    within(SOON * 2, "the bytes arrive by the next worker", || {
        pond.text("f") == "survive" && (0..100).all(|i| pond.text(&format!("f{i}")) == "survive")
    });
    within(SOON * 5, "the worker is restarted", || pond.shim.status()["restarts"] == 1);
}

/// What `crasher report` writes as its `i`-th record.
fn record(i: usize) -> [u8; 1000] {
    let mut record = [b'a' + (i % 26) as u8; 1000];
    record[..8].copy_from_slice(&(i as u64).to_le_bytes());
    record
}

/// Kills a program at a random moment of its writing, the worker with it if so said: what it was told was written is in the file.
fn killed_while_writing(test: &str, worker_too: bool) {
    let Some(pond) = Pond::start(test) else { return };
    let mut seed = u64::from(std::process::id());
    println!("seed {seed}");
    for round in 0..10 {
        let _ = fs::remove_file(pond.path("f"));
        let mut program = pond.crasher(&["report"]);
        assert_eq!(program.line(), "0");
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let until = Instant::now() + Duration::from_millis((seed >> 33) % 120);
        let mut last = 0;
        while Instant::now() < until {
            last = program.line().parse().expect("record");
        }
        if worker_too {
            send(pond.worker(), Signal::SIGKILL);
        }
        program.kill_and_read(|line| last = line.parse().unwrap_or(last));
        // The length says nothing about what is before it: a flush after a death may take the pages in another order.
        let first_wrong = || {
            let there = fs::read(pond.path("f")).expect("file");
            (0..=last).find(|&i| there.get(i * 1000..(i + 1) * 1000) != Some(&record(i)))
        };
        within_or(
            SOON * 2,
            || first_wrong().is_none(),
            || {
                format!(
                    "round {round}: what was written is in the file: record {:?} of {last}",
                    first_wrong()
                )
            },
        );
    }
}

#[test]
fn killed_in_the_middle_of_writes() {
    killed_while_writing("killed_writing", false);
}

#[test]
fn killed_in_the_middle_of_writes_with_the_worker() {
    killed_while_writing("killed_writing_worker", true);
}

#[test]
fn killed_at_any_moment_leaves_nothing_behind() {
    let Some(pond) = Pond::start("killed_any") else { return };
    let mut seed = u64::from(std::process::id());
    println!("seed {seed}");
    let line = "echo begun; while :; do echo xxxxxxx >>a; cat a >b; cp b c; (echo yyyyyyy >>d; exec cat d >>e); mv c f; rm b; \
                [ $(stat -c %s a) -lt 4000 ] || : >a; done 2>/dev/null";
    for _ in 0..25 {
        let mut program = pond.shell(line);
        assert_eq!(program.line(), "begun");
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_micros((seed >> 33) % 120_000));
        program.kill_all();
    }
    let status = || pond.shim.status();
    let list = |name: &str| status()[name].as_array().map_or(0, Vec::len);
    // A slot that was made for a child which then never came is kept for ten seconds: the child may be slow.
    within(SOON * 20, "no client is left", || list("clients") == 0);
    let idle = || {
        status()["files"]
            .as_array()
            .is_some_and(|files| files.iter().all(|f| f["dirty_bytes"] == 0 && f["opens"] == 0))
    };
    within_or(SOON * 5, idle, || format!("no file is open or dirty: {:#}", status()));
    assert_eq!(status()["restarts"], 0);
    for name in ["a", "d"] {
        let line = if name == "a" { "xxxxxxx" } else { "yyyyyyy" };
        assert!(pond.text(name).lines().all(|found| found == line), "{name}: {}", pond.text(name));
    }
    assert_eq!(pond.shell("rm -f ?; echo anew >g; cat g").end(), (Some(0), "anew\n".into()));
}
