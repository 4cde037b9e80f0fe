//! Starting, refusing and stopping.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use common::{eventually, kill, Pond};
use millpond_coordinator::{start, Lifetime, Link, LinkError, Stop};
use millpond_model::config::{ByteSize, FlushMode};
use millpond_segment::sys;

#[test]
fn plays_a_program() {
    common::play();
}

#[test]
fn the_status_says_what_was_configured() {
    let pond = Pond::started();
    let status = pond.link().status().unwrap();
    assert_eq!(status.stores, pond.config.store.paths);
    assert_eq!((status.flush_mode.as_str(), status.page_size, status.restarts), ("close", 65_536, 0));
    assert!(status.tiers[0].capacity <= 16 << 20 && status.tiers[0].used == 0);
    assert_eq!(status.tiers[0].slabs.len(), 3);
    assert_eq!(status.supervisor, pond.supervisor());
    assert_eq!(fs::metadata(pond.place.socket()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_pool_that_does_not_fit_is_refused_with_the_size_that_would() {
    let mut pond = Pond::new();
    pond.config.pool.size = ByteSize::gib(8 << 10);
    let message = pond.start().unwrap_err().to_string();
    assert!(message.starts_with("pool.size: 8TiB do not fit") && message.contains("to at most"), "{message}");
    assert!(!message.contains('\n'));
    pond.config.pool.size = ByteSize::mib(16);
    pond.start().unwrap();
}

#[test]
fn a_second_one_is_refused() {
    let pond = Pond::started();
    let message = pond.start().unwrap_err().to_string();
    assert!(message.contains(&format!("(process {})", pond.supervisor())), "{message}");
    assert!(pond.link().status().is_ok());
}

#[test]
fn a_stale_socket_is_replaced() {
    let pond = Pond::new();
    fs::create_dir(pond.place.directory()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(pond.place.socket()).unwrap());
    pond.start().unwrap();
    assert!(pond.link().status().is_ok());
}

#[test]
fn programs_keep_it_from_stopping_unless_forced() {
    let pond = Pond::started();
    let program = pond.writer("file", "text");
    let mut link = pond.link();
    assert!(matches!(link.stop(Stop::Gently), Err(LinkError::Busy(1))));
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"");
    link.stop(Stop::Force).unwrap();
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"text");
    assert!(link.wait_for_end(Duration::from_secs(5)));
    assert!(matches!(Link::connect(&pond.place.socket()), Err(LinkError::NotRunning(_))));
    drop(program);
    pond.start().unwrap();
}

#[test]
fn told_to_it_stops_when_the_last_program_has_gone() {
    let pond = Pond::started();
    let program = pond.writer("file", "text");
    let mut link = pond.link();
    assert_eq!(link.stop(Stop::WhenUnused).unwrap(), 1);
    assert!(!link.wait_for_end(Duration::from_millis(1500)));
    program.kill();
    assert!(link.wait_for_end(Duration::from_secs(5)));
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"text");
}

#[test]
fn one_that_is_held_goes_with_its_last_holder_and_leaves_nothing() {
    let pond = Pond::new();
    start(&pond.config, &pond.place, Lifetime::WhileHeld).unwrap();
    let (first, second) = (pond.link(), pond.link());
    drop(first);
    std::thread::sleep(Duration::from_millis(500));
    assert!(second.status().is_ok());
    drop(second);
    eventually("its directory is gone", || !pond.place.directory().exists());
}

#[test]
fn it_flushes_when_it_is_terminated() {
    let pond = Pond::started();
    let _program = pond.writer("file", "text");
    let link = pond.link();
    let supervisor = rustix::process::Pid::from_raw(pond.supervisor() as i32).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::TERM).unwrap();
    assert!(link.wait_for_end(Duration::from_secs(5)));
    assert_eq!(fs::read(pond.path("file")).unwrap(), b"text");
}

#[test]
fn async_files_are_flushed_in_the_background() {
    let mut pond = Pond::new();
    pond.config.flush.mode = FlushMode::Async;
    pond.start().unwrap();
    let link = pond.link();
    assert_eq!(link.status().unwrap().flush_mode, "async");
    let file =
        fs::OpenOptions::new().create_new(true).write(true).read(true).open(pond.path("file")).unwrap();
    let client = common::attach(link.pool(), std::process::id());
    let slot = common::open(link.pool(), client, &file);
    common::hand_over(&common::connect(&pond.place), slot, &pond.path("file"));
    common::write(link.pool(), client, slot, &file, b"text", 0);
    // Closed and not flushed, as a program does in this mode.
    link.pool().release_client(millpond_pool::Caller::new(client, 0), client);
    eventually("the bytes are in the file", || fs::read(pond.path("file")).unwrap() == b"text");
}

#[test]
fn another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not root: another user cannot be played");
        return;
    }
    let pond = Pond::started();
    // Even if everything around it were open.
    for path in [
        pond.root.path().to_path_buf(),
        pond.place.directory().into(),
        pond.place.socket(),
        pond.place.info(),
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let program = pond.path("other");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(program)
        .args(["plays_another_user", "--exact", "--nocapture"])
        .env("MILLPOND_TEST_SOCKET", pond.place.socket())
        .uid(65_534)
        .gid(65_534)
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("the coordinator refuses: Permission denied"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(pond.link().status().is_ok());
}

#[test]
fn plays_another_user() {
    let Some(socket) = std::env::var_os("MILLPOND_TEST_SOCKET") else { return };
    println!("{}", Link::connect(std::path::Path::new(&socket)).unwrap_err());
}

#[test]
fn garbage_ends_only_its_own_connection() {
    let pond = Pond::started();
    for garbage in [&b"x"[..], &[0xff; 32], &[1; 400]] {
        let connection = common::connect(&pond.place);
        rustix::net::send(&connection, garbage, rustix::net::SendFlags::empty()).unwrap();
        let mut answer = [0u8; 64];
        let (n, _) =
            rustix::net::recv(&connection, &mut answer[..], rustix::net::RecvFlags::empty()).unwrap();
        assert_eq!(
            millpond_segment::wire::Message::decode(&answer[..n]).unwrap().kind,
            millpond_segment::wire::Kind::Refused
        );
    }
    assert!(pond.link().status().is_ok());
}

#[test]
fn a_stopped_one_is_named() {
    let pond = Pond::started();
    let link = pond.link();
    let worker = link.status().unwrap().worker;
    let pid = rustix::process::Pid::from_raw(worker as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    // What needs no answer is there.
    assert_eq!(link.status().unwrap().worker, worker);
    let message = Link::connect(&pond.place.socket()).unwrap_err().to_string();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert!(message.starts_with("the coordinator does not answer (process "), "{message}");
    assert!(pond.link().status().is_ok());
}

#[test]
fn killed_outright_it_leaves_nothing_that_matters() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let shared = || {
        fs::read_dir("/dev/shm").map_or(0, |entries| {
            entries
                .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().contains("millpond")))
                .count()
        })
    };
    let before = (mounts(), shared());
    let pond = Pond::new();
    for _ in 0..20 {
        pond.start().unwrap();
        let (supervisor, worker) = (pond.supervisor(), pond.link().status().unwrap().worker);
        assert_eq!((mounts(), shared()), before);
        for pid in [supervisor, worker] {
            let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        }
        kill(supervisor);
        kill(worker);
        eventually("both are gone", || {
            sys::process_is_dead(supervisor, 0) && sys::process_is_dead(worker, 0)
        });
    }
    assert_eq!((mounts(), shared()), before);
    pond.start().unwrap();
}
