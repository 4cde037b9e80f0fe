//! Coordinators that die as a whole, whose directory goes, or that were never there (C38 to C40).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::{compile, directory, send, within, Pond, Program, BOUND};

/// Entries that a coordinator could leave behind.
fn left_behind() -> usize {
    let entries = |path: &str| fs::read_dir(path).map_or(0, Iterator::count);
    let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
    entries("/dev/shm") + mounts.lines().filter(|line| line.contains("millpond")).count()
}

#[test]
fn coordinator_killed_under_programs() {
    let Some(pond) = Pond::start("coordinator_killed") else { return };
    let mut looping = pond.crasher(&["loop", "a", "2", "fsync"]);
    assert_eq!(looping.line(), "looping");
    let closed = pond.shell("echo closed >c; echo appended >>c").end();
    assert_eq!(closed.0, Some(0));
    std::thread::sleep(Duration::from_millis(200));
    pond.kill_coordinator();
    assert_eq!(pond.text("c"), "closed\nappended\n");
    // Who comes now has the kernel alone.
    let begun = Instant::now();
    assert_eq!(
        pond.shell("cat c; echo more >>c; cat c").end(),
        (Some(0), "closed\nappended\nclosed\nappended\nmore\n".into())
    );
    assert!(begun.elapsed() < Duration::from_secs(15), "a new program waited {:?}", begun.elapsed());
    let (code, said) = looping.end();
    // It ends by itself: with everything right, or at an error that it was told.
    let count = fs::metadata(pond.path("a")).expect("file").len() / 1000;
    assert!(count > 0 && said.lines().count() >= 1, "{code:?} {said}");
    let bytes = fs::read(pond.path("a")).expect("file");
    let kept = if code == Some(0) { bytes.len() / 1000 } else { bytes.len() / 1000 / 250 * 250 };
    for (i, record) in bytes.chunks(1000).take(kept).enumerate() {
        assert_eq!(record[..8], (i as u64).to_le_bytes(), "record {i}, after {code:?} {said}");
    }
    // And at once a new one.
    pond.start_again();
    assert_eq!(pond.shell("echo anew >>c; tail -n 1 c").end(), (Some(0), "anew\n".into()));
    assert_eq!(pond.text("c"), "closed\nappended\nmore\nanew\n");
    assert!(pond.shim.totals().bytes_written >= 5);
}

#[test]
fn c38_killed_and_started_again_twenty_times() {
    let Some(pond) = Pond::start("c38_again") else { return };
    let before = left_behind();
    for round in 0..20 {
        let mut looping = pond.crasher(&["loop", "a", "0.3"]);
        assert_eq!(looping.line(), "looping");
        std::thread::sleep(Duration::from_millis(30));
        pond.kill_coordinator();
        pond.start_again();
        let said = pond.shell(&format!("echo {round} >b; cat b")).end();
        assert_eq!(said, (Some(0), format!("{round}\n")));
        assert_eq!(pond.text("b"), format!("{round}\n"));
        assert!(pond.shim.totals().bytes_written > 0, "round {round}: nothing went through the new pool");
        let (code, said) = looping.end();
        assert_eq!(code, Some(0), "{said}");
        fs::remove_file(pond.path("a")).expect("file");
    }
    let after = left_behind();
    // Other tests come and go meanwhile.
    assert!(after < before + 15, "{before} entries before and {after} after");
}

#[test]
fn c39_directory_of_the_coordinator_removed() {
    let Some(pond) = Pond::start("c39_removed") else { return };
    let (supervisor, worker) = (pond.supervisor(), pond.worker());
    let mut looping = pond.crasher(&["loop", "a", "1", "fsync"]);
    assert_eq!(looping.line(), "looping");
    let (_, socket) =
        pond.shim.environment().iter().find(|(name, _)| name == "MILLPOND_SOCKET").expect("socket").clone();
    fs::remove_dir_all(Path::new(&socket).parent().expect("directory")).expect("removed");
    let begun = Instant::now();
    assert_eq!(pond.shell("echo new >n; cat n; cp n m; cat m").end(), (Some(0), "new\nnew\n".into()));
    assert!(begun.elapsed() < Duration::from_secs(15));
    let (code, said) = looping.end();
    assert_eq!(code, Some(0), "{said}");
    let bytes = fs::read(pond.path("a")).expect("file");
    assert!(bytes.chunks(1000).enumerate().all(|(i, record)| record[..8] == (i as u64).to_le_bytes()));
    assert_eq!(pond.text("m"), "new\n");
    send(supervisor, Signal::SIGTERM);
    within(BOUND, "it ends when it is told", || {
        crate::support::is_gone(worker) && crate::support::is_gone(supervisor)
    });
}

/// A program with the variables of a coordinator that is not there.
fn without_coordinator(pond: &Pond, line: &str) -> (Option<i32>, String) {
    let mut command = pond.shim.command("bash");
    command.args(["-c", line]).current_dir(&pond.store).env("MILLPOND_SOCKET", "/nonexistent/sock");
    Program::spawn(command).end()
}

#[test]
fn c40_no_coordinator() {
    let Some(pond) = Pond::start("c40_none") else { return };
    fs::write(pond.path("f"), "text\n").expect("file");
    let begun = Instant::now();
    let line = "cat f; cp f g && cat g; python3 -c 'open(\"h\", \"w\").write(open(\"g\").read() * 2)'; cat h; echo x >>f; (echo y >>f); cat f";
    let said = without_coordinator(&pond, line);
    assert_eq!(said, (Some(0), "text\ntext\ntext\ntext\ntext\nx\ny\n".into()));
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    assert_eq!(pond.shim.totals().bytes_written, 0);
}

#[test]
fn c40_coordinator_comes_later() {
    let Some(pond) = Pond::start("c40_later") else { return };
    let store = pond.store.clone().into_os_string();
    pond.shim.run("stop", &[]);
    let line =
        "for i in $(seq 40); do echo $i >>f; cat f | tail -n 1 >>g; sleep 0.05; done; cmp f g && tail -n 1 f";
    let early = pond.shell(line);
    std::thread::sleep(Duration::from_secs(1));
    pond.shim.run("start", &["--store".into(), store]);
    let late = pond.shell("echo late >l; cat l").end();
    assert_eq!(late, (Some(0), "late\n".into()));
    assert_eq!(early.end(), (Some(0), "40\n".into()));
    assert!(pond.shim.totals().bytes_written > 0);
}

#[test]
fn c38_another_user_is_refused_and_served_by_the_kernel() {
    if !crate::support::is_root("c38_another_user_is_refused_and_served_by_the_kernel") {
        return;
    }
    let Some(pond) = Pond::start("c38_user") else { return };
    fs::write(pond.path("f"), "text\n").expect("file");
    Command::new("chmod").args(["-R", "a+rwX"]).arg(&pond.store).status().expect("chmod");
    let begun = Instant::now();
    let line = "setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cat f; echo more >>f; cat f; echo own >o'; cat o";
    assert_eq!(pond.shell(line).end(), (Some(0), "text\ntext\nmore\nown\n".into()));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn c37_a_pool_that_does_not_fit() {
    let Some(binary) = millpond_tests::shim_env::millpond_binary() else { return };
    let root = directory("c37_large");
    compile(root.path());
    let instance = format!("test-c37-{}", std::process::id());
    let mut command = Command::new(&binary);
    command.args(["start", "--instance", &instance, "--pool", "1024G", "--store"]).arg(root.path());
    let begun = Instant::now();
    let output = command.output().expect("millpond");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.starts_with("millpond: "), "{text}");
    assert!(text.contains("--pool") || text.contains("pool.size"), "no remedy: {text}");
    let run = Command::new(&binary)
        .args(["run", "--pool", "1024G", "--store"])
        .arg(root.path())
        .args(["--", "true"])
        .output()
        .expect("millpond");
    assert!(!run.status.success() || run.stdout.is_empty(), "{run:?}");
}
