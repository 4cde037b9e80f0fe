//! The table's lock: among the threads of this process. A thread that has it already (a signal handler that came in between) does not get it again.

use crate::thread;
use millpond_segment::sys;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The holder's number plus 1.
static HOLDER: AtomicU32 = AtomicU32::new(0);

/// Looks, and the pause between them, before a lock is taken for lost.
const LOOKS: u32 = 40_000;
const PAUSE_NS: u64 = 50_000;
/// Looks without a pause.
const SPINS: u32 = 200;

/// Holds the lock while it lives.
pub struct Held(());

impl Held {
    /// `None` when this thread has it already, or it cannot be had within two seconds.
    pub fn take() -> Option<Self> {
        let me = thread::number() + 1;
        for look in 0..LOOKS {
            match HOLDER.compare_exchange(0, me, Acquire, Relaxed) {
                Ok(_) => return Some(Self(())),
                Err(holder) if holder == me => return None,
                Err(_) if look < SPINS => std::hint::spin_loop(),
                Err(_) => sys::sleep_ns(PAUSE_NS),
            }
        }
        None
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HOLDER.store(0, Release);
    }
}

/// Frees the lock in a forked child, where a holder has no thread. Returns whether there was one.
pub fn after_fork_in_child() -> bool {
    HOLDER.swap(0, Acquire) != 0
}
