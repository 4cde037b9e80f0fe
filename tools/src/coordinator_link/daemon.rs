//! Bringing a coordinator up in the background, and being one.
//!
//! The background process is this executable again with `serve`. It gets its configuration on standard input and says
//! on standard output that it is ready, or why it will not be; its log goes to the instance directory.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use millpond_coordinator::Lifetime;
use millpond_model::config::Config;
use rustix::event::{poll, PollFd, PollFlags, Timespec};

use super::Connection;
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;

/// Reserving a pool of hundreds of gigabytes takes a while; beyond this something is wrong.
const READY_WAIT: Duration = Duration::from_secs(120);
/// What a coordinator says when it serves.
pub const READY: &str = "ready";
/// What a line begins with that the user should see.
pub const WARNING: &str = "warning";
/// What a line begins with that says why it will not serve.
pub const ERROR: &str = "error";

/// Starts a coordinator in the background and returns when it serves.
pub fn start_daemon(config: &Config, instance: &Instance, lifetime: Lifetime) -> Outcome<Connection> {
    instance.create()?;
    let mut child = spawn(instance, lifetime)?;
    let text = toml::to_string(config).map_err(|error| not_started(instance, &error))?;
    if let Some(mut input) = child.stdin.take() {
        // If it ended early, what it said is the better message.
        let _ = input.write_all(text.as_bytes());
    }
    let Some(output) = child.stdout.take() else { return Err(not_started(instance, &"it has no output")) };
    let mut lines = Lines { output };
    loop {
        let said = lines.next().map_err(|error| not_started(instance, &error))?;
        match said.split_once(": ") {
            _ if said == READY => return Connection::require(instance),
            Some((WARNING, text)) => eprintln!("millpond: {text}"),
            Some((ERROR, why)) => return Err(Failure::new(why, "")),
            _ => return Err(not_started(instance, &"it ended without a word")),
        }
    }
}

/// Is the coordinator of `instance`, until it is told to end.
///
/// `ready` is called when programs can connect, with a line that the user should see, if there is one.
pub fn serve(
    config: &Config,
    instance: &Instance,
    lifetime: Lifetime,
    ready: impl FnOnce(Option<&str>),
) -> Outcome<()> {
    instance.create()?;
    millpond_coordinator::serve(config, &instance.place(), lifetime, ready)
        .map_err(|error| Failure::new(error, ""))
}

fn spawn(instance: &Instance, lifetime: Lifetime) -> Outcome<Child> {
    let log = instance.place().log();
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&log).map_err(|error| {
        Failure::new(format_args!("{}: {error}", log.display()), "make its directory writable")
    })?;
    let executable = std::env::current_exe().map_err(|error| not_started(instance, &error))?;
    let mut command = Command::new(executable);
    command.arg("serve").args(["--instance", instance.name()]);
    if lifetime == Lifetime::WhileHeld {
        command.arg("--while-held");
    }
    // The coordinator must not be its own client.
    command.env_remove(crate::environment::PRELOAD).env_remove(crate::environment::SOCKET);
    command.current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
    command.spawn().map_err(|error| not_started(instance, &error))
}

/// What it says, line by line, for each of which it has a bounded time.
struct Lines {
    output: ChildStdout,
}

impl Lines {
    fn next(&mut self) -> std::io::Result<String> {
        let mut said = Vec::new();
        let mut byte = [0; 1];
        let limit = Timespec { tv_sec: READY_WAIT.as_secs() as i64, tv_nsec: 0 };
        loop {
            let mut ready = [PollFd::new(&self.output, PollFlags::IN)];
            if poll(&mut ready, Some(&limit))? == 0 {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    "it did not get ready in time",
                ));
            }
            if self.output.read(&mut byte)? == 0 || byte[0] == b'\n' {
                return Ok(String::from_utf8_lossy(&said).into_owned());
            }
            said.push(byte[0]);
        }
    }
}

fn not_started(instance: &Instance, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        format_args!("coordinator `{}` did not start: {why}", instance.name()),
        format_args!("see {}", instance.place().log().display()),
    )
}
