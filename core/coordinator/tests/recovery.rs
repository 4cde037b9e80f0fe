//! What dead programs and dead workers leave behind.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use common::{attach, connect, eventually, hand_over, kill, open, write, Pond};
use millpond_coordinator::Link;
use millpond_segment::sys;

#[test]
fn plays_a_program() {
    common::play();
}

fn keeper_of(link: &Link, path: &std::path::Path) -> Option<u32> {
    let stat = sys::stat_at(libc_at(), &c_string(path), 0).unwrap();
    let slot = link.segment().find_file(stat.dev, stat.ino)?;
    Some(link.segment().file(slot).keeper_fd.load(SeqCst))
}

fn libc_at() -> i32 {
    -100
}

fn c_string(path: &std::path::Path) -> std::ffi::CString {
    std::ffi::CString::new(path.to_str().unwrap()).unwrap()
}

#[test]
fn a_killed_program_loses_nothing() {
    let pond = Pond::started();
    let program = pond.writer("file", "written and not closed");
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"");
    let link = pond.link();
    let status = link.status().unwrap();
    assert_eq!(status.clients[0].pid, program.pid());
    assert_eq!(status.files[0].dirty_bytes, 22);
    program.kill();
    let took = eventually("the bytes are in the file", || {
        fs::read(pond.path("file")).unwrap() == b"written and not closed"
    });
    assert!(took < Duration::from_secs(1), "{took:?}");
    eventually("its slot is free", || link.status().unwrap().clients.is_empty());
    eventually("its descriptor is given up", || keeper_of(&link, &pond.path("file")) == Some(0));
    assert_eq!(link.totals().bytes_flushed, 22);
}

#[test]
fn a_file_that_became_read_only_is_flushed_by_its_owner() {
    let pond = Pond::started();
    let program = pond.writer("file", "text");
    fs::set_permissions(pond.path("file"), fs::Permissions::from_mode(0o444)).unwrap();
    program.kill();
    eventually("the bytes are in the file", || fs::read(pond.path("file")).unwrap() == b"text");
    assert_eq!(fs::metadata(pond.path("file")).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn a_killed_worker_comes_back_and_knows_everything() {
    let pond = Pond::started();
    let program = pond.writer("file", "before");
    let mut link = pond.link();
    eventually("the descriptor has arrived", || {
        keeper_of(&link, &pond.path("file")).is_some_and(|fd| fd > 0)
    });
    let supervisor = pond.supervisor();
    for round in 1..=5 {
        let worker = link.status().unwrap().worker;
        kill(worker);
        eventually("another worker serves", || link.status().unwrap().worker != worker);
        assert_eq!(link.status().unwrap().restarts, round);
        // The connection from before still works.
        assert!(keeper_of(&link, &pond.path("file")).is_some_and(|fd| fd > 0));
        let _ = pond.link();
    }
    assert_eq!(pond.supervisor(), supervisor);
    program.kill();
    eventually("the bytes are in the file", || fs::read(pond.path("file")).unwrap() == b"before");
    link.drain(None).unwrap();
}

#[test]
fn locks_of_a_killed_worker_are_free_again() {
    let pond = Pond::started();
    let mut link = pond.link();
    let file =
        fs::OpenOptions::new().create_new(true).write(true).read(true).open(pond.path("file")).unwrap();
    let client = attach(link.pool(), std::process::id());
    let slot = open(link.pool(), client, &file);
    // As if the worker that is killed now had been in the middle of a flush.
    let held = link.segment().file(slot).flush_lock.try_lock(millpond_segment::Holder::new(0, 1)).unwrap();
    std::mem::forget(held);
    kill(link.status().unwrap().worker);
    eventually("the lock is free", || link.segment().file(slot).flush_lock.holder().is_none());
    hand_over(&connect(&pond.place), slot, &pond.path("file"));
    write(link.pool(), client, slot, &file, b"text", 0);
    link.drain(Some(&pond.path("file"))).unwrap();
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"text");
    link.pool().release_client(millpond_pool::Caller::new(client, 0), client);
}

#[test]
fn a_killed_supervisor_is_succeeded_by_the_worker() {
    let pond = Pond::started();
    let program = pond.writer("file", "kept");
    let link = pond.link();
    let (supervisor, worker) = (pond.supervisor(), link.status().unwrap().worker);
    kill(supervisor);
    eventually("the worker takes its place", || pond.supervisor() == worker);
    eventually("another worker serves", || link.status().unwrap().worker != worker);
    program.kill();
    eventually("the bytes are in the file", || fs::read(pond.path("file")).unwrap() == b"kept");
}

#[test]
fn a_flush_that_fails_is_tried_again() {
    let pond = Pond::started();
    let mut link = pond.link();
    let program = pond.writer("file", "late");
    // Without its descriptor, and with no name to find it by, the file cannot be reached.
    let stat = sys::stat_at(libc_at(), &c_string(&pond.path("file")), 0).unwrap();
    let slot = link.segment().find_file(stat.dev, stat.ino).unwrap();
    eventually("the descriptor has arrived", || link.segment().file(slot).keeper_fd.load(SeqCst) > 0);
    let release =
        millpond_segment::wire::Message::new(millpond_segment::wire::Kind::Release, u64::from(slot));
    let connection = connect(&pond.place);
    rustix::net::send(&connection, &release.encode(), rustix::net::SendFlags::empty()).unwrap();
    eventually("it is released", || link.segment().file(slot).keeper_fd.load(SeqCst) == 0);
    program.kill();
    eventually("the error is shown", || {
        link.status().unwrap().files.iter().any(|f| f.error.is_some() && f.dirty_bytes == 4)
    });
    let refused = link.stop(millpond_coordinator::Stop::Gently).unwrap_err();
    assert!(refused.to_string().starts_with("1 files cannot be flushed: "), "{refused}");
    hand_over(&connection, slot, &pond.path("file"));
    eventually("the bytes are in the file", || fs::read(pond.path("file")).unwrap() == b"late");
    assert!(link.totals().flush_errors > 0);
}
