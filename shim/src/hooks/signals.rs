//! Dispositions of the two signals by which a bad pointer shows.

use crate::fault;
use crate::start::{real_sigaction, settle_guard};
use libc::{c_int, sighandler_t, sigset_t};

rows! {
    plain around sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let result = unsafe { fault::sigaction(signal, new, old, real) };
                settle_guard();
                result
            }
            None => next(signal, new, old),
        }
    }
    plain around signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::signal(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::sysv_signal(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around sigset(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::sigset(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around sigignore(signal: c_int) -> c_int |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let result = unsafe { fault::sigignore(signal, real) };
                settle_guard();
                result
            }
            None => next(signal),
        }
    }
    plain around siginterrupt(signal: c_int, interrupt: c_int) -> c_int |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                unsafe { fault::siginterrupt(signal, interrupt != 0, real) }
            }
            None => next(signal, interrupt),
        }
    }
    plain around bsd_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::signal(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around ssignal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::signal(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let before = unsafe { fault::sysv_signal(signal, handler, real) };
                settle_guard();
                before
            }
            None => next(signal, handler),
        }
    }
    plain around __sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int |next| {
        match real_sigaction().filter(|_| fault::guards(signal)) {
            Some(real) => {
                // SAFETY: the program's own call.
                let result = unsafe { fault::sigaction(signal, new, old, real) };
                settle_guard();
                result
            }
            None => next(signal, new, old),
        }
    }
    plain around pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int |next| {
        let result = next(how, set, old);
        if result == 0 {
            fault::note_mask(how, set, old);
        }
        result
    }
    plain around sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int |next| {
        let result = next(how, set, old);
        if result == 0 {
            fault::note_mask(how, set, old);
        }
        result
    }
    plain around sighold(signal: c_int) -> c_int |next| {
        let result = next(signal);
        fault::look_at_mask();
        result
    }
    plain around sigrelse(signal: c_int) -> c_int |next| {
        let result = next(signal);
        fault::look_at_mask();
        result
    }
    plain around sigblock(mask: c_int) -> c_int |next| {
        let before = next(mask);
        fault::look_at_mask();
        before
    }
    plain around sigsetmask(mask: c_int) -> c_int |next| {
        let before = next(mask);
        fault::look_at_mask();
        before
    }
}
