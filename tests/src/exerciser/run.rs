//! A run as a program: one that watches, and those that take turns.

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use super::actor::{Actor, FOUND};
use super::life;
use super::options::Options;
use super::probe;
use super::random::Random;
use super::state::{Ending, State, ROLES};

/// How long the bytes of a killed process may take to reach the real file.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Looks at the turn before a process sleeps.
const SPINS: u32 = 200;
/// Longest sleep without another look.
const NAP_NS: i64 = 50_000_000;

/// Which process a step belongs to.
fn actor_of(options: &Options, step: u64) -> usize {
    Random::new(options.seed, options.run, step | 1 << 62).below(options.processes as u64) as usize
}

impl Actor {
    /// Does all steps that are this process's, and ends it.
    pub fn take_turns(&mut self) -> ! {
        let order = self.options.order();
        loop {
            let heard = self.state.bell.load(SeqCst);
            let ending = self.state.roles[self.role].ending;
            if ending != 0 {
                life::end([Ending::Exit, Ending::ExitNow, Ending::Kill][ending as usize - 1]);
            }
            let turn = self.state.turn.load(SeqCst);
            let Some(&step) = order.get(turn as usize) else { break };
            if actor_of(&self.options, step) == self.role {
                self.perform(step);
                self.state.turn.store(turn + 1, SeqCst);
                if self.options.processes > 1 {
                    self.ring();
                }
            } else {
                self.rest(heard);
            }
        }
        life::end(Ending::Exit)
    }

    /// Waits until the bell has rung.
    fn rest(&self, heard: u32) {
        for _ in 0..SPINS {
            if self.state.bell.load(SeqCst) != heard {
                return;
            }
            std::hint::spin_loop();
        }
        let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP_NS };
        let bell = self.state.bell.as_ptr();
        // SAFETY: the word lies in shared memory that is never unmapped; the time outlives the call.
        unsafe { libc::syscall(libc::SYS_futex, bell, libc::FUTEX_WAIT, heard, &nap, 0, 0) };
    }

    /// The first process: opens what all share, and forks the others.
    fn begin(&mut self) -> ! {
        for _ in 0..3 {
            self.state.story.line("the beginning: Open");
            self.open();
        }
        for role in 1..self.options.processes {
            self.fork_role(role);
        }
        self.take_turns()
    }
}

/// Whether a process is there, and no zombie.
fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Watches over the run until every process of it has ended; gives the exit code.
fn watch(state: &State, steps: usize) -> i32 {
    let mut missing = 0;
    loop {
        let mut status = 0;
        // SAFETY: the status outlives the call.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
        if state.failed.load(SeqCst) != 0 {
            return FOUND;
        }
        if pid < 0 {
            break;
        }
        if pid > 0 {
            continue;
        }
        let over = state.turn.load(SeqCst) as usize >= steps;
        let gone = (0..ROLES)
            .map(|role| state.roles[role])
            .find(|role| role.pid != 0 && role.ending == 0 && !over && !lives(role.pid));
        // Twice: between its end and its replacement a role has neither.
        missing = gone.map_or(0, |_| missing + 1);
        if missing > 20 {
            eprintln!(
                "process {} has died.\nThe last operations:\n{}",
                gone.map_or(0, |r| r.pid),
                state.story.text()
            );
            return FOUND;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    if (state.turn.load(SeqCst) as usize) < steps {
        eprintln!("the processes ended early.\nThe last operations:\n{}", state.story.text());
        return FOUND;
    }
    0
}

/// What is wrong with the real files in `directory` when all is over.
pub fn wrong_at_the_end(state: &State, directory: &Path) -> Option<String> {
    let begun = Instant::now();
    let patience = if state.kills > 0 { PATIENCE } else { Duration::ZERO };
    loop {
        let wrong = state.wrong_files(&directory.to_string_lossy());
        if wrong.is_none() || begun.elapsed() >= patience {
            return wrong;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills what is left of the run's processes.
fn clear_away(state: &State) {
    for role in state.roles.iter().filter(|role| role.pid > 1) {
        // SAFETY: takes no memory.
        unsafe { libc::kill(role.pid, libc::SIGKILL) };
    }
}

/// The program's `main`: a run, in the current directory.
pub fn main() {
    let options = Options::parse(std::env::args().skip(1)).unwrap_or_else(|word| {
        eprintln!("millpond-exerciser: {word}: not understood");
        std::process::exit(2)
    });
    let fresh = options.image.is_empty();
    let state = State::map(&options.state, fresh).expect("state of the run");
    let role = options.role;
    match options.image.as_str() {
        "" => {}
        "once" => {
            let mut actor = Actor::new(state, options, role);
            actor.begin_image(1 << 61);
            actor.heir = true;
            actor.act_as_child();
            life::end(Ending::Exit);
        }
        _ => {
            let mut actor = Actor::new(state, options, role);
            actor.begin_image(1 << 60);
            actor.told(" | resumed");
            let turn = actor.state.turn.load(SeqCst);
            actor.state.turn.store(turn + 1, SeqCst);
            actor.ring();
            actor.take_turns();
        }
    }
    probe::probe(state);
    let steps = options.order().len();
    let lazy = options.lazy;
    // SAFETY: takes no memory. Processes whose parent has gone become this one's children.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    // SAFETY: no other thread is alive here, so the child may do anything.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let mut actor = Actor::new(state, options, 0);
        actor.state.roles[0].pid = std::process::id() as i32;
        actor.begin();
    }
    let mut code = watch(state, steps);
    if code == 0 && !lazy {
        if let Some(wrong) = wrong_at_the_end(state, Path::new(".")) {
            eprintln!("at the end: {wrong}\nThe last operations:\n{}", state.story.text());
            code = FOUND;
        }
    }
    clear_away(state);
    std::process::exit(code);
}

impl Actor {
    /// Takes up the step of the image before this one.
    fn begin_image(&mut self, other: u64) {
        self.step = self.state.step;
        self.random = Random::new(self.options.seed, self.options.run, self.step | other);
    }
}
