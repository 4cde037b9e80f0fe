//! A client's slot: one process that uses the segment, and its table of descriptors.

use crate::account::{Account, Sums};
use crate::program::Name;
use crate::stats::{Stripe, STRIPES};
use crate::sys::Process;
use crate::text::Text;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// State of a client slot.
pub mod state {
    /// Unused.
    pub const FREE: u32 = 0;
    /// Being filled in.
    pub const CLAIMED: u32 = 1;
    /// A running process.
    pub const LIVE: u32 = 2;
    /// Made by a process about to fork, for its child.
    pub const FORKING: u32 = 3;
    /// Its process is between `exec` and the new image's start.
    pub const EXECING: u32 = 4;
    /// Its process runs a program that cannot be preloaded: all it inherited is the kernel's.
    pub const FOREIGN: u32 = 5;
    /// Its process is gone; the coordinator is cleaning up.
    pub const DEAD: u32 = 6;
}

/// Descriptors in one chunk of a table.
pub const CHUNK: usize = 1024;
/// Chunks that one client can have: descriptors from 65,536 on are the kernel's.
pub const CHUNKS: usize = 64;
/// Bytes of a command that are kept for the inspector.
pub const COMMAND_BYTES: usize = 64;

/// One process.
#[repr(C, align(64))]
pub struct Client {
    /// [`state`].
    pub state: AtomicU32,
    pad0: AtomicU32,
    /// Start time of the process, clock ticks since boot.
    pub start: AtomicU64,
    /// Client slot plus 1 of the process that made this slot for a child.
    pub parent: AtomicU32,
    /// One past the highest descriptor in the table.
    pub top: AtomicU32,
    /// When the state last changed, monotonic nanoseconds.
    pub since: AtomicU64,
    /// Chunk numbers plus 1.
    pub chunk: [AtomicU32; CHUNKS],
    /// The command, for the inspector.
    pub command: Text<{ COMMAND_BYTES / 8 }>,
    /// Hot counters, one stripe a thread.
    pub stripes: [Stripe; STRIPES],
    /// The other counters.
    pub account: Account,
    /// What the images before an `exec` counted: it stands in their programs' rows already, and is kept for the process's own report.
    pub carried: Sums,
    /// The program's name.
    pub name: Name,
    /// The run that it belongs to.
    pub run: AtomicU64,
    /// 1 when the image before an `exec` had several threads: the others were ended wherever they were.
    pub several: AtomicU32,
    pad: AtomicU32,
    /// Who it is, as [`Process::to_word`]; 0 while a forked child has not said so.
    process: AtomicU64,
    pad2: [AtomicU64; 1],
}
crate::assert_shared!(Client, 1472 + std::mem::size_of::<Account>() + std::mem::size_of::<Sums>());

/// Part of a descriptor table: description slot plus 1 per descriptor.
#[repr(C)]
pub struct Chunk {
    /// Entries.
    pub entry: [AtomicU32; CHUNK],
}
crate::assert_shared!(Chunk, 4 * CHUNK);

impl Client {
    /// Who it is.
    pub fn process(&self) -> Process {
        Process::from_word(self.process.load(Ordering::Acquire))
    }

    /// Says who it is.
    pub fn set_process(&self, process: Process) {
        self.process.store(process.to_word(), Ordering::Release);
    }

    /// Says who it is unless somebody has.
    pub fn set_process_first(&self, process: Process) {
        let _ = self.process.compare_exchange(0, process.to_word(), Ordering::SeqCst, Ordering::Relaxed);
    }
}
