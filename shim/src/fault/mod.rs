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
//! `sigaction` and its kin; [`after_fork_in_child`]. Out of reach: a thread that has *blocked* the signal dies of a bad
//! pointer, because the kernel does not deliver a fault that is blocked.

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
