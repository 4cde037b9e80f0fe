//! Child processes: by fork, by fork and exec, by spawn; and becoming another program oneself.

use std::ffi::CString;

use super::image::Image;
use super::outcome::Outcome;
use super::{aliases, end, forking, say, Process};
use crate::script::op::{ExecCall, ForkCall, SpawnAction};
use crate::script::{End, Op, NEVER_OPEN, SLOTS};

extern "C" {
    static environ: *const *mut libc::c_char;
}

/// Waits for a child and shows how it ended.
pub fn wait(child: i32) -> String {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if nix::errno::Errno::last() != nix::errno::Errno::EINTR {
            return "lost".into();
        }
    }
    if libc::WIFSIGNALED(status) {
        format!("killed {}", libc::WTERMSIG(status))
    } else {
        format!("exited {}", libc::WEXITSTATUS(status))
    }
}

impl Process {
    fn is_killer(ops: &[Op], end: End) -> bool {
        end.is_violent() || ops.iter().any(Op::kills)
    }

    pub(super) fn fork(&mut self, at: &str, ops: &[Op], how: End, call: ForkCall) -> String {
        if call == ForkCall::CloneFunction {
            // The function finds all that it needs in its parent's memory, of which it has a copy.
            let mut errand = Errand { process: self, at, ops, how };
            let errand = (&raw mut errand).cast();
            let child = forking::clone_function(run_errand, errand);
            self.killed |= Self::is_killer(ops, how);
            return wait(child);
        }
        let watch = (call == ForkCall::Daemon).then(Watch::new);
        let child = forking::fork_by(call);
        if child < 0 {
            return format!("none {:?}", nix::errno::Errno::last());
        }
        if child == 0 {
            self.become_child();
            if call == ForkCall::Daemon {
                // SAFETY: no other thread is alive here. Directory and standard descriptors stay.
                let outcome = Outcome::of(|| unsafe { aliases::daemon(1, 1) });
                say(&format!("{at} daemon {outcome}"));
                // A daemon's parent is whoever takes in orphans.
                self.is_child = false;
            }
            self.perform_all(at, ops);
            end(how);
        }
        self.killed |= Self::is_killer(ops, how);
        let status = wait(child);
        if let Some(watch) = watch {
            watch.wait();
        }
        status
    }

    pub(super) fn become_child(&mut self) {
        self.solo = false;
        self.is_child = true;
    }

    fn image(&self, at: &str, ops: &[Op], how: End) -> Image {
        Image {
            root: self.root.clone(),
            script: self.script.clone(),
            slots: self.slots,
            killed: self.killed,
            is_child: self.is_child,
            at: at.into(),
            ops: ops.to_vec(),
            end: how,
            resume: None,
        }
    }

    pub(super) fn exec(&mut self, at: &str, ops: &[Op], how: End, call: ExecCall) -> String {
        let mut image = self.image(at, ops, how);
        image.is_child = true;
        let arguments = image.arguments();
        // SAFETY: no other thread is alive here, so the child may do anything.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let pointers = pointers(&arguments);
            let nothing = [std::ptr::null()];
            // SAFETY: both vectors end in a null pointer and their strings are alive.
            unsafe {
                match call {
                    ExecCall::Execv => libc::execv(pointers[0], pointers.as_ptr()),
                    ExecCall::Execvp => libc::execvp(pointers[0], pointers.as_ptr()),
                    ExecCall::Execl => libc::execl(
                        pointers[0],
                        pointers[0],
                        pointers[1],
                        pointers[2],
                        std::ptr::null::<libc::c_char>(),
                    ),
                    ExecCall::Execlp => libc::execlp(
                        pointers[0],
                        pointers[0],
                        pointers[1],
                        pointers[2],
                        std::ptr::null::<libc::c_char>(),
                    ),
                    ExecCall::Execle => libc::execle(
                        pointers[0],
                        pointers[0],
                        pointers[1],
                        pointers[2],
                        std::ptr::null::<libc::c_char>(),
                        environ,
                    ),
                    ExecCall::Execvpe => libc::execvpe(pointers[0], pointers.as_ptr(), environ.cast()),
                    ExecCall::Execveat => {
                        let program = libc::open(pointers[0], libc::O_PATH | libc::O_CLOEXEC);
                        let empty = libc::AT_EMPTY_PATH;
                        aliases::execveat(program, c"".as_ptr(), pointers.as_ptr(), environ.cast(), empty)
                    }
                    ExecCall::Syscall => {
                        libc::syscall(libc::SYS_execve, pointers[0], pointers.as_ptr(), environ) as i32
                    }
                    ExecCall::Fexecve => {
                        let program = libc::open(pointers[0], libc::O_RDONLY | libc::O_CLOEXEC);
                        libc::fexecve(program, pointers.as_ptr(), environ.cast())
                    }
                    ExecCall::Cleared => libc::execve(pointers[0], pointers.as_ptr(), nothing.as_ptr()),
                };
                libc::_exit(127)
            }
        }
        self.killed |= Self::is_killer(ops, how);
        wait(child)
    }

    pub(super) fn system(&self, command: &str) -> String {
        let command = CString::new(command).expect("commands hold no null bytes");
        // SAFETY: the command is a live C string.
        let status = unsafe { libc::system(command.as_ptr()) };
        format!("status {status:#x}")
    }

    pub(super) fn popen(&self, command: &str, input: Option<u32>) -> String {
        let command = CString::new(command).expect("commands hold no null bytes");
        let mode = if input.is_some() { c"w" } else { c"re" };
        // SAFETY: both are live C strings.
        let stream = unsafe { libc::popen(command.as_ptr(), mode.as_ptr()) };
        if stream.is_null() {
            return format!("{:?}", nix::errno::Errno::last());
        }
        let mut output = Vec::new();
        let mut bytes = vec![0_u8; 4096];
        // SAFETY: the stream is open until `pclose`, buffers and lengths agree.
        let (count, status) = unsafe {
            let mut total = 0;
            if let Some(seed) = input {
                // Less than a stream's buffer: a command that cannot begin is found out by `pclose` alone.
                let bytes = crate::data::pattern(seed, 100 + seed as usize % 3900);
                total = libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream);
            } else {
                // To the end: a command whose output nobody takes fails, sooner or later.
                loop {
                    match libc::fread(bytes.as_mut_ptr().cast(), 1, bytes.len(), stream) {
                        0 => break,
                        count => output.extend_from_slice(&bytes[..count]),
                    }
                }
                total += output.len();
            }
            (total, libc::pclose(stream))
        };
        format!("{count} [{}] status {status:#x}", crate::data::show(&output))
    }

    /// A child in this process' memory: it only makes the calls that are ready for it.
    pub(super) fn vfork(&mut self, at: &str, actions: &[SpawnAction], ops: &[Op], how: End) -> String {
        let mut image = self.image(at, ops, how);
        image.is_child = true;
        let steps = forking::Steps::new(self, actions, &mut image.slots);
        let arguments = image.arguments();
        let child = steps.run(&pointers(&arguments));
        let outcomes = steps.outcomes();
        self.killed |= Self::is_killer(ops, how);
        let status = wait(child);
        format!("{outcomes} {status}")
    }

    pub(super) fn exec_self(&mut self, at: &str) -> String {
        let (true, Ok(step)) = (self.solo, at.parse::<usize>()) else { return "not alone".into() };
        let mut image = self.image(at, &[], End::Exit);
        image.resume = Some(step + 1);
        say(&format!("{at} becomes another program"));
        let arguments = image.arguments();
        let pointers = pointers(&arguments);
        // SAFETY: the vector ends in a null pointer and its strings are alive.
        Outcome::of(|| unsafe { libc::execv(pointers[0], pointers.as_ptr()) }).to_string()
    }

    pub(super) fn spawn(
        &mut self,
        at: &str,
        actions: &[SpawnAction],
        ops: &[Op],
        how: End,
        searched: bool,
    ) -> String {
        let mut image = self.image(at, ops, how);
        image.is_child = true;
        let mut file_actions = FileActions::new();
        for action in actions {
            file_actions.add(self, action, &mut image.slots);
        }
        let arguments = image.arguments();
        let pointers = pointers(&arguments);
        let mut child = 0;
        // SAFETY: every pointer is to a live value; the vectors end in null pointers.
        let failed = unsafe {
            if searched {
                let mut attributes = std::mem::zeroed();
                libc::posix_spawnattr_init(&mut attributes);
                let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
                libc::posix_spawnattr_setflags(&mut attributes, flags as i16);
                let failed = libc::posix_spawnp(
                    &mut child,
                    pointers[0],
                    &file_actions.actions,
                    &attributes,
                    pointers.as_ptr().cast(),
                    environ,
                );
                libc::posix_spawnattr_destroy(&mut attributes);
                failed
            } else {
                libc::posix_spawn(
                    &mut child,
                    pointers[0],
                    &file_actions.actions,
                    std::ptr::null(),
                    pointers.as_ptr().cast(),
                    environ,
                )
            }
        };
        if failed != 0 {
            return format!("failed {:?}", nix::errno::Errno::from_raw(failed));
        }
        self.killed |= Self::is_killer(ops, how);
        wait(child)
    }
}

/// Takes in what a daemon leaves behind, so that its end is seen: a pipe would not do, as the daemon may close all that it has.
struct Watch;

impl Watch {
    fn new() -> Watch {
        // SAFETY: takes no memory.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        Watch
    }

    fn wait(self) {
        // SAFETY: the kernel writes no status; every other child has been waited for.
        while unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } > 0
            || nix::errno::Errno::last() == nix::errno::Errno::EINTR
        {}
        // SAFETY: takes no memory.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0) };
    }
}

/// What a cloned function does.
struct Errand<'a> {
    process: &'a mut Process,
    at: &'a str,
    ops: &'a [Op],
    how: End,
}

/// The function of a `clone`, which has its own copy of everything.
extern "C" fn run_errand(errand: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the errand lies on the stack of the function that clones, which this process has a copy of.
    let errand = unsafe { &mut *errand.cast::<Errand>() };
    errand.process.become_child();
    errand.process.perform_all(errand.at, errand.ops);
    end(errand.how)
}

/// Argument pointers of strings that stay alive, with the null pointer that ends them.
fn pointers(arguments: &[CString]) -> Vec<*const libc::c_char> {
    arguments.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect()
}

/// File actions of `posix_spawn`.
struct FileActions {
    actions: libc::posix_spawn_file_actions_t,
    /// Paths that the actions point to.
    paths: Vec<CString>,
}

impl FileActions {
    fn new() -> FileActions {
        // SAFETY: the structure is filled in by the call that follows.
        let mut actions = unsafe { std::mem::zeroed() };
        // SAFETY: initialises the structure, which is dropped with `self`.
        unsafe { libc::posix_spawn_file_actions_init(&mut actions) };
        FileActions { actions, paths: Vec::new() }
    }

    /// Adds an action, unless the slot is closed, and notes where the child has the slot.
    fn add(&mut self, process: &Process, action: &SpawnAction, slots: &mut [i32; SLOTS]) {
        let (SpawnAction::Dup2 { slot } | SpawnAction::Close { slot } | SpawnAction::Open { slot, .. }) =
            action
        else {
            return;
        };
        if *slot == NEVER_OPEN {
            return;
        }
        let index = usize::from(*slot) % SLOTS;
        let fd = slots[index];
        match action {
            SpawnAction::Open { path, flags, .. } => {
                let path = process.path(path);
                slots[index] = 40 + index as i32;
                // SAFETY: the actions are initialised; the path is kept as long as they are.
                unsafe {
                    libc::posix_spawn_file_actions_addopen(
                        &mut self.actions,
                        slots[index],
                        path.as_ptr(),
                        flags.0,
                        0o644,
                    )
                };
                self.paths.push(path);
            }
            _ if fd < 0 => {}
            SpawnAction::Dup2 { .. } => {
                slots[index] = 30 + index as i32;
                // SAFETY: the actions are initialised.
                unsafe { libc::posix_spawn_file_actions_adddup2(&mut self.actions, fd, slots[index]) };
            }
            SpawnAction::Close { .. } => {
                // SAFETY: the actions are initialised.
                unsafe { libc::posix_spawn_file_actions_addclose(&mut self.actions, fd) };
            }
            SpawnAction::Write { .. } | SpawnAction::Seek { .. } => {}
        }
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: the actions are initialised and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.actions) };
    }
}
