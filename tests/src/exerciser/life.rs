//! Processes: children, other images, and one that takes another's place.

use std::ffi::CString;
use std::sync::atomic::Ordering::SeqCst;

use super::actor::{outcome, Actor, FOUND};
use super::kinds::Kind;
use super::options::Options;
use super::state::{Ending, MAPS, ROLES, SLOTS};

/// What a child does at most.
const CHILD_OPS: u64 = 3;

const CHILD_KINDS: [Kind; 12] = [
    Kind::Read,
    Kind::ReadAt,
    Kind::Write,
    Kind::WriteAt,
    Kind::WriteAt,
    Kind::AppendAt,
    Kind::Seek,
    Kind::TruncateFd,
    Kind::MapRead,
    Kind::MapWrite,
    Kind::Stat,
    Kind::Sync,
];

/// Ends the calling process.
pub fn end(how: Ending) -> ! {
    // SAFETY: ends the process.
    unsafe {
        match how {
            Ending::Exit => libc::exit(0),
            Ending::ExitNow => libc::_exit(0),
            Ending::Kill => libc::raise(libc::SIGKILL),
        };
        libc::_exit(FOUND)
    }
}

/// Waits for a child; gives its status as `waitpid` does.
fn wait_for(pid: i32) -> i32 {
    let mut status = -1;
    // SAFETY: the status outlives the call.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    status
}

/// The command line of another image of this program.
fn image(options: &Options, what: &str, role: usize) -> Vec<CString> {
    let words = Options { image: what.into(), role, ..options.clone() }.words();
    let program = std::env::current_exe().expect("path of the program");
    std::iter::once(program.to_string_lossy().into_owned())
        .chain(words)
        .map(|word| CString::new(word).expect("no null bytes"))
        .collect()
}

fn pointers(words: &[CString]) -> Vec<*mut libc::c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect()
}

extern "C" {
    static environ: *const *mut libc::c_char;
}

impl Actor {
    fn ending(&mut self) -> Ending {
        self.random.pick(&[Ending::Exit, Ending::ExitNow, Ending::Kill])
    }

    /// A few operations of a child.
    pub fn act_as_child(&mut self) {
        for _ in 0..1 + self.random.below(CHILD_OPS) {
            let kind = self.random.pick(&CHILD_KINDS);
            self.told(&format!("; {kind:?}"));
            self.dispatch(kind);
        }
    }

    fn ended_well(&mut self, status: i32, how: Ending) {
        let want = if how == Ending::Kill { libc::SIGKILL } else { 0 };
        self.state.kills += u32::from(how == Ending::Kill);
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == FOUND {
            // It has said what it found.
            // SAFETY: ends the process.
            unsafe { libc::_exit(FOUND) }
        }
        if status != want {
            self.fail(&format!("a child ended with status {status:#x} instead of {want:#x}"));
        }
    }

    /// A forked child that uses what it inherited.
    pub(super) fn child(&mut self) {
        let how = self.ending();
        // SAFETY: no other thread is alive here, so the child may do anything.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            self.told(&format!(" (child, {how:?})"));
            self.act_as_child();
            end(how);
        }
        let status = wait_for(pid);
        self.ended_well(status, how);
        self.told(" | ended");
    }

    /// Another program that uses what it inherited.
    pub(super) fn spawn(&mut self) {
        let words = image(&self.options, "once", self.role);
        self.state.step = self.step;
        let mut pid = 0;
        self.told(" (spawned)");
        // SAFETY: the lists end with null, and their strings outlive the call.
        let errno = unsafe {
            let nothing = std::ptr::null();
            libc::posix_spawn(
                &mut pid,
                words[0].as_ptr(),
                nothing,
                nothing.cast(),
                pointers(&words).as_ptr(),
                environ,
            )
        };
        self.expect("posix_spawn", Ok(errno as usize), Ok(0));
        let status = wait_for(pid);
        self.ended_well(status, Ending::Exit);
        self.told(" | ended");
    }

    /// Becomes another program, which goes on.
    pub(super) fn exec(&mut self) {
        let words = image(&self.options, "resume", self.role);
        self.told(" (new image)");
        self.state.step = self.step;
        let role = &mut self.state.roles[self.role];
        role.maps = [None; MAPS];
        for slot in &mut role.slots {
            if let Some(gone) = slot.take_if(|slot| slot.cloexec) {
                self.state.descriptions[gone.description].refs -= 1;
            }
        }
        self.state.sweep();
        // SAFETY: the list ends with null, and its strings outlive the call.
        let got = outcome(unsafe { libc::execv(words[0].as_ptr(), pointers(&words).as_ptr().cast()) }.into());
        self.fail(&format!("exec came back: {got:?}"));
    }

    /// Forks a process that takes over a role, with copies of all that this one has.
    pub fn fork_role(&mut self, role: usize) {
        let (slots, maps) = (self.state.roles[self.role].slots, self.state.roles[self.role].maps);
        for slot in slots.iter().flatten() {
            self.state.descriptions[slot.description].refs += 1;
        }
        let other = &mut self.state.roles[role];
        (other.slots, other.maps, other.ending) = (slots, maps, 0);
        // SAFETY: no other thread is alive here, so the child may do anything.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            self.role = role;
            self.take_turns();
        }
        self.state.roles[role].pid = pid;
    }

    /// Another process ends, and a child of this one takes its place.
    pub(super) fn replace(&mut self) {
        let others: Vec<usize> =
            (0..self.options.processes.min(ROLES)).filter(|&role| role != self.role).collect();
        let role = self.random.pick(&others);
        let how = self.ending();
        self.told(&format!(" role {role} ends by {how:?}"));
        let gone = self.state.roles[role];
        self.state.kills += u32::from(how == Ending::Kill);
        self.state.roles[role].ending = how as u32;
        self.ring();
        self.wait_for_end(gone.pid);
        let mut files = Vec::new();
        for slot in gone.slots.iter().flatten() {
            let d = &mut self.state.descriptions[slot.description];
            d.refs -= 1;
            files.extend(Some(d.file).filter(|_| d.writes()));
        }
        self.state.roles[role].slots = [None; SLOTS];
        self.state.roles[role].maps = [None; MAPS];
        files.sort_unstable();
        files.dedup();
        for file in files {
            // What a killed process had written arrives a little later.
            if how != Ending::Kill && !self.options.lazy && self.random.once_in(2) {
                self.look(file, "after the end of a process that had it open for writing");
            }
        }
        self.fork_role(role);
        self.told(" | replaced");
    }

    fn wait_for_end(&mut self, pid: i32) {
        // SAFETY: takes no memory.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
        if fd >= 0 {
            let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, which outlives the call; the descriptor is this operation's own.
            let ended = unsafe { libc::poll(&mut watched, 1, 10_000) };
            // SAFETY: as above.
            unsafe { libc::close(fd) };
            if ended != 1 {
                self.fail(&format!("process {pid} does not end"));
            }
        }
        // Its parent may be anybody.
        // SAFETY: no status is wanted.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
    }

    /// Wakes all who wait for something.
    pub fn ring(&mut self) {
        self.state.bell.fetch_add(1, SeqCst);
        let bell = self.state.bell.as_ptr();
        // SAFETY: the word lies in shared memory that is never unmapped.
        unsafe { libc::syscall(libc::SYS_futex, bell, libc::FUTEX_WAKE, i32::MAX, 0, 0, 0) };
    }
}
