//! Becoming a coordinator: one per place, its segment reserved, its socket bound, and the supervisor running.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use millpond_model::config::{Config, FlushMode};
use millpond_segment::header::modes;
use millpond_segment::Segment;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::fs::{flock, FlockOperation};
use rustix::net::{bind, listen, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::sync::atomic::Ordering::Relaxed;

use crate::reserve::{reserve, ReserveError};
use crate::status::Info;
use crate::{log, process, supervisor, times};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 512;

/// Reserving a pool of hundreds of gigabytes takes a while; beyond this something is wrong.
const READY_SECONDS: i64 = 120;

/// Where a coordinator lives: a directory that only its user can enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    directory: PathBuf,
}

impl Place {
    /// The place in `directory`, which is made when a coordinator starts there.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The socket that programs and tools connect to.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("sock")
    }

    /// The file that a running coordinator holds locked; it holds the supervisor's process id.
    pub fn lock(&self) -> PathBuf {
        self.directory.join("lock")
    }

    /// What the segment does not say about the coordinator.
    pub fn info(&self) -> PathBuf {
        self.directory.join("info.json")
    }

    /// The log, unless the configuration names another.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }
}

/// How long a coordinator stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is told to stop.
    UntilStopped,
    /// Until nobody is connected and no program is attached.
    WhileHeld,
}

/// Why there is no coordinator.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// One is there.
    #[error("a coordinator is running already in {} (process {pid}); stop it with `millpond stop`, or take another --instance name", .place.display())]
    Running {
        /// Where.
        place: PathBuf,
        /// Its supervisor.
        pid: u32,
    },
    /// There is no segment.
    #[error(transparent)]
    Reserve(#[from] ReserveError),
    /// Something of the place cannot be used.
    #[error("{}: {source}; see that its directory can be written and has room", .path.display())]
    Path {
        /// What.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A system call failed.
    #[error("the coordinator cannot start: {0}; try again")]
    System(#[from] io::Error),
    /// The worker ended before it served, or something else that the coordinator said itself.
    #[error("{0}")]
    Said(String),
}

/// What supervisor and worker share. All descriptors in here are kept by a new worker.
pub struct Shared {
    pub config: Config,
    pub place: Place,
    pub lifetime: Lifetime,
    pub info: Info,
    pub lock: OwnedFd,
    pub segment: OwnedFd,
    pub listener: OwnedFd,
    pub signals: SignalFd,
}

impl Shared {
    /// The numbers of its descriptors.
    pub fn descriptors(&self) -> [i32; 4] {
        [self.lock.as_raw_fd(), self.segment.as_raw_fd(), self.listener.as_raw_fd(), self.signals.as_raw_fd()]
    }

    /// Writes down who supervises.
    pub fn announce(&self) -> io::Result<()> {
        let pid = std::process::id();
        let info = Info { supervisor: pid, ..self.info.clone() };
        write_private(&self.place.info(), &serde_json::to_vec(&info)?)?;
        rustix::fs::ftruncate(&self.lock, 0)?;
        rustix::io::pwrite(&self.lock, format!("{pid}\n").as_bytes(), 0)?;
        Ok(())
    }
}

/// Is the coordinator of `place` until it ends. The calling process should have one thread and nothing else to do.
///
/// `ready` is called once, when programs can connect, with a line about what the user should know, if any.
///
/// # Errors
/// When it cannot start; and when its worker dies again and again.
pub fn serve(
    config: &Config,
    place: &Place,
    lifetime: Lifetime,
    ready: impl FnOnce(Option<&str>),
) -> Result<(), StartError> {
    let on = |path: PathBuf| move |source| StartError::Path { path, source };
    make_private_directory(place.directory()).map_err(on(place.directory().into()))?;
    let lock = take_lock(place)?;
    log::begin(&config.log).map_err(on(config.log.file.clone().into()))?;
    raise_limits();
    let reserved = reserve(config)?;
    if let Some(warning) = &reserved.warning {
        tracing::warn!("{warning}");
    }
    set_modes(config, &reserved.file)?;
    let listener = listen_at(&place.socket()).map_err(on(place.socket()))?;
    process::keep_ended_children();
    let wanted = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
    SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGCHLD, Signal::SIGHUP])
        .thread_block()
        .map_err(io::Error::from)?;
    let signals = SignalFd::with_flags(&wanted, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .map_err(io::Error::from)?;
    let info = Info {
        instance: config.instance.clone(),
        supervisor: 0,
        stores: config.store.paths.clone(),
        exclude: config.programs.exclude.clone(),
        memory: reserved.memory,
        warning: reserved.warning.clone(),
    };
    let shared = Shared {
        config: config.clone(),
        place: place.clone(),
        lifetime,
        info,
        lock,
        segment: reserved.file,
        listener,
        signals,
    };
    shared.announce().map_err(on(place.info()))?;
    supervisor::supervise(&shared, || ready(reserved.warning.as_deref()))
}

/// Starts a coordinator in the background and returns when programs can connect: the line that the user should know, if any.
///
/// # Errors
/// As [`serve`], from the background.
pub fn start(config: &Config, place: &Place, lifetime: Lifetime) -> Result<Option<String>, StartError> {
    let on = |path: PathBuf| move |source| StartError::Path { path, source };
    make_private_directory(place.directory()).map_err(on(place.directory().into()))?;
    let log = private(&place.log(), false).map_err(on(place.log()))?;
    let null = fs::File::options().read(true).write(true).open("/dev/null")?;
    let (answer, said) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
    let middle = process::fork(|| {
        // A child of a child that has ended is nobody's zombie.
        let _ = process::fork(|| background(config, place, lifetime, &null, &said, &log));
        0
    });
    let middle = middle.map_err(|e| io::Error::from_raw_os_error(e.0))?;
    drop(said);
    let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(middle as i32), None);
    let limit = rustix::event::Timespec { tv_sec: READY_SECONDS, tv_nsec: 0 };
    let mut ready = [rustix::event::PollFd::new(&answer, rustix::event::PollFlags::IN)];
    if rustix::event::poll(&mut ready, Some(&limit)).map_err(io::Error::from)? == 0 {
        return Err(StartError::Said(format!(
            "the coordinator did not get ready within {READY_SECONDS} s; see {}",
            place.log().display()
        )));
    }
    let mut warning = None;
    for line in BufReader::new(fs::File::from(answer)).lines() {
        let line = line?;
        match line.split_once(' ') {
            Some(("warning:", text)) => warning = Some(text.to_owned()),
            Some(("error:", text)) => return Err(StartError::Said(text.to_owned())),
            _ => return Ok(warning),
        }
    }
    Err(StartError::Said(format!("the coordinator ended without a word; see {}", place.log().display())))
}

fn background(
    config: &Config,
    place: &Place,
    lifetime: Lifetime,
    null: &fs::File,
    said: &OwnedFd,
    log: &fs::File,
) -> i32 {
    let _ = rustix::process::setsid();
    let moved = rustix::stdio::dup2_stdin(null)
        .and_then(|()| rustix::stdio::dup2_stdout(said))
        .and_then(|()| rustix::stdio::dup2_stderr(log));
    if moved.is_err() || std::env::set_current_dir("/").is_err() {
        return 1;
    }
    crate::inherited::close_above_stdio();
    let say = |line: String| {
        let _ = rustix::io::write(rustix::stdio::stdout(), line.replace('\n', " ").as_bytes());
        let _ = rustix::io::write(rustix::stdio::stdout(), b"\n");
    };
    let served = serve(config, place, lifetime, |warning| {
        if let Some(warning) = warning {
            say(format!("warning: {warning}"));
        }
        say("ready".into());
        let _ = rustix::stdio::dup2_stdout(rustix::stdio::stdin());
    });
    match served {
        Ok(()) => 0,
        Err(error) => {
            say(format!("error: {error}"));
            1
        }
    }
}

fn make_private_directory(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn private(path: &Path, truncate: bool) -> io::Result<fs::File> {
    fs::OpenOptions::new()
        .create(true)
        .write(true)
        .read(true)
        .append(!truncate)
        .truncate(truncate)
        .mode(0o600)
        .open(path)
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Whole or not at all: tools read it at any time.
    let new = path.with_extension("new");
    private(&new, true)?.write_all(bytes)?;
    fs::rename(new, path)
}

/// Takes the lock that only one coordinator of a place can hold.
fn take_lock(place: &Place) -> Result<OwnedFd, StartError> {
    let path = place.lock();
    let on = |source| StartError::Path { path: path.clone(), source };
    loop {
        let mut options = fs::OpenOptions::new();
        let file = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(on)?;
        match flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let pid =
                    fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
                return Err(StartError::Running { place: place.directory().into(), pid });
            }
            Err(error) => return Err(on(error.into())),
        }
        // One that ended just now has taken the file away: then what is locked is nobody's any more.
        let locked = file.metadata().map_err(on)?;
        if fs::metadata(&path).is_ok_and(|there| (there.dev(), there.ino()) == (locked.dev(), locked.ino())) {
            return Ok(file.into());
        }
    }
}

/// Binds the socket. A stale one goes: who gets here holds the lock.
fn listen_at(path: &Path) -> io::Result<OwnedFd> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// As many descriptors as allowed, and not the first to go when memory runs out. Both as far as permitted.
fn raise_limits() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let _ = fs::write("/proc/self/oom_score_adj", "-500");
}

fn set_modes(config: &Config, segment: &OwnedFd) -> Result<(), StartError> {
    let segment = Segment::attach(segment.as_fd()).map_err(ReserveError::from)?;
    let mut bits = 0;
    if config.flush.mode == FlushMode::Async {
        bits |= modes::ASYNC_FLUSH;
    }
    if times::are_fine(&config.store.paths) {
        bits |= modes::FINE_TIMES;
    }
    segment.header().modes.store(bits, Relaxed);
    Ok(())
}
