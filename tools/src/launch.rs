//! Starting a program and ending as it ends.
//!
//! The program stays in our process group, so what a terminal sends (Ctrl-C, Ctrl-\, a hang-up) reaches it without us,
//! and we only have to outlive it. What another process sends to us alone is passed on.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::errno::Errno;
use nix::spawn::{posix_spawnp, PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags};
use nix::sys::signal::{kill, SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use rustix::event::{poll, PollFd, PollFlags};
use rustix::process::{pidfd_open, PidfdFlags};

use crate::environment::{ShimEnvironment, PRELOAD};
use crate::failure::{Failure, Outcome};

/// What is passed on when sent to us by a process, and otherwise left to the program.
const FORWARDED: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// Signals that no longer end us, so that what a program wrote gets into its files whatever is pressed meanwhile.
///
/// Taken once and kept to the end. Blocked rather than handled: so none is lost between a program's start and our waiting.
pub struct HeldSignals {
    before: SigSet,
    held: SignalFd,
}

impl HeldSignals {
    /// Holds them from now on.
    pub fn hold() -> Outcome<Self> {
        let signals = SigSet::from_iter(FORWARDED);
        let failed = |errno: Errno| Failure::new(format_args!("signals: {errno}"), "try again");
        let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(failed)?;
        let held = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).map_err(failed)?;
        Ok(Self { before, held })
    }
}

/// A program to start.
pub struct Launch {
    words: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// `words` are the program and its arguments; there is at least a program.
    pub fn new(words: &[OsString]) -> Self {
        Self { words: words.into(), environment: std::env::vars_os().collect() }
    }

    /// Sends it through the pool.
    pub fn through(mut self, environment: &ShimEnvironment) -> Self {
        let preloaded = self.environment.get(OsStr::new(PRELOAD)).cloned();
        for (name, value) in environment.variables(preloaded.as_deref()) {
            self.environment.insert(name.into(), value);
        }
        self
    }

    /// Sets a variable of its environment.
    pub fn set(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Starts the program, waits for its end, and says with which code to end: its own, or 128 and the signal.
    pub fn run(self, signals: &HeldSignals) -> Outcome<u8> {
        let name = self.words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let pid = self.spawn(&signals.before).map_err(|errno| not_started(&name, errno))?;
        wait(pid, &signals.held)
            .map_err(|errno| Failure::new(format_args!("{name}: waiting for it: {errno}"), "try again"))
    }

    /// The program gets the signal mask that we were started with.
    fn spawn(&self, mask: &SigSet) -> Result<Pid, Errno> {
        let words = self.words.iter().map(|word| c_string(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let variables = self.environment.iter().map(|(name, value)| {
            let mut line = name.clone().into_vec();
            line.push(b'=');
            line.extend_from_slice(value.as_bytes());
            c_string(&line)
        });
        let variables = variables.collect::<Result<Vec<_>, _>>()?;
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_sigmask(mask)?;
        // Rust programs ignore it; others must die of it.
        attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
        attributes
            .set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
        let program = words.first().ok_or(Errno::ENOENT)?;
        posix_spawnp(program, &PosixSpawnFileActions::init()?, &attributes, &words, &variables)
    }
}

fn c_string(bytes: &[u8]) -> Result<CString, Errno> {
    CString::new(bytes).map_err(|_| Errno::EINVAL)
}

fn wait(pid: Pid, signals: &SignalFd) -> Result<u8, Errno> {
    let process = rustix::process::Pid::from_raw(pid.as_raw()).ok_or(Errno::ECHILD)?;
    let process = pidfd_open(process, PidfdFlags::empty()).map_err(errno)?;
    loop {
        let mut ready = [PollFd::new(&process, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(errno(error)),
        }
        let signalled = ready[1].revents().contains(PollFlags::IN);
        match waitpid(pid, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::Exited(_, code) => return Ok(code as u8),
            WaitStatus::Signaled(_, signal, _) => return Ok(128 + signal as u8),
            _ => {}
        }
        if signalled {
            pass_on(signals, pid)?;
        }
    }
}

fn pass_on(signals: &SignalFd, pid: Pid) -> Result<(), Errno> {
    let Some(info) = signals.read_signal()? else { return Ok(()) };
    let sent_by_process = info.ssi_code <= 0;
    if let (true, Ok(signal)) = (sent_by_process, Signal::try_from(info.ssi_signo as i32)) {
        // The program may have ended in this moment; then the next round sees that.
        let _ = kill(pid, signal);
    }
    Ok(())
}

fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

/// Shells give 127 for a program that is not there and 126 for one that cannot be executed.
fn not_started(name: &str, errno: Errno) -> Failure {
    if errno == Errno::ENOENT {
        return Failure::new(
            format_args!("{name}: no such program, or its interpreter is missing"),
            "check its name and PATH, or see `millpond check`",
        )
        .with_code(127);
    }
    let remedy =
        if errno == Errno::EACCES { "check its permissions (`chmod +x`)" } else { "see `millpond check`" };
    Failure::new(format_args!("{name}: cannot be executed: {}", errno.desc()), remedy).with_code(126)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(words: &[&str]) -> Outcome<u8> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Launch::new(&words).run(&HeldSignals::hold().unwrap())
    }

    #[test]
    fn codes_are_those_of_the_program() {
        assert_eq!(code_of(&["true"]).unwrap(), 0);
        assert_eq!(code_of(&["sh", "-c", "exit 7"]).unwrap(), 7);
        assert_eq!(code_of(&["sh", "-c", "kill -KILL $$"]).unwrap(), 137);
    }

    #[test]
    fn a_program_can_be_ended_by_what_is_held() {
        let signals = HeldSignals::hold().unwrap();
        for _ in 0..2 {
            let words = ["sh", "-c", "kill -TERM $$"].map(OsString::from);
            assert_eq!(Launch::new(&words).run(&signals).unwrap(), 143);
        }
    }

    #[test]
    fn variables_arrive() {
        let words = ["sh", "-c", "test \"$POND\" = 'a b'"].map(OsString::from);
        assert_eq!(Launch::new(&words).set("POND", "a b").run(&HeldSignals::hold().unwrap()).unwrap(), 0);
    }

    #[test]
    fn missing_and_unusable_programs_have_their_codes() {
        let missing = code_of(&["/nowhere/at/all"]).unwrap_err();
        assert!(missing.to_string().starts_with("/nowhere/at/all: no such program"), "{missing}");
        assert_eq!(missing.code(), 127);
        let unusable = code_of(&["/etc/passwd"]).unwrap_err();
        assert!(unusable.to_string().starts_with("/etc/passwd: cannot be executed: Permission denied"));
        assert_eq!(unusable.code(), 126);
    }
}
