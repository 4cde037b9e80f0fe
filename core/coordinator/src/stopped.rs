//! Stopped processes that hold what others wait for.
//!
//! Ctrl-Z stops a program anywhere, in the middle of a flush too; whoever wants the same file would wait until it is told to go on. The coordinator
//! lets it run until it has given back what it holds, and no further: as its tracer, so that neither its parent nor its shell sees
//! anything of it. Where that is not allowed, it continues the process and stops it again.

use std::cell::RefCell;
use std::fs;
use std::time::{Duration, Instant};

use millpond_segment::sys;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

/// Longest that a process may run for it.
const RUN: Duration = Duration::from_millis(500);
/// Longest that its threads may take to stop again: one may be in the middle of a write to a slow disk.
const HALT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_micros(100);

/// Lets process `pid`, stopped by a signal, run until `done`. Whether it came to that.
pub fn let_go_on(pid: u32, done: &dyn Fn() -> bool) -> bool {
    // Not one that a debugger holds.
    if done() || !is_stopped(pid) {
        return done();
    }
    let threads = Threads::seize(pid);
    if threads.list.borrow().is_empty() {
        return continued(pid, done);
    }
    let end = Instant::now() + RUN;
    while !done() && Instant::now() < end {
        threads.pass_on();
        std::thread::sleep(PAUSE);
    }
    threads.halt();
    tracing::info!("process {pid} is stopped and held what others waited for: it was let go on with it");
    done()
}

fn is_stopped(pid: u32) -> bool {
    sys::process_state(pid).is_some_and(|(letter, _)| letter == b'T')
}

/// The same by signals, which its parent can see.
fn continued(pid: u32, done: &dyn Fn() -> bool) -> bool {
    let pid = Pid::from_raw(pid as i32);
    if kill(pid, Signal::SIGCONT).is_err() {
        return false;
    }
    let end = Instant::now() + RUN;
    while !done() && Instant::now() < end {
        std::thread::sleep(PAUSE);
    }
    // It may have ended meanwhile.
    let _ = kill(pid, Signal::SIGSTOP);
    done()
}

/// The threads of a process that are traced.
struct Threads {
    list: RefCell<Vec<Pid>>,
}

impl Threads {
    fn seize(pid: u32) -> Self {
        let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Pid::from_raw);
        let seized = ids.filter(|&id| ptrace::seize(id, Options::empty()).is_ok());
        Self { list: RefCell::new(seized.collect()) }
    }

    /// Lets every thread that has come to a halt go on, with the signal that it was about to get.
    fn pass_on(&self) {
        self.list.borrow_mut().retain(|&id| match look(id) {
            Halted::Not => true,
            Halted::With(signal) => ptrace::cont(id, signal).is_ok(),
            Halted::Gone => false,
        });
    }

    /// Brings all to a halt and leaves them: they are stopped as before.
    fn halt(&self) {
        let mut list = self.list.borrow_mut();
        list.retain(|&id| ptrace::interrupt(id).is_ok());
        let end = Instant::now() + HALT;
        while !list.is_empty() && Instant::now() < end {
            list.retain(|&id| match look(id) {
                Halted::Not => true,
                Halted::With(signal) => ptrace::detach(id, signal).is_err(),
                Halted::Gone => false,
            });
            std::thread::sleep(PAUSE);
        }
    }
}

/// What a traced thread is at.
enum Halted {
    Not,
    With(Option<Signal>),
    Gone,
}

fn look(id: Pid) -> Halted {
    match waitpid(id, Some(WaitPidFlag::WNOHANG | WaitPidFlag::__WALL)) {
        Ok(WaitStatus::Stopped(_, signal)) => Halted::With(Some(signal)),
        // By our own doing, or with its process.
        Ok(WaitStatus::PtraceEvent(..)) => Halted::With(None),
        Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(_) => Halted::Gone,
        Ok(_) => Halted::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn a_stopped_process_goes_on_as_far_as_wanted() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("lines");
        let script = format!("i=0; while :; do i=$((i+1)); echo $i >>{}; done", path.display());
        let mut child = Command::new("sh").args(["-c", &script]).spawn().expect("sh");
        let length = || fs::metadata(&path).map_or(0, |m| m.len());
        while length() < 100 {
            std::thread::sleep(PAUSE);
        }
        let pid = Pid::from_raw(child.id() as i32);
        kill(pid, Signal::SIGSTOP).expect("stop");
        let flags = WaitPidFlag::WUNTRACED | WaitPidFlag::WNOWAIT;
        let stopped = nix::sys::wait::waitid(nix::sys::wait::Id::Pid(pid), WaitPidFlag::WSTOPPED | flags);
        assert!(stopped.is_ok(), "{stopped:?}");
        let before = length();
        assert!(let_go_on(child.id(), &|| length() > before + 20));
        while !is_stopped(child.id()) {
            std::thread::sleep(PAUSE);
        }
        let after = length();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(length(), after, "it goes on");
        kill(pid, Signal::SIGCONT).expect("continue");
        while length() == after {
            std::thread::sleep(PAUSE);
        }
        child.kill().expect("kill");
        assert_eq!(child.wait().expect("wait").signal(), Some(9));
    }
}
