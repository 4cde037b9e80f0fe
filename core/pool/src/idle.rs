//! What is put right when nobody uses the pool.
//!
//! A process that is killed between two counts (it has counted an open and not yet claimed a description, or given up the last reference of one and
//! not yet counted it off its file) leaves a file counted as open that nobody has open. While other processes count at the same time nobody can
//! tell; when none is left, every such count is wrong.

use crate::{Pool, COORDINATOR};
use millpond_segment::client::state;
use millpond_segment::header::modes;
use millpond_segment::sys;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

/// How long a process that comes just then waits between two looks.
const STEP_NS: u64 = 100_000;

impl Pool {
    /// For the coordinator: if no process uses the pool, takes back what is still counted. Returns how many files were counted as open.
    pub fn settle_counts(&self) -> u32 {
        if !self.is_any_counted() {
            return 0;
        }
        let bits = &self.segment.header().modes;
        // First said, then looked: who takes a client slot either is seen here, or sees this and waits.
        bits.fetch_or(modes::SETTLING, SeqCst);
        let settled = if self.has_clients() { 0 } else { self.settle() };
        bits.fetch_and(!modes::SETTLING, SeqCst);
        settled
    }

    /// Before a client counts anything: if the coordinator is settling counts, waits until it has.
    pub(crate) fn wait_for_settling(&self) {
        while self.segment.header().modes.load(SeqCst) & modes::SETTLING != 0
            && !self.segment.client_is_dead(COORDINATOR)
        {
            sys::sleep_ns(STEP_NS);
        }
    }

    fn is_any_counted(&self) -> bool {
        (0..self.file_slots()).any(|slot| self.segment.file(slot).opens.load(SeqCst) != 0)
    }

    fn has_clients(&self) -> bool {
        (1..self.segment.layout().sizes.clients)
            .any(|slot| self.segment.client(slot).state.load(SeqCst) != state::FREE)
    }

    fn settle(&self) -> u32 {
        for index in 0..self.segment.layout().sizes.descriptions {
            let d = self.segment.description(index);
            if d.refs.load(Relaxed) != 0 {
                d.claimed_by.store(0, Relaxed);
                d.refs.store(0, Release);
            }
        }
        for chunk in 0..self.segment.layout().sizes.chunks() {
            self.segment.chunk_owner(chunk).store(0, Release);
        }
        let mut settled = 0;
        for slot in 0..self.file_slots() {
            let f = self.segment.file(slot);
            // What the file was direct for is forgotten when it is opened next.
            self.forget_direct_calls(slot);
            settled += u32::from(f.opens.swap(0, SeqCst) != 0);
        }
        settled
    }
}
