//! Operations on memory mappings of files.

use serde::{Deserialize, Serialize};

use super::DataCall;

/// How a momentary mapping is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MapUse {
    /// Mapped privately and read.
    Read,
    /// Mapped privately and written: the file must not change.
    PrivateWrite,
    /// Mapped shared and written.
    SharedWrite,
    /// The same, with `msync`.
    SharedWriteSync,
}

/// Which mapping is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MapKind {
    /// `MAP_SHARED`.
    Shared,
    /// `MAP_SHARED_VALIDATE`.
    Validated,
    /// `MAP_PRIVATE`.
    Private,
}

/// Who touches mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Touch {
    /// The kernel, for a pipe.
    Pipe,
    /// The program itself.
    Program,
    /// The kernel, by `process_vm_readv` and `process_vm_writev`.
    ProcessMemory,
}

/// How `mremap` is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resize {
    /// `MREMAP_MAYMOVE`.
    MayMove,
    /// `MREMAP_FIXED`, to a place that was reserved.
    Fixed,
    /// With an old size of zero, which maps the same pages of a shared mapping once more.
    Duplicate,
}

/// One operation on a mapping that is held over many steps. `page` and `pages` count pages of 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum MapOp {
    /// Maps, uses and unmaps.
    Once {
        slot: u8,
        usage: MapUse,
        page: u32,
        len: u32,
        seed: u32,
    },
    /// Maps and keeps the mapping, whatever becomes of the descriptor.
    Hold {
        slot: u8,
        map: u8,
        kind: MapKind,
        writable: bool,
        page: u32,
        pages: u32,
    },
    Read {
        map: u8,
        touch: Touch,
    },
    Write {
        map: u8,
        at: u32,
        len: u32,
        seed: u32,
        touch: Touch,
    },
    Protect {
        map: u8,
        writable: bool,
    },
    Resize {
        map: u8,
        pages: u32,
        how: Resize,
    },
    /// Unmaps a part.
    Cut {
        map: u8,
        page: u32,
        pages: u32,
    },
    /// Maps a file over a part, with `MAP_FIXED`.
    Over {
        map: u8,
        at_page: u32,
        slot: u8,
        kind: MapKind,
        writable: bool,
        page: u32,
        pages: u32,
    },
    Sync {
        map: u8,
        flags: i32,
    },
    Advise {
        map: u8,
        page: u32,
        pages: u32,
        advice: i32,
    },
    /// A read or write whose buffer is the mapping.
    Data {
        map: u8,
        at: u32,
        slot: u8,
        write: bool,
        call: DataCall,
        offset: i64,
        len: u32,
    },
    Drop {
        map: u8,
    },
}
