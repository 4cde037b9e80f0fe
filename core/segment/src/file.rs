//! A file's slot: identity, size, and the state that all its users on the node share.

use crate::text::Text;
use crate::FutexLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// State of a file slot.
pub mod state {
    /// Unused.
    pub const FREE: u32 = 0;
    /// Being filled in.
    pub const CLAIMED: u32 = 1;
    /// Names a file.
    pub const LIVE: u32 = 2;
}

/// Bytes of a path that are kept for the inspector.
pub const NAME_BYTES: usize = 160;

/// One file that the pool knows.
#[repr(C, align(64))]
pub struct File {
    /// Size as programs see it, in bytes.
    pub size: AtomicU64,
    /// Size of the real file as far as it is known, in bytes: beyond it nothing can be read from the store.
    pub stored_size: AtomicU64,
    /// Reasons why the kernel serves this file, as bits; 0 when it is buffered.
    pub direct: AtomicU64,
    /// Raised by each truncation and each turn to direct mode; a write that sees it change looks again.
    pub epoch: AtomicU32,
    /// Pages with dirty bytes.
    pub dirty_pages: AtomicU32,
    /// Times that a flush failed.
    pub errors: AtomicU32,
    /// [`state`].
    pub state: AtomicU32,
    /// End of an append under way, for a signal handler that interrupts it; 0 when none.
    pub reserved: AtomicU64,
    /// Wall time of the latest write, nanoseconds since the epoch.
    pub written_at: AtomicU64,
    /// Guards the size against truncation, revalidation and turns of mode.
    pub lock: FutexLock,
    /// Guards the list of pages.
    pub list_lock: FutexLock,

    /// Held by the one flusher.
    pub flush_lock: FutexLock,
    /// Held by the one that appends; taken before all other locks of the file.
    pub append_lock: FutexLock,
    /// Device number.
    pub dev: AtomicU64,
    /// Inode number.
    pub ino: AtomicU64,
    /// Stamp that the clean pages stand for: size.
    pub stamp_size: AtomicU64,
    /// Stamp: modification time, nanoseconds.
    pub stamp_mtime: AtomicU64,
    /// Stamp: change time, nanoseconds.
    pub stamp_ctime: AtomicU64,
    /// Stamp: birth time, nanoseconds.
    pub stamp_btime: AtomicU64,
    /// When the stamp was taken, nanoseconds since the epoch.
    pub stamp_taken: AtomicU64,
    /// Open file descriptions of this file.
    pub opens: AtomicU32,
    /// Number of the last flush error.
    pub error: AtomicU32,
    /// First page of the file's list, plus 1.
    pub first_page: AtomicU32,
    /// Last page of the file's list, plus 1.
    pub last_page: AtomicU32,
    /// Pages in the list.
    pub pages: AtomicU32,
    /// Next file of the same bucket plus 1.
    pub next_in_bucket: AtomicU32,
    /// Whether the coordinator has been sent a descriptor: 0 no, 1 sent, 2 being sent.
    pub handed: AtomicU32,
    /// The coordinator's descriptor plus 1, 0 when it has none.
    pub keeper_fd: AtomicU32,
    /// Client slot plus 1 that fills the slot in or removes it.
    pub claimed_by: AtomicU32,
    /// Processes that have the file mapped, counted by their pins: the file is direct while there is one.
    pub mapped: AtomicU32,
    /// A path, for the inspector only.
    pub name: Text<{ NAME_BYTES / 8 }>,
    /// When the file was last opened, a counter.
    pub used: AtomicU64,
    /// 1 while the coordinator has been asked to write dirty bytes behind a growing file.
    pub behind: AtomicU32,
    /// 1 once a descriptor has been handed over for the file: only then may bytes wait in memory after the call that wrote them.
    pub acknowledged: AtomicU32,
    /// Writes under way that the kernel serves because the file is direct; direct mode does not end over them.
    pub direct_calls: AtomicU32,
    /// 1 while somebody, under the file's lock, looks whether direct mode can end: what wants it to go on waits for that lock.
    pub ending: AtomicU32,
    /// The run of the program that last handed a descriptor over: whose flushes the coordinator's are.
    pub run: AtomicU64,
}
crate::assert_shared!(File, 384);

impl File {
    /// Whether the slot names the file `ino` on device `dev`.
    pub fn is(&self, dev: u64, ino: u64) -> bool {
        self.ino.load(Ordering::Relaxed) == ino
            && self.dev.load(Ordering::Relaxed) == dev
            && self.state.load(Ordering::Acquire) == state::LIVE
    }
}
