//! Child processes: by fork, by fork and exec, by spawn; and becoming another program oneself.

use std::ffi::CString;

use super::image::Image;
use super::outcome::Outcome;
use super::{end, say, Process};
use crate::script::op::{ExecCall, SpawnAction};
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

    pub(super) fn fork(&mut self, at: &str, ops: &[Op], how: End) -> String {
        // SAFETY: no other thread is alive here, so the child may do anything.
        let child = unsafe { libc::fork() };
        if child == 0 {
            self.solo = false;
            self.perform_all(at, ops);
            end(how);
        }
        self.killed |= Self::is_killer(ops, how);
        wait(child)
    }

    fn image(&self, at: &str, ops: &[Op], how: End) -> Image {
        Image {
            root: self.root.clone(),
            script: self.script.clone(),
            slots: self.slots,
            killed: self.killed,
            at: at.into(),
            ops: ops.to_vec(),
            end: how,
            resume: None,
        }
    }

    pub(super) fn exec(&mut self, at: &str, ops: &[Op], how: End, call: ExecCall) -> String {
        let arguments = self.image(at, ops, how).arguments();
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

    pub(super) fn spawn(&mut self, at: &str, actions: &[SpawnAction], ops: &[Op], how: End) -> String {
        let mut image = self.image(at, ops, how);
        let mut file_actions = FileActions::new();
        for action in actions {
            file_actions.add(self, action, &mut image.slots);
        }
        let arguments = image.arguments();
        let pointers = pointers(&arguments);
        let mut child = 0;
        // SAFETY: every pointer is to a live value; the vectors end in null pointers.
        let failed = unsafe {
            libc::posix_spawn(
                &mut child,
                pointers[0],
                &file_actions.actions,
                std::ptr::null(),
                pointers.as_ptr().cast(),
                environ,
            )
        };
        if failed != 0 {
            return format!("failed {:?}", nix::errno::Errno::from_raw(failed));
        }
        self.killed |= Self::is_killer(ops, how);
        wait(child)
    }
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
            action;
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
        }
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: the actions are initialised and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.actions) };
    }
}
