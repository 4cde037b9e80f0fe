//! Forked ranks: each runs a closure and sends one JSON value back through a pipe.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{fork, pipe, ForkResult, Pid};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::barrier::Barrier;
use crate::context::{failure, Context};

struct Rank {
    pid: Pid,
    pipe: File,
    received: Vec<u8>,
    open: bool,
}

/// Runs `work(rank, barrier)` in `ranks` forked processes and returns their results in rank order.
///
/// The caller must be single-threaded: the children go on running Rust code after `fork`.
pub fn run_ranks<T, F>(ranks: u32, work: F) -> io::Result<Vec<T>>
where
    T: Serialize + DeserializeOwned,
    F: Fn(u32, &Barrier) -> io::Result<T>,
{
    let barrier = Barrier::new(ranks)?;
    io::stdout().flush()?;
    let mut started: Vec<Rank> = Vec::new();
    for rank in 0..ranks {
        match start(rank, &barrier, &work) {
            Ok(child) => started.push(child),
            Err(e) => {
                barrier.break_up();
                receive::<T>(&mut started, &barrier)?;
                started.into_iter().for_each(|rank| drop(collect::<T>(rank)));
                return Err(e);
            }
        }
    }
    receive::<T>(&mut started, &barrier)?;
    // All are waited for before the first error is returned, so that no rank outlives its driver.
    let results: Vec<io::Result<T>> = started.into_iter().map(collect).collect();
    let mut values = Vec::new();
    let mut errors = Vec::new();
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => values.push(value),
            Err(e) => errors.push(format!("rank {rank}: {e}")),
        }
    }
    if errors.is_empty() {
        Ok(values)
    } else {
        Err(failure(errors.join("; ")))
    }
}

fn start<T: Serialize, F>(rank: u32, barrier: &Barrier, work: &F) -> io::Result<Rank>
where
    F: Fn(u32, &Barrier) -> io::Result<T>,
{
    let (read_end, write_end) = pipe()?;
    // SAFETY: the process has one thread, so the child finds every lock free.
    match unsafe { fork() }.context(|| "fork")? {
        ForkResult::Parent { child } => {
            Ok(Rank { pid: child, pipe: File::from(read_end), received: Vec::new(), open: true })
        }
        ForkResult::Child => {
            drop(read_end);
            let outcome = work(rank, barrier);
            if outcome.is_err() {
                barrier.break_up();
            }
            let code = send(write_end, outcome.map_err(|e| e.to_string()));
            std::process::exit(code)
        }
    }
}

fn send<T: Serialize>(pipe: OwnedFd, outcome: Result<T, String>) -> i32 {
    let sent = serde_json::to_vec(&outcome)
        .map_err(io::Error::from)
        .and_then(|bytes| File::from(pipe).write_all(&bytes));
    i32::from(sent.is_err())
}

/// Reads all pipes to their ends. A rank that ends without a good result, killed for instance, breaks the barrier, so
/// that the others do not wait for it.
fn receive<T: DeserializeOwned>(ranks: &mut [Rank], barrier: &Barrier) -> io::Result<()> {
    loop {
        let mut open: Vec<&mut Rank> = ranks.iter_mut().filter(|rank| rank.open).collect();
        if open.is_empty() {
            return Ok(());
        }
        let ready: Vec<bool> = {
            let mut fds: Vec<PollFd> =
                open.iter().map(|rank| PollFd::new(rank.pipe.as_fd(), PollFlags::POLLIN)).collect();
            poll(&mut fds, PollTimeout::NONE)?;
            fds.iter().map(|fd| fd.any().unwrap_or(true)).collect()
        };
        for rank in open.iter_mut().zip(ready).filter_map(|(rank, ready)| ready.then_some(rank)) {
            let mut chunk = [0; 4096];
            let count = rank.pipe.read(&mut chunk)?;
            rank.received.extend_from_slice(&chunk[..count]);
            rank.open = count > 0;
            if !rank.open && !matches!(outcome::<T>(rank), Ok(Ok(_))) {
                barrier.break_up();
            }
        }
    }
}

fn outcome<T: DeserializeOwned>(rank: &Rank) -> serde_json::Result<Result<T, String>> {
    serde_json::from_slice(&rank.received)
}

fn collect<T: DeserializeOwned>(rank: Rank) -> io::Result<T> {
    match waitpid(rank.pid, None)? {
        WaitStatus::Exited(_, 0) => outcome(&rank)?.map_err(failure),
        status => Err(failure(format!("ended with {status:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_rank_order() {
        let ranks = run_ranks(3, |rank, barrier| {
            barrier.wait()?;
            Ok(rank * 10)
        });
        assert_eq!(ranks.expect("ranks"), [0, 10, 20]);
    }

    #[test]
    fn a_failing_rank_frees_the_others() {
        let error = run_ranks(3, |rank, barrier| {
            if rank == 1 {
                return Err(failure("no such thing"));
            }
            barrier.wait()?;
            Ok(rank)
        })
        .expect_err("must fail");
        assert!(error.to_string().contains("rank 1: no such thing"), "{error}");
    }

    #[test]
    fn a_killed_rank_frees_the_others() {
        let error = run_ranks(2, |rank, barrier| {
            if rank == 0 {
                nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL)?;
            }
            barrier.wait()?;
            Ok(rank)
        })
        .expect_err("must fail");
        assert!(error.to_string().contains("SIGKILL"), "{error}");
    }
}
