//! Forks: a slot with a copy of the table is made for the child before it exists.

use crate::{exec, process, thread};
use millpond_pool::Pool;
use millpond_segment::client::state;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// Before a fork, in the parent. Returns whether a slot was made by this call.
pub fn before_fork() -> bool {
    if thread::fork_slot() != 0 || process::is_vfork_child() {
        return false;
    }
    let Some((pool, who)) = process::attached() else { return false };
    match pool.fork_client(who.client()) {
        Some(slot) => {
            thread::set_fork_slot(slot + 1);
            true
        }
        None => false,
    }
}

/// After a fork, in the parent: `child` is the child's process id, or negative when the fork failed.
pub fn after_fork_in_parent(child: i32) {
    let Some(slot) = thread::fork_slot().checked_sub(1) else { return };
    thread::set_fork_slot(0);
    let Some(pool) = process::pool() else { return };
    if child < 0 {
        pool.release_client(slot);
        return;
    }
    let client = pool.segment().client(slot);
    // The child may have said so already, or may even be gone.
    let _ = client.pid.compare_exchange(0, child as u32, SeqCst, Relaxed);
    let _ = client.state.compare_exchange(state::FORKING, state::LIVE, SeqCst, Relaxed);
}

/// After a fork, in the child.
pub fn after_fork_in_child() {
    exec::overlay_forget();
    let _ = process::is_vfork_child();
    let _ = process::attached();
}

/// In a child: its slot.
pub fn adopt(pool: &Pool, parent: u32, pid: u32) -> Option<u32> {
    if let Some(slot) = thread::fork_slot().checked_sub(1) {
        thread::set_fork_slot(0);
        let client = pool.segment().client(slot);
        client.pid.store(pid, Release);
        let _ = client.state.compare_exchange(state::FORKING, state::LIVE, SeqCst, Relaxed);
        return Some(slot);
    }
    // Forked by a raw call that nobody saw: the parent's table as it is now is the best there is.
    let slot = pool.fork_client(parent)?;
    let client = pool.segment().client(slot);
    client.pid.store(pid, Release);
    client.state.store(state::LIVE, Release);
    debug_assert_ne!(client.state.load(Acquire), state::FREE);
    Some(slot)
}
