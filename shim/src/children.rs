//! Forks: a slot with a copy of the table is made for the child before it exists.
//!
//! Between the copy and the fork, other threads of the parent open and close. So the child of a process with several threads compares its
//! copy with what the kernel says before it does anything else: a stale entry would flush one file's bytes by another file's descriptor.

use crate::{borrow, exec, managed, ops, process, report, start, thread};
use millpond_pool::{Caller, Pool, FIRST_PIN};
use millpond_segment::account::Escape;
use millpond_segment::client::state;
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::sys::{self, Process};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// Before a fork, in the parent. Returns whether a slot was made by this call.
pub fn before_fork() -> bool {
    // A child that has not looked at itself yet (`clone` runs its function at once) takes the slot that was made for it first: its own child would.
    let held = process::held_slot();
    if thread::fork_slot() != 0 || process::is_vfork_child() {
        return false;
    }
    let Some((pool, slot)) = held else { return false };
    match pool.fork_client(slot) {
        Some(slot) => {
            thread::set_fork_slot(slot + 1);
            true
        }
        None => {
            // No slot for the child: what it inherits is the kernel's then, with true offsets.
            managed::for_each(|m| m.release_quietly(Reason::NoSlot));
            report::note(Escape::NoClient);
            false
        }
    }
}

/// After a fork, in the parent: `child` is the child's process id, or negative when the fork failed.
pub fn after_fork_in_parent(child: i32) {
    let Some(slot) = thread::fork_slot().checked_sub(1) else { return };
    thread::set_fork_slot(0);
    let Some(pool) = process::pool() else { return };
    if child < 0 {
        pool.release_client(Caller::new(slot, 0), slot);
        return;
    }
    let client = pool.segment().client(slot);
    // The child may have said so already, or may even be gone and its slot somebody else's.
    if process::held_slot().is_none_or(|(_, own)| client.parent.load(Relaxed) != own + 1) {
        return;
    }
    client.set_process_first(process::child_identity(child as u32));
    let _ = client.state.compare_exchange(state::FORKING, state::LIVE, SeqCst, Relaxed);
}

/// In a child, however it was forked.
pub fn forget_parents_threads() {
    exec::overlay_forget();
    borrow::after_fork_in_child();
    crate::attach::after_fork_in_child();
}

/// After a fork that was seen, in the child.
pub fn after_fork_in_child() {
    exec::overlay_forget();
    report::forget_started();
    borrow::after_fork_in_child();
    let _ = process::is_vfork_child();
    if let Some((pool, who)) = process::attached() {
        if thread::were_several() {
            reconcile(pool, who.client());
            start::for_open_descriptors(|fd| {
                if managed::entry(fd).is_none() {
                    ops::open::adopt_foreign(fd, Reason::Inherited);
                }
            });
        }
    }
}

/// Takes out of a child's table what is not what the child has open.
fn reconcile(pool: &Pool, slot: u32) {
    let mut stale = [0u32; 64];
    loop {
        let mut count = 0;
        pool.for_entries(slot, |fd, description| {
            if fd < FIRST_PIN && count < stale.len() && !is_open_as(pool, fd as i32, description) {
                stale[count] = fd;
                count += 1;
            }
        });
        for &fd in &stale[..count] {
            if let Some(description) = pool.take_entry(slot, fd) {
                pool.drop_description(description);
            }
        }
        if count < stale.len() {
            return;
        }
    }
}

/// Whether the kernel has the description's file, open in the same way, under `fd`.
fn is_open_as(pool: &Pool, fd: i32, description: u32) -> bool {
    let d = pool.segment().description(description);
    let Ok(oflag) = sys::fcntl(fd, libc::F_GETFL, 0) else { return false };
    let access = flags::READ | flags::WRITE;
    (ops::open::description_flags(oflag as i32) ^ d.flags.load(Relaxed)) & access == 0
        && ops::open::is_file_of(fd, pool, d.file.load(Relaxed)).unwrap_or(false)
}

/// In a child: its slot.
pub fn adopt(pool: &Pool, parent: u32, process: Process) -> Option<u32> {
    if let Some(slot) = thread::fork_slot().checked_sub(1) {
        thread::set_fork_slot(0);
        let client = pool.segment().client(slot);
        client.set_process(process);
        let _ = client.state.compare_exchange(state::FORKING, state::LIVE, SeqCst, Relaxed);
        return Some(slot);
    }
    // Forked by a raw call that nobody saw: the parent's table as it is now is the best there is.
    let slot = pool.fork_client(parent)?;
    reconcile(pool, slot);
    pool.count_escapes(Caller::new(slot, 0), Escape::ForkUnseen, 1);
    let client = pool.segment().client(slot);
    client.set_process(process);
    client.state.store(state::LIVE, Release);
    debug_assert_ne!(client.state.load(Acquire), state::FREE);
    Some(slot)
}
