//! One run of one script.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

/// Longest that a script may take, on a busy machine: no operation waits for anything but a disk.
const SCRIPT_BOUND: Duration = Duration::from_secs(40);

/// How a run is started.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What transcripts call it.
    pub name: String,
    /// Variables set for the executor.
    pub environment: Vec<(String, String)>,
}

impl Side {
    /// A side with the given name and environment.
    pub fn new(name: &str, environment: &[(String, String)]) -> Side {
        Side { name: name.into(), environment: environment.to_vec() }
    }
}

/// Runs the script in `script` in `directory` and gives what it printed, line by line, with its standard
/// error and how it ended. `stderr` is a file to use for the former.
pub fn run_script(
    executor: &Path,
    side: &Side,
    script: &Path,
    directory: &Path,
    stderr: &PathBuf,
) -> io::Result<Vec<String>> {
    let mut child = Command::new(executor)
        .args([script, directory])
        .envs(side.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(stderr)?)
        .process_group(0)
        .spawn()?;
    let (output, finished) = collect(&mut child)?;
    let mut lines: Vec<String> = String::from_utf8_lossy(&output).lines().map(String::from).collect();
    if !finished {
        // Every process of the script is in the child's group, which the child has not left yet.
        let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
        lines.push(format!("did not end in {SCRIPT_BOUND:?}"));
    }
    let status = child.wait()?;
    lines.push(match status.signal() {
        Some(signal) => format!("killed {signal}"),
        None => format!("exited {}", status.code().unwrap_or(-1)),
    });
    let errors = std::fs::read(stderr)?;
    lines.extend(String::from_utf8_lossy(&errors).lines().map(|line| format!("stderr {line}")));
    Ok(lines)
}

/// Reads the child's output to its end, which comes when its last process has ended; false if it does
/// not come in time.
fn collect(child: &mut Child) -> io::Result<(Vec<u8>, bool)> {
    let mut pipe = child.stdout.take().expect("standard output is a pipe");
    let deadline = Instant::now() + SCRIPT_BOUND;
    let mut output = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) => return Ok((output, false)),
            Err(nix::errno::Errno::EINTR) => continue,
            Err(errno) => return Err(errno.into()),
            Ok(_) => {}
        }
        match pipe.read(&mut buffer)? {
            0 => return Ok((output, true)),
            count => output.extend_from_slice(&buffer[..count]),
        }
    }
}
