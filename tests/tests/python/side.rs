//! One run of modules of the suite, plain or behind a coordinator.
//!
//! Holds: working directory and temporary files lie in the directory of the run, which is the store when shimmed; a run ends within
//! its bound, and with it everything in its process group.

use crate::interpreter::Share;
use crate::outcomes::Outcomes;
use millpond_tests::shim_env::Shim;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time of one run.
const BOUND: Duration = Duration::from_secs(900);
/// Longest time of one module, in seconds.
const MODULE_BOUND: &str = "300";

/// What came out of one run.
pub struct Ran {
    /// What became of the cases.
    pub outcomes: Outcomes,
    /// What was printed.
    pub printed: String,
}

/// Runs the modules in `dir`, which is made anew.
///
/// # Panics
/// When the run does not end within its bound or leaves no report.
pub fn run(share: &Share, modules: &[String], dir: &Path, shim: Option<&Shim>) -> Ran {
    let captured = tempfile::tempdir().expect("directory for output");
    let (printed, report) = (captured.path().join("printed"), captured.path().join("report"));
    let temporary = dir.join("t");
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(&temporary).expect("directory of the run");
    let mut command = match shim {
        Some(shim) => shim.command(&share.python),
        None => Command::new(&share.python),
    };
    command.args(["-m", "test", "-j2", "--timeout", MODULE_BOUND, "--tempdir"]).arg(&temporary);
    command.arg("--junit-xml").arg(&report).args(modules);
    command.env("TMPDIR", &temporary).env("LC_ALL", "C.UTF-8").env_remove("CI").current_dir(dir);
    let output = File::create(&printed).expect("output file");
    command
        .stdin(Stdio::null())
        .stderr(output.try_clone().expect("output file"))
        .stdout(output)
        .process_group(0);
    let ended = wait(&mut command);
    let printed = String::from_utf8_lossy(&fs::read(&printed).expect("output")).into_owned();
    assert!(ended, "no end within {BOUND:?}: {command:?}\n{printed}");
    let report =
        fs::read_to_string(&report).unwrap_or_else(|e| panic!("no report: {e}: {command:?}\n{printed}"));
    Ran { outcomes: Outcomes::read(&share.python, &report, &printed), printed }
}

/// Waits for the end. `false` if the command had to be killed.
fn wait(command: &mut Command) -> bool {
    let mut child = command.spawn().expect("python");
    let group = Pid::from_raw(child.id() as i32);
    let started = Instant::now();
    let ended = loop {
        if child.try_wait().expect("status").is_some() {
            break true;
        }
        if started.elapsed() > BOUND {
            break false;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    ended
}
