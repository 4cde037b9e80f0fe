//! The worker, killed and stopped while programs work.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::{send, within, Pond, Program, BOUND};

/// Checks the records of a loop that has ended: their number is its last line's.
fn check_records(pond: &Pond, name: &str, said: &str) -> u64 {
    let (count, longest) = said.trim().rsplit('\n').next().and_then(|line| line.split_once(' ')).expect(said);
    let (count, longest): (u64, u64) = (count.parse().expect(said), longest.parse().expect(said));
    let bytes = fs::read(pond.path(name)).expect("file");
    assert_eq!(bytes.len() as u64, count * 1000, "records of {name}");
    for (i, record) in bytes.chunks(1000).enumerate() {
        let rest = b'a' + (i % 26) as u8;
        let right = record[..8] == (i as u64).to_le_bytes() && record[8..].iter().all(|&byte| byte == rest);
        assert!(right, "record {i} of {name} is wrong");
    }
    assert!(count > 0, "{said}");
    longest
}

fn ended(program: Program) -> String {
    let (code, said) = program.end();
    assert_eq!(code, Some(0), "{said}");
    said
}

#[test]
fn worker_killed_in_a_write_loop() {
    let Some(pond) = Pond::start("worker_killed") else { return };
    let mut programs = [pond.crasher(&["loop", "a", "4", "fsync"]), pond.crasher(&["loop", "b", "4"])];
    for program in &mut programs {
        assert_eq!(program.line(), "looping");
    }
    // At moments that have nothing to do with what the loops are at.
    let mut seed = u64::from(std::process::id());
    println!("seed {seed}");
    for round in 1..=10 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_millis(20 + (seed >> 33) % 250));
        send(pond.worker(), Signal::SIGKILL);
        within(BOUND, "the worker is restarted", || pond.shim.status()["restarts"] == round);
    }
    for (program, name) in programs.into_iter().zip(["a", "b"]) {
        let longest = check_records(&pond, name, &ended(program));
        assert!(longest < 5000, "an operation took {longest} ms");
    }
    assert!(pond.shim.totals().bytes_written > 100_000);
}

#[test]
fn worker_stopped_while_programs_work() {
    let Some(pond) = Pond::start("worker_stopped") else { return };
    fs::write(pond.path("go"), "").expect("file");
    let mut program = pond.crasher(&["rates"]);
    let rate = |program: &mut Program| program.line().parse::<u64>().expect("rate");
    let before = (0..3).map(|_| rate(&mut program)).max().expect("rates");
    let worker = pond.worker();
    send(worker, Signal::SIGSTOP);
    // The first half second may have begun before.
    rate(&mut program);
    let meanwhile = (0..3).map(|_| rate(&mut program)).max().expect("rates");
    // Who comes now waits.
    let mut late = pond.shell("echo late >l; cat l");
    std::thread::sleep(Duration::from_millis(500));
    let waited = !late.has_ended();
    send(worker, Signal::SIGCONT);
    assert!(waited, "a program attached to a stopped worker");
    assert!(
        meanwhile > before / 3,
        "{before} operations in half a second, and {meanwhile} while the worker stood"
    );
    assert_eq!(ended(late), "late\n");
    assert_eq!(pond.text("l"), "late\n");
    fs::remove_file(pond.path("go")).expect("file");
    ended(program);
    assert_eq!(pond.shim.status()["restarts"], 0);
}

#[test]
fn flushes_by_the_worker_wait_for_it() {
    let Some(pond) = Pond::start("flush_waits") else { return };
    // The file's writer waits to be killed; another program, which cannot write the file, synchronises it.
    let mut writer = pond.crasher(&["hold", "plain"]);
    assert_eq!(writer.line(), "ready");
    let worker = pond.worker();
    send(worker, Signal::SIGSTOP);
    let reader = pond.shell("sync f; cat f");
    std::thread::sleep(Duration::from_millis(300));
    send(worker, Signal::SIGCONT);
    assert_eq!(ended(reader), "survive");
    assert_eq!(pond.text("f"), "survive");
    writer.kill();
}
