//! An open file description: what `dup` and `fork` share.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bits of [`Description::flags`].
pub mod flags {
    /// May be read.
    pub const READ: u32 = 1;
    /// May be written.
    pub const WRITE: u32 = 2;
    /// Writes go to the end of the file.
    pub const APPEND: u32 = 4;
    /// Each write is to be durable before it returns.
    pub const SYNC: u32 = 8;
    /// The kernel has it: its offset is the true one, and no call is served from the pool.
    pub const RELEASED: u32 = 16;
    /// Something was written through it.
    pub const WROTE: u32 = 32;
    /// The descriptor was opened with `O_DIRECT`.
    pub const DIRECT: u32 = 64;
    /// No descriptor: it says that the client has the file mapped.
    pub const MAPPED: u32 = 128;
    /// The kernel was told that it is read, for the file's time of access.
    pub const TOUCHED: u32 = 256;
}

/// One open file description.
#[repr(C, align(64))]
pub struct Description {
    /// Number of descriptor table entries, of all clients, that refer to it. 0: the slot is free.
    pub refs: AtomicU32,
    /// File slot.
    pub file: AtomicU32,
    /// See [`flags`].
    pub flags: AtomicU32,
    /// The file's error count that was last reported here.
    pub seen_errors: AtomicU32,
    /// Where the next `read` or `write` goes.
    pub offset: AtomicU64,
    /// Client slot plus 1 that is filling the slot in, 0 afterwards.
    pub claimed_by: AtomicU32,
    pad: AtomicU32,
    pad2: [AtomicU64; 3],
}
crate::assert_shared!(Description, 64);

impl Description {
    /// Whether all bits of `mask` are set.
    #[inline]
    pub fn has(&self, mask: u32) -> bool {
        self.flags.load(Ordering::Relaxed) & mask == mask
    }
}
