//! A coordinator whose processes may be killed, and programs that run behind it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use millpond_tests::shim_env::{in_ci, profile_dir, Shim, ShimOptions};
use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

/// Longest that anything here may take: what takes longer hangs.
pub const BOUND: Duration = Duration::from_secs(60);

/// A running coordinator with its store.
pub struct Pond {
    pub shim: Shim,
    pub store: PathBuf,
    root: tempfile::TempDir,
}

impl Pond {
    /// With a store on the disk's file system; `None`, with a line, where nothing is built.
    pub fn start(test: &str) -> Option<Self> {
        let root = directory(test);
        let store = root.path().join("store");
        fs::create_dir(&store).expect("directory");
        Self::over(test, root, store)
    }

    /// With a store that is there already.
    pub fn over(test: &str, root: tempfile::TempDir, store: PathBuf) -> Option<Self> {
        compile(root.path());
        let options =
            ShimOptions { stores: vec![store.clone()], pool: Some("32M".into()), ..ShimOptions::default() };
        Some(Self { shim: Shim::start(test, &options)?, store, root })
    }

    /// The process of the worker.
    pub fn worker(&self) -> Pid {
        self.process("worker")
    }

    /// The process of the supervisor.
    pub fn supervisor(&self) -> Pid {
        self.process("supervisor")
    }

    fn process(&self, which: &str) -> Pid {
        let pid = self.shim.status()[which].as_i64().expect("process id");
        assert!(pid > 1, "no {which}");
        Pid::from_raw(pid as i32)
    }

    /// Kills supervisor and worker, and waits until they are gone.
    pub fn kill_coordinator(&self) {
        let (supervisor, worker) = (self.supervisor(), self.worker());
        // Stopped first: a worker whose supervisor is gone takes its place and makes a new one.
        send(worker, Signal::SIGSTOP);
        send(supervisor, Signal::SIGKILL);
        send(worker, Signal::SIGKILL);
        within(BOUND, "the coordinator is gone", || is_gone(supervisor) && is_gone(worker));
    }

    /// Starts a coordinator of the same name once more.
    pub fn start_again(&self) {
        let store = self.store.clone().into_os_string();
        self.shim.run("start", &["--store".into(), store, "--pool".into(), "32M".into()]);
    }

    /// A path in the store.
    pub fn path(&self, name: &str) -> PathBuf {
        self.store.join(name)
    }

    /// What the real file holds.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    /// The test program of this target, in the store, behind the coordinator.
    pub fn crasher(&self, arguments: &[&str]) -> Program {
        let mut command = self.shim.command(self.root.path().join("crasher"));
        command.args(arguments).current_dir(&self.store);
        Program::spawn(command)
    }

    /// A shell's command line in the store, behind the coordinator.
    pub fn shell(&self, line: &str) -> Program {
        let mut command = self.shim.command("bash");
        command.args(["-c", line]).current_dir(&self.store);
        Program::spawn(command)
    }
}

/// A running program; killed with the value.
pub struct Program {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it, with its standard output for us.
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().expect("program");
        let lines = BufReader::new(child.stdout.take().expect("output"));
        Self { child, lines }
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("line");
        line.trim_end().into()
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }

    /// Kills it with its children.
    pub fn kill_all(mut self) {
        signal::killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL).expect("kill");
        self.child.wait().expect("wait");
    }

    /// Kills it, and reads what it had printed.
    pub fn kill_and_read(mut self, mut line: impl FnMut(&str)) {
        self.child.kill().expect("kill");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut text).expect("output");
        // The last line may be half a number.
        text.rsplit_once('\n').map_or("", |(whole, _)| whole).lines().for_each(&mut line);
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("wait").is_some()
    }

    /// Waits for its end, and gives its exit code and what else it printed.
    pub fn end(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        while !self.has_ended() {
            assert!(begun.elapsed() < BOUND, "the program hangs");
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut text = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut text).expect("output");
        (self.child.wait().expect("wait").code(), text)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends one process a signal.
pub fn send(pid: Pid, what: Signal) {
    signal::kill(pid, what).expect("signal");
}

/// Whether a process is no more, or a zombie.
pub fn is_gone(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'))
}

/// Waits until something holds, and gives how long that took.
pub fn within(bound: Duration, what: &str, holds: impl FnMut() -> bool) -> Duration {
    within_or(bound, holds, || what.into())
}

/// As [`within`]; what is wrong is found out only then.
pub fn within_or(
    bound: Duration,
    mut holds: impl FnMut() -> bool,
    what: impl FnOnce() -> String,
) -> Duration {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < bound, "not within {bound:?}: {}", what());
        std::thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

/// A fresh directory on the disk's file system.
pub fn directory(test: &str) -> tempfile::TempDir {
    let target = profile_dir().parent().expect("target directory").to_path_buf();
    tempfile::Builder::new().prefix(&format!("{test}-")).tempdir_in(target).expect("directory")
}

/// Whether the test runs as root; where it does not, it is skipped by name, or fails where nothing may be skipped.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    assert!(root || !in_ci(), "{test}: needs root");
    if !root {
        eprintln!("SKIPPED {test}: needs root");
    }
    root
}

/// Compiles the test program into a directory.
pub fn compile(directory: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes/crasher.c");
    let mut command = Command::new("gcc");
    command.args(["-O1", "-Wall", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-o"]);
    let output = command.arg(directory.join("crasher")).arg(source).output().expect("gcc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
