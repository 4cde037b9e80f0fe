//! Processes.

use crate::ops::data::note_size_limit;
use crate::ops::processes::{before_death, before_end, exec, fork as forking, Target};
use libc::{c_char, c_int, c_ulong, pid_t, rlimit};

type List = *const *const c_char;

rows! {
    patch around fork() -> pid_t |next| {
        // SAFETY: the program's own call.
        unsafe { forking(next) }
    }
    patch around _Fork() -> pid_t |next| {
        // SAFETY: the program's own call.
        unsafe { forking(next) }
    }
    plain around clone(f: usize, stack: usize, flags: c_int, argument: usize, ptid: usize, tls: usize, ctid: usize) -> c_int |next| {
        crate::aside::before_clone(flags);
        if flags & libc::CLONE_VM == 0 {
            // SAFETY: the program's own call; its child never comes back here.
            unsafe { forking(|| next(f, stack, flags, argument, ptid, tls, ctid)) }
        } else {
            next(f, stack, flags, argument, ptid, tls, ctid)
        }
    }
    patch around execve(path: *const c_char, argv: List, envp: List) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { exec(Target::Path(libc::AT_FDCWD, path, 0), envp, |envp| next(path, argv, envp)) }
    }
    patch around execveat(dir: c_int, path: *const c_char, argv: List, envp: List, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { exec(Target::Path(dir, path, flags), envp, |envp| next(dir, path, argv, envp, flags)) }
    }
    patch around fexecve(fd: c_int, argv: List, envp: List) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { exec(Target::Descriptor(fd), envp, |envp| next(fd, argv, envp)) }
    }
    patch around _exit(code: c_int) -> () |next| {
        before_end();
        next(code);
    }
    patch around abort() -> () |next| {
        before_death();
        next();
    }
    plain around _Exit(code: c_int) -> () |next| {
        before_end();
        next(code);
    }
    plain around prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int |next| {
        if option == libc::PR_SET_SECCOMP {
            crate::attach::lock_in();
        }
        next(option, a, b, c, d)
    }
    plain around pthread_cancel(thread: libc::pthread_t) -> c_int |next| {
        crate::ops::cancel::asked();
        next(thread)
    }
    plain around pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int |next| {
        crate::ops::cancel::kind_is_set(kind);
        next(kind, old)
    }
    plain around setrlimit(resource: c_int, limit: *const rlimit) -> c_int |next| {
        let result = next(resource, limit);
        note_size_limit();
        result
    }
    plain around setrlimit64(resource: c_int, limit: *const rlimit) -> c_int |next| {
        let result = next(resource, limit);
        note_size_limit();
        result
    }
    plain around prlimit(pid: pid_t, resource: c_int, new: *const rlimit, old: *mut rlimit) -> c_int |next| {
        let result = next(pid, resource, new, old);
        note_size_limit();
        result
    }
    plain around prlimit64(pid: pid_t, resource: c_int, new: *const rlimit, old: *mut rlimit) -> c_int |next| {
        let result = next(pid, resource, new, old);
        note_size_limit();
        result
    }
}
