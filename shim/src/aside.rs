//! Processes that the pool leaves alone: their files are the kernel's, and so are those files for everybody while they have them open.
//!
//! A process is aside for good when the configuration names its program, when libc could not be patched (its own calls would go unseen), when it has set up a
//! ring or given a thread a descriptor table of its own; and for a while when a function of libc writes by calls that nothing can catch.

use crate::managed::{self, Managed};
use crate::{attach, process, report};
use libc::c_int;
use millpond_segment::account::Escape;
use millpond_segment::stats::Reason;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The reason's number plus 1, 0 when the process is served.
static WHY: AtomicU32 = AtomicU32::new(0);
/// Functions under way that write by calls of their own.
static INLINE: AtomicU32 = AtomicU32::new(0);

/// Why what this process opens now is left to the kernel, if it is.
#[inline]
pub fn why() -> Option<Reason> {
    match WHY.load(Relaxed) {
        0 if INLINE.load(Relaxed) == 0 => None,
        0 => Some(Reason::Inline),
        n => Reason::ALL.get(n as usize - 1).copied(),
    }
}

/// From now on, what is open and what will be opened is the kernel's. The first reason stays.
pub fn step(reason: Reason) {
    let _ = WHY.compare_exchange(0, reason as u32 + 1, Relaxed, Relaxed);
    managed::for_each(|m| hand_over(&m, reason));
}

/// Makes a description the kernel's. What a ring may still write when the descriptor is closed (it keeps files by numbers of its own) stays the kernel's
/// while the process lives.
pub fn hand_over(m: &Managed, reason: Reason) {
    if reason == Reason::IoUring {
        m.pool.pin_file(m.who, m.file, false);
    }
    m.release_quietly(reason);
}

/// Runs a function that opens files and writes them by calls of its own.
pub fn inline<T>(call: impl FnOnce() -> T) -> T {
    INLINE.fetch_add(1, Relaxed);
    let result = call();
    INLINE.fetch_sub(1, Relaxed);
    result
}

/// Before the descriptor table and the memory part ways. A `vfork` child has a table of its own anyway, and memory that is its parent's.
pub fn part_tables() {
    if attach::is_possible() && !process::is_vfork_child() {
        report::note(Escape::Unshared);
        step(Reason::Unshared);
    }
}

/// Before `unshare`: threads with descriptor tables of their own are not told apart.
pub fn before_unshare(flags: c_int) {
    if flags & libc::CLONE_FILES != 0 {
        part_tables();
    }
}

/// Before a process is made that shares the descriptor table but not the memory: its closes and opens would not be told apart from ours.
pub fn before_clone(flags: c_int) {
    if flags & libc::CLONE_FILES != 0 && flags & libc::CLONE_VM == 0 {
        part_tables();
    }
}

/// Before a function of libc that writes to `fd` by calls of its own: the description becomes the kernel's.
pub fn before_inline_write(fd: c_int) {
    if let Some(m) = managed::get(fd) {
        m.release_quietly(Reason::Inline);
    }
}
