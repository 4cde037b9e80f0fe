//! The operations behind the hooks of `sigaction` and its older kin, for the guarded signals.
//!
//! What holds here: what the kernel reports decides. If it is our handler, the record is reported instead;
//! anything else was put there behind our back and is reported as it is.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::action::{bit, Action};
use super::deliver::{self, LEDGERS, RESTORER};
use super::{is_owner, raw, slot_of, Fixup, RealSigaction, ARMED, OWNER, SIGNALS};

/// `SIG_HOLD` of `sigset`.
const SIG_HOLD: libc::sighandler_t = 2;

/// Signals that interrupt system calls when set by `signal`, because `siginterrupt` said so; by slot.
static INTERRUPTS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Takes the two signals over, with what the program has set so far as its disposition. A signal that is ignored
/// is left ignored. Calling it again only changes the rule.
///
/// # Safety
///
/// `real` must be libc's `sigaction`. `fixup` must be safe to call in a signal handler, and what it gives must
/// be a sound place to continue from the instruction that it was asked about.
pub unsafe fn install(fixup: Fixup, real: RealSigaction) {
    deliver::set_fixup(fixup);
    OWNER.store(raw::process_id(), Ordering::Relaxed);
    for (slot, sig) in SIGNALS.into_iter().enumerate() {
        let Some(kernel) = raw::disposition(sig) else { continue };
        if kernel.handler == deliver::entry() {
            continue;
        }
        let action = Action::of_kernel(&kernel);
        let writer = LEDGERS[slot].write();
        writer.publish(&action);
        if action.is_ignored() {
            continue;
        }
        let ours = action.mirrored().to_libc();
        // SAFETY: `real` is libc's, and the action is valid.
        let installed = unsafe { real(sig, &ours, ptr::null_mut()) } == 0;
        learn_restorer(sig);
        ARMED[slot].store(installed, Ordering::Relaxed);
    }
}

/// `sigaction` as the program is to see it.
///
/// # Safety
///
/// As for libc's `sigaction`, which `real` must be.
pub unsafe fn sigaction(
    sig: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    real: RealSigaction,
) -> c_int {
    let slot = slot_of(sig).filter(|_| is_owner());
    let Some(slot) = slot else {
        // SAFETY: the caller's arguments, to the function that they are meant for.
        return unsafe { asked_directly(sig, new, old, real) };
    };
    // SAFETY: the program's pointer is null or valid. It is read first because `old` may be the same.
    let new = unsafe { new.as_ref() }.copied();
    let writer = LEDGERS[slot].write();
    let before = writer.load();
    let mut reported = MaybeUninit::<libc::sigaction>::zeroed();
    let result = match new {
        // SAFETY: only asks, and there is room for the answer.
        None => unsafe { real(sig, ptr::null(), reported.as_mut_ptr()) },
        Some(new) => {
            let wanted = Action::requested(&new, RESTORER.load(Ordering::Relaxed));
            let was_armed = ARMED[slot].load(Ordering::Relaxed);
            if wanted.is_ignored() {
                ARMED[slot].store(false, Ordering::Relaxed);
            }
            writer.publish(&wanted);
            // SAFETY: a valid action, and room for the answer.
            let result = unsafe { real(sig, &wanted.mirrored().to_libc(), reported.as_mut_ptr()) };
            if result == 0 {
                learn_restorer(sig);
                ARMED[slot].store(!wanted.is_ignored(), Ordering::Relaxed);
            } else {
                writer.publish(&before);
                ARMED[slot].store(was_armed, Ordering::Relaxed);
            }
            result
        }
    };
    drop(writer);
    if result == 0 {
        // SAFETY: zeroed at first and filled by `real`; the program's pointer is null or valid.
        unsafe { report(&reported.assume_init(), &before, old) };
    }
    result
}

/// Passes a call on to the kernel, without a change to the records: another signal, a
/// `vfork` child, or a call before [`install`], when the kernel's dispositions are simply the program's.
///
/// # Safety
///
/// As for libc's `sigaction`.
unsafe fn asked_directly(
    sig: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    real: RealSigaction,
) -> c_int {
    // SAFETY: the caller's arguments, to the function that they are meant for.
    let result = unsafe { real(sig, new, old) };
    if let (0, Some(slot)) = (result, slot_of(sig)) {
        // SAFETY: null, or just filled by the call.
        if let Some(old) = unsafe { old.as_mut() }.filter(|old| old.sa_sigaction == deliver::entry()) {
            LEDGERS[slot].load().1.report(old);
        }
    }
    result
}

/// # Safety
///
/// `old` must be null or valid.
unsafe fn report(kernel: &libc::sigaction, record: &Action, old: *mut libc::sigaction) {
    // SAFETY: as promised.
    let Some(old) = (unsafe { old.as_mut() }) else { return };
    if kernel.sa_sigaction == deliver::entry() {
        record.report(old);
    } else {
        let mask = (&raw const kernel.sa_mask).cast::<u64>();
        // SAFETY: a signal set begins with the 64 bits that the kernel knows.
        let mask = unsafe { mask.read() };
        let restorer = kernel.sa_restorer.map_or(0, |restorer| restorer as usize);
        let flags = u64::from(kernel.sa_flags as u32);
        Action { handler: kernel.sa_sigaction, flags, mask, restorer }.report(old);
    }
}

/// `signal`, `bsd_signal` and `ssignal`: the signal is blocked in its handler, and system calls go on after it.
///
/// # Safety
///
/// As for libc's `signal`; `real` must be libc's `sigaction`.
pub unsafe fn signal(sig: c_int, handler: libc::sighandler_t, real: RealSigaction) -> libc::sighandler_t {
    let interrupts = slot_of(sig).is_some_and(|slot| INTERRUPTS[slot].load(Ordering::Relaxed));
    let flags = if interrupts { 0 } else { libc::SA_RESTART };
    // SAFETY: as promised by the caller.
    unsafe { replace(sig, handler, flags, true, real) }
}

/// `sysv_signal`: good for one signal, which is not blocked in its handler.
///
/// # Safety
///
/// As for libc's `sysv_signal`; `real` must be libc's `sigaction`.
pub unsafe fn sysv_signal(
    sig: c_int,
    handler: libc::sighandler_t,
    real: RealSigaction,
) -> libc::sighandler_t {
    // SAFETY: as promised by the caller.
    unsafe { replace(sig, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false, real) }
}

/// `sigset`: sets the disposition and unblocks the signal, or blocks it (`SIG_HOLD`).
///
/// # Safety
///
/// As for libc's `sigset`; `real` must be libc's `sigaction`.
pub unsafe fn sigset(sig: c_int, handler: libc::sighandler_t, real: RealSigaction) -> libc::sighandler_t {
    // SAFETY: as promised by the caller.
    let old = unsafe {
        if handler == SIG_HOLD {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            if sigaction(sig, ptr::null(), old.as_mut_ptr(), real) != 0 {
                return libc::SIG_ERR;
            }
            old.assume_init().sa_sigaction
        } else {
            replace(sig, handler, 0, false, real)
        }
    };
    if old == libc::SIG_ERR {
        return old;
    }
    let how = if handler == SIG_HOLD { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    if raw::change_mask(how, bit(sig)) & bit(sig) != 0 {
        return SIG_HOLD;
    }
    old
}

/// `sigignore`.
///
/// # Safety
///
/// `real` must be libc's `sigaction`.
pub unsafe fn sigignore(sig: c_int, real: RealSigaction) -> c_int {
    let ignore = Action { handler: libc::SIG_IGN, ..Action::default() }.to_libc();
    // SAFETY: as promised by the caller.
    unsafe { sigaction(sig, &ignore, ptr::null_mut(), real) }
}

/// `siginterrupt`: whether the signal interrupts system calls, now and when `signal` sets it later.
///
/// # Safety
///
/// `real` must be libc's `sigaction`.
pub unsafe fn siginterrupt(sig: c_int, interrupt: bool, real: RealSigaction) -> c_int {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: as promised by the caller; zeroed at first, so valid whatever is filled in.
    unsafe {
        if sigaction(sig, ptr::null(), action.as_mut_ptr(), real) != 0 {
            return -1;
        }
        let mut action = action.assume_init();
        if interrupt {
            action.sa_flags &= !libc::SA_RESTART;
        } else {
            action.sa_flags |= libc::SA_RESTART;
        }
        if let Some(slot) = slot_of(sig) {
            INTERRUPTS[slot].store(interrupt, Ordering::Relaxed);
        }
        sigaction(sig, &action, ptr::null_mut(), real)
    }
}

/// Sets a handler and gives the one before, or SIG_ERR with errno.
///
/// # Safety
///
/// As for [`sigaction`].
unsafe fn replace(
    sig: c_int,
    handler: libc::sighandler_t,
    flags: c_int,
    block_itself: bool,
    real: RealSigaction,
) -> libc::sighandler_t {
    if handler == libc::SIG_ERR {
        // SAFETY: the address of this thread's errno.
        unsafe { *libc::__errno_location() = libc::EINVAL };
        return libc::SIG_ERR;
    }
    let mask = if block_itself { bit(sig) } else { 0 };
    let new = Action { handler, flags: u64::from(flags as u32), mask, restorer: 0 }.to_libc();
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: as promised by the caller.
    unsafe {
        if sigaction(sig, &new, old.as_mut_ptr(), real) != 0 {
            return libc::SIG_ERR;
        }
        old.assume_init().sa_sigaction
    }
}

/// Remembers libc's restorer, which the kernel shows after libc has set a handler.
fn learn_restorer(sig: c_int) {
    if RESTORER.load(Ordering::Relaxed) == 0 {
        if let Some(kernel) = raw::disposition(sig).filter(|kernel| kernel.restorer != 0) {
            RESTORER.store(kernel.restorer, Ordering::Relaxed);
        }
    }
}
