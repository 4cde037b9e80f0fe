//! Turns a fault in our guarded copy into an error, unseen by the program.
//!
//! A program may pass `read` or `write` a bad pointer and must get EFAULT for it. The copy between the program's
//! memory and the segment therefore runs in a routine whose instructions are known; a SIGSEGV or SIGBUS raised by one of
//! them continues at a landing address instead. The kernel holds our handler for the two signals, the program's own
//! disposition is recorded and obeyed for every other fault.
//!
//! What holds here:
//! - The program reads back what it set; its handler runs with its flags, mask and stack, on the frame that the
//!   kernel built, and is left by `ret` or `siglongjmp` as ever.
//! - The default action happens: the process dies of the signal, with the original registers and `siginfo` in
//!   the core file and the wait status.
//! - An ignored signal is ignored by the kernel, with our handler gone: then [`armed`] is false, and the guarded
//!   copy must not be entered with a pointer that was not probed.
//! - Nothing locks against its own thread, allocates, or calls libc but for the `real` function that is passed in.
//! - A `vfork` child, which shares this memory but not its dispositions, changes only the kernel's.
//!
//! At `exec` nothing is to be done: the kernel turns a handler (ours) into the default and keeps an ignored
//! signal ignored, which is what would have become of the program's own.
//!
//! What is left to others: the copy routine and its landing addresses; calling the operations from the hooks of
//! `sigaction` and its kin; [`after_fork_in_child`]. A thread that has *blocked* one of the signals would die of a bad pointer, because the kernel
//! does not deliver a fault that is blocked: [`note_mask`] follows the thread's mask, and its copies go another way. Out of reach: a handler that runs with
//! the signal in its own mask.

mod action;
mod deliver;
mod ledger;
mod operations;
mod raw;

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

pub use operations::{install, sigaction, sigignore, siginterrupt, signal, sigset, sysv_signal};

/// Gives the landing address for a faulting instruction of the guarded copy, and nothing for any other.
pub type Fixup = fn(usize) -> Option<usize>;

/// The type of libc's own `sigaction`, through which dispositions are set.
pub type RealSigaction =
    unsafe extern "C" fn(libc::c_int, *const libc::sigaction, *mut libc::sigaction) -> libc::c_int;

/// The guarded signals, in the order of their slots.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Whether the kernel holds our handler, by slot.
static ARMED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// The process whose dispositions the records describe.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// Whether `sig` is one of the two signals whose disposition is shared with the program: the hooks pass those
/// here, and all others straight to libc.
pub fn guards(sig: libc::c_int) -> bool {
    slot_of(sig).is_some()
}

/// Whether a fault that raises `sig` in the guarded copy becomes an error.
#[inline]
pub fn armed(sig: libc::c_int) -> bool {
    slot_of(sig).is_some_and(|slot| ARMED[slot].load(Ordering::Relaxed))
}

/// After a disposition was set by number, past the operations here: whether our handler is still in place.
pub fn look_again() {
    for (slot, sig) in SIGNALS.into_iter().enumerate() {
        let ours = raw::disposition(sig).is_some_and(|kernel| kernel.handler == deliver::entry());
        ARMED[slot].store(ours, Ordering::Relaxed);
    }
}

/// After this thread has changed its mask by `how` and `set`, which the kernel has read, and got the old one in `old`.
pub fn note_mask(how: libc::c_int, set: *const libc::sigset_t, old: *const libc::sigset_t) {
    if set.is_null() {
        return;
    }
    if set == old {
        // Overwritten by the answer.
        return look_at_mask();
    }
    // SAFETY: the kernel has just read these 64 bits.
    let set = unsafe { set.cast::<u64>().read_unaligned() } & guarded_bits();
    let now = match how {
        libc::SIG_SETMASK => set != 0,
        _ if set == 0 => return,
        libc::SIG_BLOCK => true,
        _ => return look_at_mask(),
    };
    millpond_segment::copy::set_blocked(now);
}

/// Asks for this thread's mask: a thread starts with its maker's.
pub fn look_at_mask() {
    let now = raw::change_mask(libc::SIG_BLOCK, 0) & guarded_bits() != 0;
    millpond_segment::copy::set_blocked(now);
}

fn guarded_bits() -> u64 {
    SIGNALS.into_iter().fold(0, |bits, sig| bits | action::bit(sig))
}

/// Makes the records those of this process; to be called in the child of every `fork`.
pub fn after_fork_in_child() {
    OWNER.store(raw::process_id(), Ordering::Relaxed);
}

/// Whether this process is the one that the records describe, and not a `vfork` child in its memory.
fn is_owner() -> bool {
    OWNER.load(Ordering::Relaxed) == raw::process_id()
}

fn slot_of(sig: libc::c_int) -> Option<usize> {
    SIGNALS.iter().position(|guarded| *guarded == sig)
}
