//! The supervisor: holds the descriptors and restarts the worker. Nothing else, so that nothing in it can fail.
//!
//! If it is the supervisor that is killed, the worker takes its place and makes a new worker.

use std::fs;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use millpond_segment::Segment;
use nix::errno::Errno;
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::wait::{waitid, waitpid, Id, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use crate::reserve::ReserveError;
use crate::start::{Lifetime, Shared, StartError};
use crate::{process, worker};

/// Exit code of a worker that has done all there was to do.
const DONE: i32 = 0;
/// A worker that ends sooner than this after its start died quickly.
const QUICK: Duration = Duration::from_secs(1);
/// So many quick deaths in a row, other than by a kill, end it.
const MOST_QUICK_DEATHS: u32 = 20;
/// Pause before a restart after a quick death, for each in a row.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a worker has until it serves.
const SERVING: Duration = Duration::from_secs(30);

/// How a worker ended.
enum End {
    Done,
    Killed,
    Failed(String),
}

/// Runs workers until one is done. `ready` is called when one serves.
///
/// While a worker lives, the supervisor opens nothing: a new worker takes what it finds in the shared table for left over.
pub fn supervise(shared: &Shared, ready: impl FnOnce()) -> Result<(), StartError> {
    let segment = Segment::attach(shared.segment.as_fd()).map_err(ReserveError::from)?;
    let mut ready = Some(ready);
    let (mut quick, mut pause) = (0, Duration::ZERO);
    loop {
        let begun = Instant::now();
        let worker = spawn(shared)?;
        if serves(&segment, worker) {
            if let Some(ready) = ready.take() {
                ready();
            }
        }
        match wait(worker) {
            End::Done => {
                clear(shared);
                return Ok(());
            }
            End::Killed => tracing::warn!("worker {worker} was killed and is restarted"),
            End::Failed(how) => {
                tracing::error!("worker {worker} {how} and is restarted");
                quick = if begun.elapsed() < QUICK { quick + 1 } else { 0 };
            }
        }
        if quick >= MOST_QUICK_DEATHS {
            tracing::error!("{quick} workers in a row ended within a second: giving up");
            clear(shared);
            let log = shared.place.log();
            return Err(StartError::Said(format!(
                "the coordinator's worker ends again and again; see {}",
                log.display()
            )));
        }
        pause = if begun.elapsed() < QUICK { (pause + PAUSE).min(10 * PAUSE) } else { Duration::ZERO };
        std::thread::sleep(pause);
    }
}

fn spawn(shared: &Shared) -> Result<u32, StartError> {
    let supervisor = std::process::id();
    let body = || match worker::run(shared, supervisor) {
        Ok(worker::Ended::Done) => DONE,
        Ok(worker::Ended::Orphaned) => succeed(shared),
        Err(error) => {
            tracing::error!("{error}");
            1
        }
    };
    process::fork_sharing_descriptors(body).map_err(|e| std::io::Error::from_raw_os_error(e.0).into())
}

/// Takes the place of a supervisor that is gone.
fn succeed(shared: &Shared) -> i32 {
    tracing::warn!("the supervisor is gone; process {} takes its place", std::process::id());
    if let Err(error) = shared.announce() {
        tracing::error!("{}: {error}", shared.place.info().display());
    }
    supervise(shared, || {}).map_or(1, |()| 0)
}

/// Waits until the worker has looked round once; `false` when it ended before.
fn serves(segment: &Segment, worker: u32) -> bool {
    let header = segment.header();
    let begun = Instant::now();
    while begun.elapsed() < SERVING {
        if header.worker.load(Acquire) == worker {
            return true;
        }
        // Looks without taking the end away from who waits for it.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(Pid::from_raw(worker as i32)), flags) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            _ => return false,
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    false
}

/// Waits for the worker's end. What asks the supervisor to end is passed on: the worker flushes first.
fn wait(worker: u32) -> End {
    let pid = Pid::from_raw(worker as i32);
    let signals = SigSet::from_iter([Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT]);
    loop {
        match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, DONE)) => return End::Done,
            Ok(WaitStatus::Exited(_, code)) => return End::Failed(format!("ended with code {code}")),
            Ok(WaitStatus::Signaled(_, Signal::SIGKILL, _)) => return End::Killed,
            Ok(WaitStatus::Signaled(_, signal, _)) => return End::Failed(format!("died of {signal}")),
            Err(Errno::ECHILD) => return End::Failed("is gone".into()),
            _ => {}
        }
        if let Ok(signal @ (Signal::SIGTERM | Signal::SIGINT)) = signals.wait() {
            let _ = kill(pid, signal);
        }
    }
}

/// Takes away what would look like a running coordinator.
fn clear(shared: &Shared) {
    let place = &shared.place;
    let _ = fs::remove_file(place.socket());
    let _ = fs::remove_file(place.info());
    let log_is_empty = fs::metadata(place.log()).is_ok_and(|log| log.len() == 0);
    if shared.lifetime == Lifetime::WhileHeld || log_is_empty {
        let _ = fs::remove_file(place.log());
    }
    let _ = fs::remove_file(place.lock());
    // Stays when a log is left in it.
    let _ = fs::remove_dir(place.directory());
}
