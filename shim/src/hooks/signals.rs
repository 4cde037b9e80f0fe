//! Dispositions of the two signals by which a bad pointer shows.

use crate::fault::{self, RealSigaction};
use crate::start::{real_sigaction, settle_guard};
use libc::{c_int, sighandler_t, sigset_t};
use millpond_segment::sys;

/// Sets a disposition: by `ours`, when the signal is one that guards copies, else by the real call. `handler`: whether that may be a function.
fn set<T>(
    signal: c_int,
    handler: bool,
    ours: impl FnOnce(RealSigaction) -> T,
    real: impl FnOnce() -> T,
) -> T {
    if handler {
        sys::expect_handler(signal);
    }
    match real_sigaction().filter(|_| fault::guards(signal)) {
        Some(sigaction) => {
            let result = ours(sigaction);
            settle_guard();
            result
        }
        None => real(),
    }
}

fn is_function(handler: sighandler_t) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN
}

/// After a call that changes the thread's mask.
fn masked<T>(result: T) -> T {
    fault::look_at_mask();
    result
}

rows! {
    plain around sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int |next| {
        // SAFETY: the program's own call.
        set(signal, !new.is_null(), |real| unsafe { fault::sigaction(signal, new, old, real) }, || next(signal, new, old))
    }
    plain around signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::signal(signal, handler, real) }, || next(signal, handler))
    }
    plain around sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::sysv_signal(signal, handler, real) }, || next(signal, handler))
    }
    plain around sigset(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::sigset(signal, handler, real) }, || next(signal, handler))
    }
    plain around sigignore(signal: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        set(signal, false, |real| unsafe { fault::sigignore(signal, real) }, || next(signal))
    }
    plain around siginterrupt(signal: c_int, interrupt: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        set(signal, false, |real| unsafe { fault::siginterrupt(signal, interrupt != 0, real) }, || next(signal, interrupt))
    }
    plain around bsd_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::signal(signal, handler, real) }, || next(signal, handler))
    }
    plain around ssignal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::signal(signal, handler, real) }, || next(signal, handler))
    }
    plain around __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t |next| {
        // SAFETY: the program's own call.
        set(signal, is_function(handler), |real| unsafe { fault::sysv_signal(signal, handler, real) }, || next(signal, handler))
    }
    plain around __sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int |next| {
        // SAFETY: the program's own call.
        set(signal, !new.is_null(), |real| unsafe { fault::sigaction(signal, new, old, real) }, || next(signal, new, old))
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
    plain around sighold(signal: c_int) -> c_int |next| { masked(next(signal)) }
    plain around sigrelse(signal: c_int) -> c_int |next| { masked(next(signal)) }
    plain around sigblock(mask: c_int) -> c_int |next| { masked(next(mask)) }
    plain around sigsetmask(mask: c_int) -> c_int |next| { masked(next(mask)) }
}
