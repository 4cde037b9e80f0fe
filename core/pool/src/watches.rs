//! Directories that programs watch: files in them are the kernel's, as only its own reads and writes are seen by the watchers.
//!
//! Holds: an entry is its client's until that ends; when there is no free one, everything counts as watched from then on.

use crate::{Caller, Pool};
use millpond_segment::header::{Watch, WATCHES};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// The files in a directory, given by device and inode.
    Directory(u64, u64),
    /// All files.
    Everything,
}

impl Pool {
    /// Notes that the client watches something.
    pub fn watch(&self, who: Caller, what: Watched) {
        self.note_watch(who.client() + 1, what);
    }

    fn note_watch(&self, client: u32, what: Watched) {
        let header = self.segment.header();
        let is_there = |w: &Watch| {
            w.client.load(Acquire) == client && (what_of(w) == what || what_of(w) == Watched::Everything)
        };
        if header.watch.iter().any(is_there) {
            return;
        }
        let free = header.watch.iter().position(|w| {
            w.client.load(Relaxed) == 0 && w.client.compare_exchange(0, client, SeqCst, Relaxed).is_ok()
        });
        let (place, what) = match free {
            Some(place) => (place, what),
            None => (WATCHES - 1, Watched::Everything),
        };
        let entry = &header.watch[place];
        match what {
            Watched::Directory(dev, ino) => {
                entry.dev.store(dev, Relaxed);
                entry.ino.store(ino, Relaxed);
                entry.all.store(0, Release);
            }
            Watched::Everything => entry.all.store(1, Release),
        }
        if free.is_none() {
            entry.client.store(Watch::FOR_EVER, Release);
        }
        header.watch_top.fetch_max(place as u32 + 1, SeqCst);
    }

    /// Whether there are watches at all.
    #[inline]
    pub fn any_watch(&self) -> bool {
        self.segment.header().watch_top.load(Relaxed) != 0
    }

    /// Whether a file in that directory is watched.
    pub fn is_watched(&self, dev: u64, ino: u64) -> bool {
        let of = [Watched::Directory(dev, ino), Watched::Everything];
        self.segment.header().watch.iter().any(|w| w.client.load(Acquire) != 0 && of.contains(&what_of(w)))
    }

    /// A child has its parent's watches.
    pub(crate) fn copy_watches(&self, from: u32, to: u32) {
        if self.any_watch() {
            for w in self.segment.header().watch.iter().filter(|w| w.client.load(Acquire) == from + 1) {
                self.note_watch(to + 1, what_of(w));
            }
        }
    }

    /// Takes a client's watches back.
    pub(crate) fn end_watches(&self, client: u32) {
        if self.any_watch() {
            for w in &self.segment.header().watch {
                let _ = w.client.compare_exchange(client + 1, 0, SeqCst, Relaxed);
            }
        }
    }
}

fn what_of(entry: &Watch) -> Watched {
    match entry.all.load(Acquire) {
        0 => Watched::Directory(entry.dev.load(Relaxed), entry.ino.load(Relaxed)),
        _ => Watched::Everything,
    }
}
