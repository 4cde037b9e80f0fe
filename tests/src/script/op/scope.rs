//! Circumstances under which a few operations are done, and operations that are done at once.

use serde::{Deserialize, Serialize};

use super::Op;

/// What is different while the operations of a scope are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Calls are made by number, through `syscall`.
    ByNumber,
    /// The process has another effective user and group.
    OtherUser,
    /// No file may be written beyond this size.
    FileSize(u64),
    /// Only this many further descriptors can be had.
    Descriptors(u8),
}

/// What a thread or a child does beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Beside {
    /// Writes its own range and reads it back, in threads.
    Threads,
    /// The same, while the process forks children that write ranges of their own.
    Forks,
    /// The process writes while a signal handler, again and again, writes and reads another range.
    Signals,
    /// Threads that open, write and close files of their own names.
    Files,
    /// Threads that duplicate the descriptor, write through the duplicate and close it.
    Duplicates,
}

/// One such operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are named after what they mean in the circumstances")]
pub enum ScopeOp {
    Within { scope: Scope, ops: Vec<Op> },
    AtOnce { slot: u8, beside: Beside, members: u8, start: u32, len: u32, seed: u32 },
}
