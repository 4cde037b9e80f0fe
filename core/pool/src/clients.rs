//! Clients: slots of processes, and their tables of descriptors.
//!
//! **refs-are-entries**: the references of a description are the table entries, of all clients, that name it. A fork copies a table before
//! the child exists and `exec` keeps it, so that no description is freed while a process may still use it.

use crate::{Caller, Pool};
use millpond_segment::client::{state, CHUNK, CHUNKS, COMMAND_BYTES};
use millpond_segment::description::flags;
use millpond_segment::header::modes;
use millpond_segment::program::NAME_BYTES;
use millpond_segment::sys::{self, Process};
use millpond_segment::Run;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// Entries from this number on are no descriptors but pins: they keep a file that the process has mapped in direct mode.
pub const FIRST_PIN: u32 = ((CHUNKS - 1) * CHUNK) as u32;
const LAST: u32 = (CHUNKS * CHUNK) as u32;

/// Who takes a client slot.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Who it is; nobody yet for a child that is to be forked.
    pub process: Process,
    /// Start time of the process in clock ticks since boot.
    pub start: u64,
    /// Its command, for the inspector.
    pub command: &'a [u8],
    /// The program's name, for reports.
    pub name: &'a [u8],
    /// The run that it belongs to.
    pub run: Run,
    /// [`state`] that the slot is to have.
    pub state: u32,
    /// Client slot of the process that makes it for a child.
    pub parent: Option<u32>,
}

impl Pool {
    /// Takes a client slot. `None` when there is none or the coordinator is stopping.
    pub fn claim_client(&self, claim: Claim<'_>) -> Option<u32> {
        let header = self.segment.header();
        if header.modes.load(Relaxed) & modes::STOPPING != 0 {
            return None;
        }
        // Slot 0 is the coordinator's.
        for slot in 1..self.segment.layout().sizes.clients {
            let c = self.segment.client(slot);
            if c.state.load(Relaxed) != state::FREE
                || c.state.compare_exchange(state::FREE, state::CLAIMED, SeqCst, Relaxed).is_err()
            {
                continue;
            }
            self.wait_for_settling();
            header.client_top.fetch_max(slot + 1, SeqCst);
            self.describe_client(slot, claim);
            c.state.store(claim.state, Release);
            return Some(slot);
        }
        None
    }

    /// Writes who a client is.
    pub fn describe_client(&self, slot: u32, claim: Claim<'_>) {
        let c = self.segment.client(slot);
        c.since.store(sys::monotonic_ns(), Relaxed);
        c.parent.store(claim.parent.map_or(0, |p| p + 1), Relaxed);
        c.several.store(0, Relaxed);
        c.start.store(claim.start, Relaxed);
        c.command.set(claim.command);
        c.name.set(claim.name);
        c.run.store(claim.run.0, Relaxed);
        c.set_process(claim.process);
    }

    /// The table entry of `descriptor`, if its chunk exists.
    #[inline]
    pub fn entry(&self, client: u32, descriptor: u32) -> Option<&AtomicU32> {
        if descriptor >= LAST {
            return None;
        }
        let chunk = self.segment.client(client).chunk[descriptor as usize / CHUNK].load(Acquire);
        Some(&self.segment.chunk(chunk.checked_sub(1)?).entry[descriptor as usize % CHUNK])
    }

    /// The description that `descriptor` refers to.
    #[inline]
    pub fn description_of(&self, client: u32, descriptor: u32) -> Option<u32> {
        self.entry(client, descriptor)?.load(Acquire).checked_sub(1)
    }

    /// Makes `descriptor` refer to `description`, whose reference the caller hands over. `false` when the number is too
    /// high or no chunk is free.
    pub fn set_entry(&self, client: u32, descriptor: u32, description: u32) -> bool {
        let Some(entry) = self.entry_or_make(client, descriptor) else { return false };
        if let Some(old) = entry.swap(description + 1, SeqCst).checked_sub(1) {
            self.drop_description(old);
        }
        self.segment.client(client).top.fetch_max(descriptor + 1, Relaxed);
        true
    }

    /// Puts `description`, whose reference the caller hands over, into the first free entry for pins. `false` when there is none.
    pub(crate) fn set_pin(&self, client: u32, description: u32) -> bool {
        let number = (FIRST_PIN..LAST).find(|&number| {
            self.entry_or_make(client, number)
                .is_some_and(|entry| entry.compare_exchange(0, description + 1, SeqCst, Relaxed).is_ok())
        });
        if let Some(number) = number {
            self.segment.client(client).top.fetch_max(number + 1, Relaxed);
        }
        number.is_some()
    }

    /// Takes the entry of `descriptor` out; its reference is then the caller's.
    pub fn take_entry(&self, client: u32, descriptor: u32) -> Option<u32> {
        self.entry(client, descriptor)?.swap(0, SeqCst).checked_sub(1)
    }

    fn entry_or_make(&self, client: u32, descriptor: u32) -> Option<&AtomicU32> {
        if let Some(entry) = self.entry(client, descriptor) {
            return Some(entry);
        }
        if descriptor >= LAST {
            return None;
        }
        let place = &self.segment.client(client).chunk[descriptor as usize / CHUNK];
        let total = self.segment.layout().sizes.chunks();
        let start = self.segment.header().chunk_hint.load(Relaxed);
        for step in 0..total {
            let index = (start + step) % total;
            let owner = self.segment.chunk_owner(index);
            if owner.load(Relaxed) != 0 || owner.compare_exchange(0, client + 1, SeqCst, Relaxed).is_err() {
                continue;
            }
            self.segment.header().chunk_hint.store(index + 1, Relaxed);
            for entry in &self.segment.chunk(index).entry {
                entry.store(0, Relaxed);
            }
            if place.compare_exchange(0, index + 1, SeqCst, Relaxed).is_err() {
                owner.store(0, Release);
            }
            return self.entry(client, descriptor);
        }
        None
    }

    /// Calls `f` with each descriptor of a client and the description it refers to, pins included.
    pub fn for_entries(&self, client: u32, mut f: impl FnMut(u32, u32)) {
        let top = self.segment.client(client).top.load(Acquire).min(LAST);
        for (number, place) in self.segment.client(client).chunk.iter().enumerate() {
            let base = (number * CHUNK) as u32;
            if base >= top {
                break;
            }
            let Some(chunk) = place.load(Acquire).checked_sub(1) else { continue };
            let count = ((top - base) as usize).min(CHUNK);
            for (i, entry) in self.segment.chunk(chunk).entry[..count].iter().enumerate() {
                if let Some(description) = entry.load(Acquire).checked_sub(1) {
                    f(base + i as u32, description);
                }
            }
        }
    }

    /// Whether a client has another descriptor than `except` that wrote `file`, and whose close will flush it.
    pub fn wrote_by_other(&self, client: u32, file: u32, except: u32) -> bool {
        let mut found = false;
        self.for_entries(client, |descriptor, description| {
            let d = self.segment.description(description);
            found |= descriptor != except
                && descriptor < FIRST_PIN
                && d.file.load(Relaxed) == file
                && d.has(flags::WROTE);
        });
        found
    }

    /// A slot for the child that client `parent` is about to fork, with a copy of its table.
    pub fn fork_client(&self, parent: u32) -> Option<u32> {
        // Without an allocation, as a forked child asks while libc holds the locks of `malloc`.
        let (mut command, mut name) = ([0; COMMAND_BYTES], [0; NAME_BYTES]);
        let child = self.claim_client(Claim {
            process: Process::default(),
            start: 0,
            command: self.segment.client(parent).command.get(&mut command),
            name: self.segment.client(parent).name.get(&mut name),
            run: Run(self.segment.client(parent).run.load(Relaxed)),
            state: state::FORKING,
            parent: Some(parent),
        })?;
        self.copy_table(parent, child);
        self.copy_watches(parent, child);
        Some(child)
    }

    /// Copies all entries of one client's table to another's, with a reference each.
    pub fn copy_table(&self, from: u32, to: u32) {
        self.for_entries(from, |descriptor, description| {
            if !self.hold_description(description) {
                return;
            }
            // Another thread may have closed it and the slot may be another file's by now.
            if self.description_of(from, descriptor) != Some(description) {
                self.drop_description(description);
                return;
            }
            if !self.set_entry(to, descriptor, description) {
                self.drop_description(description);
            }
        });
    }

    /// Says that a description's slot is wholly filled in and named by a table.
    pub fn settle_description(&self, description: u32) {
        self.segment.description(description).claimed_by.store(0, Release);
    }

    /// Drops all that a client has and frees its slot; its counters go to its program's.
    pub fn release_client(&self, who: Caller, slot: u32) {
        self.empty_client(slot);
        self.end_watches(slot);
        self.end_counters(who, self.segment.client(slot), false);
        let c = self.segment.client(slot);
        c.set_process(Process::default());
        c.parent.store(0, Relaxed);
        c.state.store(state::FREE, Release);
    }

    /// Takes over the slot that this process (`claim.process`) had before an `exec`, emptied. The slot never is anybody else's meanwhile, so that who watches
    /// it sees one living process all the time.
    pub fn reclaim_client(&self, claim: Claim<'_>) -> Option<u32> {
        let top = self.segment.header().client_top.load(SeqCst).min(self.segment.layout().sizes.clients);
        let slot = (1..top).find(|&slot| {
            let c = self.segment.client(slot);
            let now = c.state.load(Acquire);
            c.process() == claim.process
                && !matches!(now, state::FREE | state::CLAIMED | state::DEAD)
                && c.state.compare_exchange(now, state::CLAIMED, SeqCst, Relaxed).is_ok()
        })?;
        let c = self.segment.client(slot);
        if c.several.load(Relaxed) == 1 {
            self.repair(Caller::new(slot, u32::MAX), slot);
        }
        self.empty_client(slot);
        self.end_counters(Caller::new(slot, u32::MAX), c, true);
        self.describe_client(slot, claim);
        c.state.store(claim.state, Release);
        Some(slot)
    }

    fn empty_client(&self, slot: u32) {
        let c = self.segment.client(slot);
        let mut from = 0;
        // Chunk by chunk, as an entry that is taken out cannot be met twice.
        while from < CHUNKS {
            if let Some(chunk) = c.chunk[from].swap(0, SeqCst).checked_sub(1) {
                for entry in &self.segment.chunk(chunk).entry {
                    if let Some(description) = entry.swap(0, SeqCst).checked_sub(1) {
                        self.drop_description(description);
                    }
                }
                self.segment.chunk_owner(chunk).store(0, Release);
            }
            from += 1;
        }
        c.top.store(0, Relaxed);
    }
}
