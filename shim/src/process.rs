//! What this process is: its client slot, its process id, and whether it is the process that these were written for.
//!
//! The words that say so lie on a page that the kernel wipes in a forked child. A child therefore finds zeros and knows that it has to take
//! its own slot, however it was forked; a `vfork` child shares the page, finds it as it was, and is told apart by its process id.

use crate::{children, thread};
use millpond_pool::{Caller, Pool};
use millpond_segment::sys::{self, Process, UNKNOWN_SPACE};
use millpond_segment::{nesting, Holder};
use once_cell::sync::OnceCell;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// The words on the wiped page.
struct Words {
    /// Client slot plus 1.
    slot: AtomicU32,
    /// Process id.
    pid: AtomicU32,
}

static WORDS: AtomicPtr<Words> = AtomicPtr::new(std::ptr::null_mut());
/// The slot plus 1 of this process or, in a child that has not looked yet, of its parent.
static LAST_SLOT: AtomicU32 = AtomicU32::new(0);
static POOL: OnceCell<Pool> = OnceCell::new();

/// The coordinator's pid namespace, 0 when it has no `/proc` to tell.
static COORDINATORS: AtomicU32 = AtomicU32::new(0);
/// This process's pid namespace as [`Process::space`] has it or, in a child that has not looked yet, its parent's.
static SPACE: AtomicU32 = AtomicU32::new(0);

/// Takes over what the coordinator said of its pid namespace, in which this process has number `pid`.
pub fn set_coordinators_space(space: u32, pid: u32) {
    COORDINATORS.store(space, Relaxed);
    let own = if pid == sys::getpid() { 0 } else { UNKNOWN_SPACE };
    SPACE.store(own, Relaxed);
    SPACE.store(identity().space, Relaxed);
    sys::set_elsewhere(SPACE.load(Relaxed) != 0);
}

/// Who this process is, by itself: a number and its namespace, which a fork may have changed.
pub fn identity() -> Process {
    let space = match (sys::own_space(), COORDINATORS.load(Relaxed)) {
        // No /proc: as its parent, if that is in the same namespace.
        (0, _) | (_, 0) if sys::getppid() == 0 => UNKNOWN_SPACE,
        (0, _) | (_, 0) => SPACE.load(Relaxed),
        (own, coordinators) if own == coordinators => 0,
        (own, _) => own,
    };
    Process { pid: sys::getpid(), space }
}

/// Who the child is that a fork has called `pid`.
pub fn child_identity(pid: u32) -> Process {
    Process { pid, space: SPACE.load(Relaxed) }
}

/// Makes the wiped page. Called once, before anything else.
pub fn prepare() {
    // SAFETY: an anonymous mapping of one page; Words fit in it and all-zero is a value of them.
    unsafe {
        let page = sys::syscall(
            libc::SYS_mmap,
            [
                0,
                4096,
                (libc::PROT_READ | libc::PROT_WRITE) as usize,
                (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize,
                usize::MAX,
                0,
            ],
        );
        let Ok(page) = page else { return };
        if sys::syscall(libc::SYS_madvise, [page, 4096, libc::MADV_WIPEONFORK as usize, 0, 0, 0]).is_err() {
            return;
        }
        WORDS.store(page as *mut Words, Release);
    }
    if let Some(words) = words() {
        words.pid.store(sys::getpid(), Relaxed);
    }
}

#[inline]
fn words() -> Option<&'static Words> {
    // SAFETY: null, or the page made by `prepare`, which is never unmapped.
    unsafe { WORDS.load(Acquire).as_ref() }
}

/// The slot word of a process that has locked itself in.
const NO_SLOT: u32 = u32::MAX;

/// Set when the process has restricted its own system calls, and in its children: a call that the program does not make itself could end it.
static LOCKED_IN: AtomicBool = AtomicBool::new(false);

/// The pool and this thread as a caller, if this process is attached.
#[inline]
pub fn attached() -> Option<(&'static Pool, Caller)> {
    let pool = POOL.get()?;
    let words = words()?;
    let slot = match words.slot.load(Relaxed) {
        0 => adopt_after_fork()?,
        NO_SLOT => return None,
        slot => slot,
    };
    Some((pool, Caller::new(slot - 1, thread::number())))
}

/// Takes the process out of the pool for good, without a system call from now on. Its slot stays until it ends.
pub fn lock_in() {
    LOCKED_IN.store(true, Relaxed);
    if let Some(words) = words() {
        if words.slot.swap(NO_SLOT, Relaxed) == 0 {
            // It has none, and the last one is its parent's.
            LAST_SLOT.store(0, Relaxed);
        }
    }
}

/// Whether the process has restricted its own system calls.
#[inline]
pub fn is_locked_in() -> bool {
    LOCKED_IN.load(Relaxed)
}

/// The pool and the slot that this process holds there, served or not: one that has locked itself in keeps its slot for what it has open.
pub fn held_slot() -> Option<(&'static Pool, u32)> {
    if let Some((pool, who)) = attached() {
        return Some((pool, who.client()));
    }
    if words()?.slot.load(Relaxed) != NO_SLOT {
        return None;
    }
    Some((POOL.get()?, LAST_SLOT.load(Relaxed).checked_sub(1)?))
}

/// Whether [`prepare`] has succeeded: without its page, forks cannot be told and nothing is buffered.
pub fn is_prepared() -> bool {
    words().is_some()
}

/// Takes over a mapped pool and a client slot.
pub fn set_attached(pool: Pool, slot: u32) -> bool {
    let Some(words) = words() else { return false };
    if POOL.set(pool).is_err() {
        return false;
    }
    LAST_SLOT.store(slot + 1, Relaxed);
    words.slot.store(slot + 1, Release);
    true
}

/// The mapped pool, whether or not this process has a slot in it.
pub fn pool() -> Option<&'static Pool> {
    POOL.get()
}

/// Whether this is a `vfork` child, which runs in its parent's memory and may touch only the kernel's tables.
#[inline]
pub fn is_vfork_child() -> bool {
    let Some(words) = words() else { return false };
    if is_locked_in() {
        return false;
    }
    match words.pid.load(Relaxed) {
        0 => {
            // A real child that has not looked at itself yet.
            words.pid.store(sys::getpid(), Relaxed);
            false
        }
        pid => pid != sys::getpid(),
    }
}

/// In a forked child: takes the slot that the parent has made for it, or a new one. Returns the slot plus 1.
#[cold]
fn adopt_after_fork() -> Option<u32> {
    let words = words()?;
    if is_locked_in() {
        // The slot that was made for it, whose process id the parent fills in; none if nobody saw the fork.
        LAST_SLOT.store(thread::fork_slot(), Relaxed);
        thread::set_fork_slot(0);
        words.slot.store(NO_SLOT, Relaxed);
        return None;
    }
    let pool = POOL.get()?;
    let parent = LAST_SLOT.load(Relaxed).checked_sub(1)?;
    let pid = sys::getpid();
    nesting::forked(Holder::new(parent, thread::number()));
    let identity = identity();
    SPACE.store(identity.space, Relaxed);
    sys::set_elsewhere(identity.space != 0);
    let slot = children::adopt(pool, parent, identity)?;
    words.pid.store(pid, Relaxed);
    LAST_SLOT.store(slot + 1, Relaxed);
    words.slot.store(slot + 1, Release);
    crate::fault::after_fork_in_child();
    crate::mapped::after_fork_in_child();
    // A fork that nobody saw comes here only: what other threads of the parent were in the middle of is not this process's.
    children::forget_parents_threads();
    crate::report::after_fork_in_child(pool, Caller::new(slot, 0));
    if identity.space == UNKNOWN_SPACE {
        // Nobody can watch it: nothing may wait in memory for it.
        crate::aside::step(millpond_segment::stats::Reason::NoCoordinator);
    }
    Some(slot + 1)
}
