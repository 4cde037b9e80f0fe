//! `exec`: the descriptors that survive it are named to the next image in a variable of its environment.
//!
//! Before the call, the process's dirty bytes are written, and a client slot of this process id holds a reference on every surviving
//! description, so that nobody frees one before the new image has adopted it. A program that cannot be preloaded (static, 32-bit,
//! set-user-id, Go) gets its descriptors as the kernel's: written, direct, and with their true offsets. What the environment lost
//! of ours is put back.
//!
//! A `vfork` child shares the parent's memory: what it does to descriptors is kept in an overlay beside the parent's table.

mod environment;
mod foreign;
mod overlay;
mod target;
mod unshimmed;

pub use environment::{adopted, remember as remember_environment, ADOPT};
pub use overlay::{
    any as overlay_any, drop_all as overlay_drop, forget as overlay_forget, get as overlay_get,
    live as overlay_live, set as overlay_set,
};

use crate::ops::processes::Target;
use crate::{attach, managed, process, report, start, thread};
use foreign::Foreign;
use libc::{c_char, c_int};
use millpond_pool::{Caller, Claim, Pool};
use millpond_segment::account::Escape;
use millpond_segment::client::{state, COMMAND_BYTES};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::sys;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

/// A surviving descriptor and its description.
type Survivor = (i32, u32);
/// Survivors that one `exec` can name.
const MAX_SURVIVORS: usize = 64;

/// Runs an `exec`.
///
/// # Safety
/// The arguments are the program's, as for `execve`.
pub unsafe fn run(
    target: Target,
    envp: *const *const c_char,
    call: impl FnOnce(*const *const c_char) -> c_int,
) -> c_int {
    if process::is_locked_in() {
        // SAFETY: as the caller's.
        return unsafe { unshimmed::run(envp, call) };
    }
    if !attach::is_possible() || !start::is_ready() {
        return call(envp);
    }
    let vfork = process::is_vfork_child();
    if !vfork {
        crate::errno::preserving(managed::flush_all);
    }
    let mut survivors = [(0, 0); MAX_SURVIVORS];
    let count = crate::errno::preserving(|| survive(&mut survivors));
    let survivors = &survivors[..count];
    let reachable = crate::errno::preserving(unshimmed::is_loadable);
    let found = crate::errno::preserving(|| target::find(target));
    let foreign = Foreign::of(found, !reachable, target);
    let loadable = reachable && found != Some(target::Found::Foreign(Escape::ExecOtherLibc));
    if foreign.is_some() {
        crate::errno::preserving(|| release(survivors));
    }
    lend_offsets(survivors);
    let slot = crate::errno::preserving(|| {
        if foreign.is_some() && !vfork {
            // For its report: nobody else will tell of the program that comes.
            let _ = attach::pool();
        }
        // The process's own line goes on with what was counted before.
        let goes_on = !vfork && report::is_wanted();
        let slot = if count > 0 || foreign.is_some() || goes_on {
            take_slot(vfork, survivors, foreign.is_none())
        } else {
            None
        };
        if let Some(foreign) = &foreign {
            foreign.note(slot);
        }
        slot
    });
    let named = slot.filter(|_| foreign.is_none());
    if let (false, true, Some((pool, who))) = (vfork, thread::were_several(), process::attached()) {
        pool.segment().client(who.client()).several.store(1, SeqCst);
    }
    let overlay = overlay::suspend();
    // SAFETY: as the caller's.
    let result = unsafe {
        match loadable {
            true => environment::with(envp, named.map(|s| (s, survivors)), call),
            false => unshimmed::run(envp, call),
        }
    };
    // Still here: it failed.
    overlay::resume(overlay);
    crate::errno::preserving(|| {
        if let Some(foreign) = &foreign {
            foreign.take_back(vfork, slot);
        }
        undo(vfork, slot);
    });
    result
}

/// The descriptors of the table (and of the overlay, in a `vfork` child) that have no close-on-exec flag.
fn survive(out: &mut [Survivor; MAX_SURVIVORS]) -> usize {
    let mut count = 0;
    let mut add = |fd: i32, description: u32| {
        if sys::fcntl(fd, libc::F_GETFD, 0).is_ok_and(|f| f as c_int & libc::FD_CLOEXEC == 0) {
            if count < MAX_SURVIVORS {
                out[count] = (fd, description);
                count += 1;
            } else if let Some(m) = managed::get(fd) {
                let _ = m.release(Reason::Foreign);
            }
        }
    };
    managed::for_each(|m| {
        if overlay::get(m.fd).is_none() {
            add(m.fd, m.description);
        }
    });
    overlay::for_each(add);
    count
}

fn of(pool: &'static Pool, survivor: Survivor) -> Option<managed::Managed> {
    let (_, who) = process::attached()?;
    let (fd, description) = survivor;
    let d = pool.segment().description(description);
    Some(managed::Managed {
        pool,
        who,
        fd,
        description,
        file: d.file.load(Relaxed),
        flags: d.flags.load(Relaxed),
    })
}

/// Hands the survivors to the kernel.
fn release(survivors: &[Survivor]) {
    let Some(pool) = process::pool() else { return };
    for &survivor in survivors {
        if let Some(m) = of(pool, survivor).filter(|m| m.flags & flags::RELEASED == 0) {
            let _ = m.release(Reason::Foreign);
        }
    }
}

/// Sets the kernel's offsets to the true ones, for a new image that finds no coordinator.
fn lend_offsets(survivors: &[Survivor]) {
    let Some(pool) = process::pool() else { return };
    for &(fd, description) in survivors {
        let d = pool.segment().description(description);
        if !d.has(flags::RELEASED) {
            let _ = sys::lseek(fd, d.offset.load(SeqCst) as i64, libc::SEEK_SET);
        }
    }
}

/// A client slot of this process id that holds the survivors: its own, or a new one in a `vfork` child.
fn take_slot(vfork: bool, survivors: &[Survivor], preloadable: bool) -> Option<u32> {
    let (pool, who) = process::attached()?;
    let next = if preloadable { state::EXECING } else { state::FOREIGN };
    if !vfork {
        pool.segment().client(who.client()).state.store(next, SeqCst);
        return Some(who.client());
    }
    let program = attach::Identity::read();
    let slot = pool.claim_client(Claim {
        process: process::identity(),
        start: 0,
        command: program.command(&mut [0; COMMAND_BYTES]),
        name: program.name(),
        run: attach::run(),
        state: next,
        parent: Some(who.client()),
    })?;
    for &(fd, description) in survivors {
        if pool.hold_description(description) && !pool.set_entry(slot, fd as u32, description) {
            pool.drop_description(description);
        }
    }
    Some(slot)
}

fn undo(vfork: bool, slot: Option<u32>) {
    let (Some(slot), Some(pool)) = (slot, process::pool()) else { return };
    if vfork {
        pool.release_client(Caller::new(slot, 0), slot);
    } else {
        pool.segment().client(slot).state.store(state::LIVE, Release);
    }
}
