//! Forks, exits and execs as operations.

use crate::{children, errno, exec, managed, process, report};
use libc::{c_char, c_int, pid_t};

/// `fork` and `_Fork`.
pub unsafe fn fork(next: impl FnOnce() -> pid_t) -> pid_t {
    let made = errno::preserving(children::before_fork);
    let child = next();
    errno::preserving(|| {
        if child == 0 {
            managed::after_fork_in_child();
        } else if made {
            children::after_fork_in_parent(child);
        }
    });
    child
}

/// Before the process ends by `_exit`: it says what it had served, if that is wanted, and what it has written goes to the files.
pub fn before_end() {
    if !process::is_vfork_child() {
        errno::preserving(report::at_end);
    }
    before_death();
}

/// Before the process ends, or may be ended by a signal: what it has written goes to the files.
pub fn before_death() {
    if process::is_vfork_child() {
        exec::overlay_drop();
    } else {
        errno::preserving(managed::flush_all);
    }
}

/// Where an `exec` finds its program.
#[derive(Clone, Copy)]
pub enum Target {
    /// A path relative to a directory.
    Path(c_int, *const c_char, c_int),
    /// An open descriptor.
    Descriptor(c_int),
}

/// `execve` and its kin: `call` runs the real one with the environment it is given.
pub unsafe fn exec(
    target: Target,
    envp: *const *const c_char,
    call: impl FnOnce(*const *const c_char) -> c_int,
) -> c_int {
    // SAFETY: as the caller's.
    unsafe { exec::run(target, envp, call) }
}
