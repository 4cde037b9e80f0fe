//! What a `vfork` child did to its descriptors, kept beside the parent's table until it execs or ends.
//!
//! **one-drop**: each reference that an overlay holds is dropped once: by the child, by its exec, or by the child that takes the overlay next.

use crate::process;
use millpond_segment::sys;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// `vfork` children of one process at a time.
const CHILDREN: usize = 8;
/// Descriptors that one child may change.
const CHANGES: usize = 64;

/// Beside the process id: the child is in an exec. If that succeeds nobody comes back, so the overlay may be taken.
const SUSPENDED: u32 = 1 << 31;
/// In a change: its reference was dropped before the exec.
const DROPPED: u64 = 1 << 63;

struct Overlay {
    /// Process id of the child, 0 when free.
    pid: AtomicU32,
    used: AtomicU32,
    /// Descriptor plus 1 in the high half, description plus 1 (0: closed) in the low one.
    change: [AtomicU64; CHANGES],
}

static OVERLAYS: [Overlay; CHILDREN] = [const {
    Overlay {
        pid: AtomicU32::new(0),
        used: AtomicU32::new(0),
        change: [const { AtomicU64::new(0) }; CHANGES],
    }
}; CHILDREN];

/// Overlays of children that have neither become another program nor ended.
static LIVE: AtomicU32 = AtomicU32::new(0);

/// Whether there is a child that has changed its descriptors and is still here: with none, a lookup need not ask who this is.
#[inline]
pub fn live() -> bool {
    LIVE.load(Relaxed) != 0
}

/// Whether there is any overlay: without one, nothing has to be asked of the kernel.
pub fn any() -> bool {
    OVERLAYS.iter().any(|o| o.pid.load(Relaxed) != 0)
}

fn mine() -> Option<&'static Overlay> {
    if !process::is_vfork_child() {
        return None;
    }
    let pid = sys::getpid();
    OVERLAYS.iter().find(|o| o.pid.load(Relaxed) == pid)
}

fn mine_or_new() -> Option<&'static Overlay> {
    if let Some(found) = mine() {
        return Some(found);
    }
    let pid = sys::getpid();
    let free = |o: &&Overlay| {
        let owner = o.pid.load(Relaxed);
        let idle = owner == 0 || owner & SUSPENDED != 0;
        let taken = (idle || sys::process_state(owner).is_none_or(|(state, _)| state == b'Z'))
            && o.pid.compare_exchange(owner, pid, SeqCst, Relaxed).is_ok();
        // One that was killed is counted already.
        LIVE.fetch_add(u32::from(taken && idle), Relaxed);
        taken
    };
    let overlay = OVERLAYS.iter().find(free)?;
    clear(overlay);
    Some(overlay)
}

/// Lets go of what an overlay holds.
fn clear(overlay: &Overlay) {
    for change in &overlay.change[..overlay.used.swap(0, Relaxed) as usize] {
        let word = change.swap(0, Relaxed);
        if let (0, Some(description), Some(pool)) =
            (word & DROPPED, (word as u32).checked_sub(1), process::pool())
        {
            pool.drop_description(description);
        }
    }
}

/// In a forked child: what children of the parent hold is not this process's to drop.
pub fn forget() {
    for overlay in &OVERLAYS {
        overlay.used.store(0, Relaxed);
        overlay.pid.store(0, Relaxed);
    }
    LIVE.store(0, Relaxed);
}

/// Notes that the child's `fd` now refers to `description`, whose reference is handed over, or is closed. Without room, the
/// reference is let go, and the next image takes the descriptor as the kernel's.
pub fn set(fd: i32, description: Option<u32>) {
    let Some(pool) = process::pool() else { return };
    // A number that no descriptor has: the call fails, and changes nothing.
    if fd < 0 {
        if let Some(d) = description {
            pool.drop_description(d);
        }
        return;
    }
    let word = (fd as u64 + 1) << 32 | u64::from(description.map_or(0, |d| d + 1));
    let Some(overlay) = mine_or_new() else {
        if let Some(d) = description {
            pool.drop_description(d);
        }
        return;
    };
    let used = overlay.used.load(Relaxed) as usize;
    for change in &overlay.change[..used] {
        if change.load(Relaxed) >> 32 == fd as u64 + 1 {
            let old = change.swap(word, Relaxed);
            if let Some(old) = (old as u32).checked_sub(1) {
                pool.drop_description(old);
            }
            return;
        }
    }
    if used == CHANGES {
        if let Some(d) = description {
            pool.drop_description(d);
        }
        return;
    }
    overlay.change[used].store(word, Relaxed);
    overlay.used.store(used as u32 + 1, Relaxed);
}

/// What the child did to `fd`: `None` nothing, `Some(None)` closed, else its description.
pub fn get(fd: i32) -> Option<Option<u32>> {
    let overlay = mine().filter(|_| fd >= 0)?;
    overlay.change[..overlay.used.load(Relaxed) as usize]
        .iter()
        .map(|c| c.load(Relaxed))
        .find(|word| word >> 32 == fd as u64 + 1)
        .map(|word| (word as u32).checked_sub(1))
}

/// Calls `f` with each descriptor that the child has put somewhere, and its description.
pub fn for_each(mut f: impl FnMut(i32, u32)) {
    let Some(overlay) = mine() else { return };
    for change in &overlay.change[..overlay.used.load(Relaxed) as usize] {
        let word = change.load(Relaxed);
        if let Some(description) = (word as u32).checked_sub(1) {
            f((word >> 32) as i32 - 1, description);
        }
    }
}

/// Before the child ends without an exec.
pub fn drop_all() {
    if let Some(overlay) = mine() {
        clear(overlay);
        overlay.pid.store(0, SeqCst);
        LIVE.fetch_sub(1, Relaxed);
    }
}

/// Right before an exec: if it succeeds, nobody is left to free the overlay, so it is freed now; what the new slot holds references of
/// its own to is dropped. Returns what [`resume`] needs if the exec fails.
pub fn suspend() -> Option<usize> {
    let overlay = mine()?;
    let index = OVERLAYS.iter().position(|o| std::ptr::eq(o, overlay))?;
    for change in &overlay.change[..overlay.used.load(Relaxed) as usize] {
        let word = change.load(Relaxed);
        if let (Some(description), Some(pool)) = ((word as u32).checked_sub(1), process::pool()) {
            if pool.segment().description(description).refs.load(SeqCst) > 1 {
                change.store(word | DROPPED, Relaxed);
                pool.drop_description(description);
            }
        }
    }
    overlay.pid.store(sys::getpid() | SUSPENDED, SeqCst);
    LIVE.fetch_sub(1, Relaxed);
    Some(index)
}

/// After an exec that failed. Before the new slot lets go of its references.
pub fn resume(index: Option<usize>) {
    let Some(overlay) = index.and_then(|i| OVERLAYS.get(i)) else { return };
    let pid = sys::getpid();
    if overlay.pid.compare_exchange(pid | SUSPENDED, pid, SeqCst, Relaxed).is_err() {
        // Another child has taken it meanwhile: the next exec of this one leaves its descriptors to the kernel.
        return;
    }
    LIVE.fetch_add(1, Relaxed);
    for change in &overlay.change[..overlay.used.load(Relaxed) as usize] {
        let word = change.load(Relaxed);
        if let (true, Some(description), Some(pool)) =
            (word & DROPPED != 0, (word as u32).checked_sub(1), process::pool())
        {
            pool.hold_description(description);
            change.store(word & !DROPPED, Relaxed);
        }
    }
}
