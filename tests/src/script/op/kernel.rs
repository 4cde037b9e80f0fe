//! Copies inside the kernel, hints, and sizes that only the kernel knows what to do with.

use serde::{Deserialize, Serialize};

/// One operation that the kernel does with a file's bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum KernelOp {
    /// `splice`, `tee`, and `splice` of both pipes into files.
    Tee {
        from_slot: u8,
        to_slot: u8,
        len: u32,
    },
    /// `vmsplice` of memory, or of a held mapping, and `splice` into a file.
    Vmsplice {
        to_slot: u8,
        map: Option<u8>,
        offset: Option<i64>,
        len: u32,
        seed: u32,
    },
    /// `FICLONERANGE`.
    CloneRange {
        from_slot: u8,
        to_slot: u8,
        from: u64,
        to: u64,
        len: u64,
    },
    /// `FIDEDUPERANGE`.
    Dedupe {
        from_slot: u8,
        to_slot: u8,
        from: u64,
        to: u64,
        len: u64,
    },
    Syncfs {
        slot: u8,
    },
    Sync,
    SyncFileRange {
        slot: u8,
        offset: i64,
        len: i64,
        flags: u32,
    },
    Fadvise {
        slot: u8,
        offset: i64,
        len: i64,
        advice: i32,
    },
    Readahead {
        slot: u8,
        offset: i64,
        len: u32,
    },
    /// A transfer with a count far beyond the memory that is there.
    Huge {
        slot: u8,
        write: bool,
        at: Option<i64>,
        count: u64,
        memory: u32,
        seed: u32,
    },
    /// A vectored transfer with an odd number of pieces, of `len` bytes each.
    Pieces {
        slot: u8,
        write: bool,
        at: Option<i64>,
        count: i32,
        len: u64,
        seed: u32,
    },
    /// A call of the stat family with a bad pointer to the result, or to the path.
    BadPointer {
        slot: u8,
        which: u8,
    },
}
