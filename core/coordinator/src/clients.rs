//! Watching the processes that are attached.
//!
//! Each one is watched by a descriptor of its process, so that its death wakes the worker; slots whose process never came
//! (a fork or an attach cut short) are cleared after a grace.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};

use millpond_pool::Pool;
use millpond_segment::client::state;
use millpond_segment::sys::{self, Process};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, Pid, PidfdFlags};

/// How long a slot may stay without a process.
const GRACE: Duration = Duration::from_secs(10);

/// One slot in use.
struct Watched {
    known_as: Process,
    start: u64,
    process: Option<OwnedFd>,
    since: Instant,
    orphan: bool,
}

/// All slots in use.
#[derive(Default)]
pub struct Clients {
    slots: BTreeMap<u32, Watched>,
}

impl Clients {
    /// The descriptors of their processes, to be polled.
    pub fn processes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.slots.values().filter_map(|watched| watched.process.as_ref()).map(AsFd::as_fd)
    }

    /// Whether nobody is attached.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Looks at all slots. Returns those whose process is gone.
    pub fn scan(&mut self, pool: &Pool) -> Vec<u32> {
        let header = pool.segment().header();
        let top = header.client_top.load(Acquire).min(pool.segment().layout().sizes.clients);
        (1..top).filter(|&slot| self.look(pool, slot)).collect()
    }

    /// Forgets a slot that has been cleared, and notes that children which its process was about to fork may never come.
    pub fn forget(&mut self, pool: &Pool, slot: u32) {
        self.slots.remove(&slot);
        for (&other, watched) in &mut self.slots {
            watched.orphan |= pool.segment().client(other).parent.load(Relaxed) == slot + 1;
        }
    }

    /// Whether the process of a slot is gone, looked at anew.
    pub fn is_gone(&mut self, pool: &Pool, slot: u32) -> bool {
        self.look(pool, slot)
    }

    /// Whether the process of a slot is gone.
    fn look(&mut self, pool: &Pool, slot: u32) -> bool {
        let client = pool.segment().client(slot);
        let now = client.state.load(Acquire);
        let (known_as, start) = (client.process(), client.start.load(Relaxed));
        match now {
            state::FREE => {
                self.slots.remove(&slot);
                return false;
            }
            // A worker that was killed had begun with it.
            state::DEAD => return true,
            _ => {}
        }
        let watched = self.slots.entry(slot).or_insert_with(|| Watched::new(known_as, start));
        if watched.known_as != known_as || watched.start != start {
            *watched = Watched { orphan: watched.orphan, ..Watched::new(known_as, start) };
        }
        if known_as.pid != 0 {
            return watched.is_dead();
        }
        let parent = client.parent.load(Relaxed).checked_sub(1);
        let abandoned = now != state::FORKING
            || watched.orphan
            || parent.is_none_or(|p| pool.segment().client_is_dead(p));
        abandoned && watched.since.elapsed() > GRACE
    }

    /// Number of programs that use the pool, process `except` not counted.
    pub fn attached(&mut self, pool: &Pool, except: u32) -> u64 {
        let dead = self.scan(pool);
        let counts = |&&slot: &&u32| {
            let client = pool.segment().client(slot);
            client.state.load(Acquire) != state::FOREIGN
                && client.process() != Process::here(except)
                && !dead.contains(&slot)
        };
        self.slots.keys().filter(counts).count() as u64
    }
}

impl Watched {
    fn new(known_as: Process, start: u64) -> Self {
        let pid = known_as.pid_here().unwrap_or(0);
        let process = Pid::from_raw(pid as i32).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // The number may have gone to another process meanwhile.
        let same = start == 0 || sys::process_state(pid).is_some_and(|(_, began)| began == start);
        Self { known_as, start, process: process.filter(|_| same), since: Instant::now(), orphan: false }
    }

    fn is_dead(&self) -> bool {
        match &self.process {
            Some(process) => {
                let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
                poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&at_once)).is_ok_and(|n| n > 0)
            }
            // No descriptor could be had: gone, or out of descriptors.
            None => self.known_as.is_dead(self.start),
        }
    }
}
