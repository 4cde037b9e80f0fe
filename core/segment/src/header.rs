//! The segment's first bytes: what it is, how large its tables are, and the state that belongs to the node as a whole.

use crate::freelist::FreeList;
use crate::lock::FutexLock;
use crate::slab::{Device, Slab};
use millpond_model::placement::MAX_SLABS;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// "MILLPOND" as a number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"MILLPOND");
/// Version of the layout; raised with each change of meaning that the sizes do not show.
pub const VERSION: u32 = 2;
/// Devices that a segment can have.
pub const MAX_DEVICES: usize = 4;

/// Bits of [`Header::modes`].
pub mod modes {
    /// `close` returns at once, the coordinator flushes.
    pub const ASYNC_FLUSH: u32 = 1;
    /// The stores' file systems give each change a time of its own.
    pub const FINE_TIMES: u32 = 2;
    /// The coordinator is stopping: nothing new is buffered.
    pub const STOPPING: u32 = 4;
    /// The coordinator is putting counts right that processes left which were killed: nobody begins to count.
    pub const SETTLING: u32 = 8;
}

/// Watched directories on a node; beyond that, all files count as watched.
pub const WATCHES: usize = 31;

/// A watched directory.
#[repr(C)]
pub struct Watch {
    /// Client slot of the watcher plus 1; 0 when free, [`Watch::FOR_EVER`] when it is nobody's to take back.
    pub client: AtomicU32,
    /// 1 when all files count as watched.
    pub all: AtomicU32,
    /// The directory's device.
    pub dev: AtomicU64,
    /// Its inode.
    pub ino: AtomicU64,
}
crate::assert_shared!(Watch, 24);

impl Watch {
    /// The client of an entry that stays.
    pub const FOR_EVER: u32 = u32::MAX;
}

/// The header.
#[repr(C, align(64))]
pub struct Header {
    /// [`MAGIC`], written last at creation.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// [`modes`].
    pub modes: AtomicU32,
    /// Hash of the layout of all tables.
    pub layout_hash: AtomicU64,
    /// Length of the segment in bytes.
    pub length: AtomicU64,
    /// Bytes in a page.
    pub page_bytes: AtomicU32,
    /// Client slots.
    pub clients: AtomicU32,
    /// Chunks of descriptor tables.
    pub chunks: AtomicU32,
    /// Open file descriptions.
    pub descriptions: AtomicU32,
    /// File slots.
    pub files: AtomicU32,
    /// Page slots.
    pub pages: AtomicU32,
    /// Buckets of the index of pages, a power of two.
    pub page_buckets: AtomicU32,
    /// Buckets of the index of files, a power of two.
    pub file_buckets: AtomicU32,
    /// Slabs in use.
    pub slabs: AtomicU32,
    /// Buffers in all slabs.
    pub buffers: AtomicU32,
    /// Process id of the coordinator's worker.
    pub worker: AtomicU32,
    /// How often the worker has been started.
    pub incarnation: AtomicU32,
    /// When the worker last looked round, monotonic nanoseconds.
    pub heartbeat: AtomicU64,
    /// One past the highest client slot ever used.
    pub client_top: AtomicU32,
    /// One past the highest file slot ever used.
    pub file_top: AtomicU32,
    /// Where the eviction clock stands.
    pub clock_hand: AtomicU32,
    /// Where the search for a free description starts.
    pub description_hint: AtomicU32,
    /// Where the search for a free file slot starts.
    pub file_hint: AtomicU32,
    /// Where the search for a free chunk starts.
    pub chunk_hint: AtomicU32,
    /// Pages with dirty bytes, in all files.
    pub dirty_pages: AtomicU32,
    /// Counts opens, to tell old from new.
    pub open_clock: AtomicU64,
    /// A lock (its offset in the segment) that somebody waits for and a stopped process holds; 0 when none.
    pub held_up: AtomicU64,
    /// Free page slots.
    pub page_list: FreeList,
    /// Slabs in ascending order of buffer size.
    pub slab: [Slab; MAX_SLABS],
    /// Devices.
    pub device: [Device; MAX_DEVICES],
    /// One past the highest entry of `watch` ever used: 0 when nobody has watched anything.
    pub watch_top: AtomicU32,
    /// Directories whose files programs watch.
    pub watch: [Watch; WATCHES],
    /// Guards the rows of programs.
    pub programs_lock: FutexLock,
    /// Odd while counters are on their way from a process to a program's row: who adds up looks again.
    pub programs_moves: AtomicU32,
    /// One past the highest row of a program ever used.
    pub program_top: AtomicU32,
}
crate::assert_shared!(Header, HEADER_BYTES);
/// Bytes of the header.
pub const HEADER_BYTES: usize = 1408;
