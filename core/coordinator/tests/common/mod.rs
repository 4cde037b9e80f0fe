//! A coordinator in a directory of its own, and a process that plays a program which uses it.
#![allow(dead_code)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use millpond_coordinator::{start, Lifetime, Link, Place, StartError, Stop};
use millpond_model::config::{ByteSize, Config};
use millpond_pool::{Caller, Claim, FdStore, Pool};
use millpond_segment::client::state;
use millpond_segment::description::flags;
use millpond_segment::wire::{Kind, Message};
use millpond_segment::{sys, Flat, Run};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

/// Set in a process that plays a program: the coordinator's directory.
const CHILD: &str = "MILLPOND_TEST_CHILD";

/// A running coordinator, ended with the value.
pub struct Pond {
    pub root: tempfile::TempDir,
    pub place: Place,
    pub config: Config,
}

impl Pond {
    /// A place, and a small pool.
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = Place::new(root.path().join("pond"));
        let mut config = Config::default();
        config.pool.size = ByteSize::mib(16);
        config.store.paths = vec![root.path().to_str().unwrap().into()];
        Self { root, place, config }
    }

    /// As [`Pond::new`], with a coordinator.
    pub fn started() -> Self {
        let pond = Self::new();
        pond.start().unwrap();
        pond
    }

    pub fn start(&self) -> Result<Option<String>, StartError> {
        start(&self.config, &self.place, Lifetime::UntilStopped)
    }

    pub fn link(&self) -> Link {
        Link::connect(&self.place.socket()).unwrap()
    }

    pub fn supervisor(&self) -> u32 {
        fs::read_to_string(self.place.lock()).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A process that opens `name`, hands it over, writes `text` into the pool and waits to be killed.
    pub fn writer(&self, name: &str, text: &str) -> Program {
        Program::spawn(self.place.directory(), &[&self.path(name).to_string_lossy(), text])
    }
}

impl Drop for Pond {
    fn drop(&mut self) {
        if let Ok(mut link) = Link::connect(&self.place.socket()) {
            let supervisor = self.supervisor();
            let _ = link.stop(Stop::Force);
            link.wait_for_end(Duration::from_secs(10));
            eventually("the supervisor ends", || sys::process_is_dead(supervisor, 0));
        }
    }
}

/// A process that plays a program.
pub struct Program {
    child: Child,
}

impl Program {
    fn spawn(directory: &Path, words: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["plays_a_program", "--exact", "--nocapture"])
            .env(CHILD, directory)
            .env("MILLPOND_TEST_WORDS", words.join("\n"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("has written")));
        Self { child }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of the test that is the program when it is started as one, and nothing otherwise.
pub fn play() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let words = std::env::var("MILLPOND_TEST_WORDS").unwrap();
    let (path, text) = words.split_once('\n').unwrap();
    let link = Link::connect(&Place::new(PathBuf::from(directory)).socket()).unwrap();
    let connection = connect(&Place::new(PathBuf::from(std::env::var_os(CHILD).unwrap())));
    let client = attach(link.pool(), std::process::id());
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).read(true).open(path).unwrap();
    let slot = open(link.pool(), client, &file);
    hand_over(&connection, slot, Path::new(path));
    write(link.pool(), client, slot, &file, text.as_bytes(), 0);
    println!("has written");
    std::thread::sleep(Duration::from_secs(60));
    std::process::exit(0);
}

/// Takes a client slot for process `pid`.
pub fn attach(pool: &Pool, pid: u32) -> u32 {
    let start = sys::process_state(pid).unwrap().1;
    pool.claim_client(Claim {
        process: sys::Process::here(pid),
        start,
        command: b"player",
        name: b"player",
        run: Run::NONE,
        state: state::LIVE,
        parent: None,
    })
    .unwrap()
}

/// Opens `file` in the pool as descriptor 10 of `client`.
pub fn open(pool: &Pool, client: u32, file: &File) -> u32 {
    let who = Caller::new(client, 1);
    let stat = sys::stat_fd(file.as_raw_fd()).unwrap();
    let opened = pool.open_file(who, &stat, &FdStore::new(file.as_raw_fd(), true, true, false)).unwrap();
    let description = pool.new_description(who, opened.file, flags::READ | flags::WRITE, 0).unwrap();
    assert!(pool.set_entry(client, 10, description));
    pool.settle_description(description);
    opened.file
}

/// Writes into the pool.
pub fn write(pool: &Pool, client: u32, slot: u32, file: &File, bytes: &[u8], offset: u64) {
    let store = FdStore::new(file.as_raw_fd(), true, true, false);
    let mut copy = bytes.to_vec();
    let n = pool.write(Caller::new(client, 1), slot, &store, &Flat::of_mut(&mut copy), offset).unwrap();
    assert_eq!(n, bytes.len());
}

/// A connection as a program has one.
pub fn connect(place: &Place) -> OwnedFd {
    use rustix::net::{connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(place.socket()).unwrap()).unwrap();
    socket
}

/// Sends a path descriptor of the file at `path` as the one of `slot`.
pub fn hand_over(connection: &OwnedFd, slot: u32, path: &Path) {
    let kept = fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::PATH.bits() as i32)
        .open(path)
        .unwrap();
    let fds = [kept.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let message = Message::new(Kind::Keep, u64::from(slot)).encode();
    rustix::net::sendmsg(connection, &[IoSlice::new(&message)], &mut ancillary, SendFlags::empty()).unwrap();
}

/// Waits until `holds`, for ten seconds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(10), "not within 10 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    begun.elapsed()
}

/// Kills one process.
pub fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
