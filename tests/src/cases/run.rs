//! One run of a case's script, plain or shimmed.
//!
//! Holds: a run ends within its bound, and with it everything in its process group.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

use crate::programs::row::python;
use crate::programs::snapshot::{self, Tree};
use crate::shim_env::Shim;

/// What came out of one run.
pub struct Ran {
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// What it left in its directory, read from the real files.
    pub tree: Tree,
    /// `millpond status --json` after the run; null when plain.
    pub status: serde_json::Value,
    ended: Option<ExitStatus>,
    elapsed: Duration,
    pub(super) plain_elapsed: Duration,
}

impl Ran {
    /// True if the script ended by itself with exit code 0.
    pub fn succeeded(&self) -> bool {
        self.ended.is_some_and(|status| status.success())
    }

    /// Time from start to end.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Time of the plain run that it is compared with.
    pub fn plain_elapsed(&self) -> Duration {
        self.plain_elapsed
    }

    /// Bytes that programs read from and wrote into the pool.
    pub fn bytes_through(&self) -> u64 {
        let count = |key: &str| self.status["totals"][key].as_u64().unwrap_or(0);
        count("bytes_read") + count("bytes_written")
    }

    /// Reasons for which files were handed to the kernel.
    pub fn sync_downs(&self) -> Vec<String> {
        let listed = self.status["totals"]["sync_downs"].as_array().cloned().unwrap_or_default();
        listed.iter().map(|entry| entry["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = match self.ended {
            None => "no end within its bound".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, signal) => format!("signal {signal:?}"),
            },
        };
        write!(f, "{ended} after {:?}\nstdout: {}\nstderr: {}", self.elapsed, self.stdout, self.stderr)?;
        write!(f, "\ntotals: {}", self.status["totals"])
    }
}

/// Runs `script.sh` of `bin` in `dir`.
pub(super) fn run(dir: &Path, bin: &Path, shim: Option<&Shim>, bound: Duration) -> Ran {
    let captured = tempfile::tempdir().expect("directory for output");
    let (out, err) = (captured.path().join("out"), captured.path().join("err"));
    let create = |path: &Path| File::create(path).expect("output file");
    let mut command = Command::new("bash");
    command.arg(bin.join("script.sh")).current_dir(dir).env_clear().envs(environment(bin));
    if let Some(shim) = shim {
        command.envs(shim.environment().iter().map(|(name, value)| (name, value)));
    }
    command.stdin(Stdio::null()).stdout(create(&out)).stderr(create(&err)).process_group(0);
    let started = Instant::now();
    let ended = wait(&mut command, started + bound);
    let elapsed = started.elapsed();
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("output")).into_owned();
    Ran {
        stdout: text(&out),
        stderr: text(&err),
        tree: snapshot::take(dir).expect("tree after the run"),
        status: shim.map_or(serde_json::Value::Null, Shim::status),
        ended,
        elapsed,
        plain_elapsed: Duration::ZERO,
    }
}

fn environment(bin: &Path) -> Vec<(&'static str, std::ffi::OsString)> {
    let mut path = python().parent().map(|dir| dir.as_os_str().to_owned()).unwrap_or_default();
    path.push(":");
    // The toolchain itself rather than its version manager, which wants a home of its own.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    path.push(Path::new(&cargo).parent().map_or("".as_ref(), Path::as_os_str));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    vec![
        ("PATH", path),
        ("BIN", bin.into()),
        ("HOME", bin.into()),
        ("LC_ALL", "C".into()),
        ("TZ", "UTC".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
    ]
}

/// Waits until `deadline`; `None` if the command had to be killed.
fn wait(command: &mut Command, deadline: Instant) -> Option<ExitStatus> {
    let mut child = command.spawn().expect("bash");
    let group = Pid::from_raw(child.id() as i32);
    let ended = loop {
        // Looked at, not collected: while the leader is a zombie its number cannot be given to another group.
        let waited = nix::sys::wait::waitid(
            nix::sys::wait::Id::Pid(group),
            nix::sys::wait::WaitPidFlag::WEXITED
                | nix::sys::wait::WaitPidFlag::WNOHANG
                | nix::sys::wait::WaitPidFlag::WNOWAIT,
        );
        if waited.is_ok_and(|status| status != nix::sys::wait::WaitStatus::StillAlive) {
            break true;
        }
        if Instant::now() > deadline {
            break false;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    match killpg(group, Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => {}
        Err(error) => panic!("end of process group {group}: {error}"),
    }
    let status = child.wait().expect("exit status");
    ended.then_some(status)
}
