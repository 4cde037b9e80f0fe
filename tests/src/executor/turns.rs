//! Several processes by turns. The first process opens nothing itself; it forks the workers and gives
//! each step to one of them over a pipe, and waits until it is done.

use super::child_ops::wait;
use super::{end, say, Process};
use crate::script::{Op, Script};

/// Sent instead of a step's number: the worker ends.
const LAST: u32 = u32::MAX;

struct Worker {
    pid: i32,
    /// Steps go in here.
    turns: i32,
    /// A byte comes out here when a step is done.
    done: i32,
    alive: bool,
}

fn pipe() -> [i32; 2] {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0, "pipe");
    ends
}

/// Moves all of a small message, or says that the other side is gone.
fn transfer(mut bytes: &mut [u8], mut call: impl FnMut(&mut [u8]) -> isize) -> bool {
    while !bytes.is_empty() {
        match call(bytes) {
            count if count > 0 => bytes = &mut bytes[count as usize..],
            _ => return false,
        }
    }
    true
}

fn send(fd: i32, message: &mut [u8]) -> bool {
    // SAFETY: pointer and length are those of a live slice.
    transfer(message, |bytes| unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
}

fn receive(fd: i32, message: &mut [u8]) -> bool {
    // SAFETY: pointer and length are those of a live slice.
    transfer(message, |bytes| unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) })
}

/// Forks one worker, which never returns from here.
fn start(process: &mut Process, script: &Script, name: usize) -> Worker {
    let (turns, done) = (pipe(), pipe());
    // SAFETY: no other thread is alive here, so the child may do anything.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: takes no memory. Without this a worker would outlive a first process that is killed.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        work(process, script, name, turns[0], done[1]);
    }
    // SAFETY: takes no memory.
    unsafe {
        libc::close(turns[0]);
        libc::close(done[1]);
    }
    Worker { pid, turns: turns[1], done: done[0], alive: true }
}

fn work(process: &mut Process, script: &Script, name: usize, turns: i32, done: i32) -> ! {
    let mut number = [0; 4];
    while receive(turns, &mut number) {
        let index = u32::from_le_bytes(number);
        if index == LAST {
            break;
        }
        process.perform(&format!("{index}/{name}"), &script.steps[index as usize].op);
        send(done, &mut [0]);
    }
    end(script.end);
}

impl Worker {
    fn turn(&mut self, index: u32) -> bool {
        send(self.turns, &mut index.to_le_bytes()) && receive(self.done, &mut [0])
    }

    fn kill(&mut self) -> String {
        // SAFETY: the child has not been waited for, so the number is its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        self.alive = false;
        wait(self.pid)
    }
}

/// Carries out a script of several workers and ends the process.
pub fn run(mut process: Process, script: &Script) -> ! {
    // A worker that is gone must show as such and not end the first process too.
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let mut workers: Vec<Worker> =
        (0..usize::from(script.workers)).map(|name| start(&mut process, script, name)).collect();
    for (index, step) in script.steps.iter().enumerate() {
        let name = usize::from(step.worker) % workers.len();
        let worker = &mut workers[name];
        if !worker.alive {
            say(&format!("{index}/{name} gone"));
        } else if step.op == Op::KillWorker {
            let status = worker.kill();
            say(&format!("{index}/{name} KillWorker {status}"));
        } else if !worker.turn(index as u32) {
            worker.alive = false;
            let status = wait(worker.pid);
            say(&format!("{index}/{name} died: {status}"));
        }
    }
    for (name, worker) in workers.iter().enumerate().filter(|(_, worker)| worker.alive) {
        send(worker.turns, &mut LAST.to_le_bytes());
        let status = wait(worker.pid);
        say(&format!("end/{name} {status}"));
    }
    end(crate::script::End::Exit)
}
