//! How processes come about and become other programs.

use serde::{Deserialize, Serialize};

use super::super::OpenFlags;

/// A file action of `posix_spawn`, or a step of a child of `vfork`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SpawnAction {
    /// `dup2` of a slot onto descriptor 30 + slot, where the child then has the slot.
    Dup2 {
        /// The slot.
        slot: u8,
    },
    /// Close of a slot.
    Close {
        /// The slot.
        slot: u8,
    },
    /// Open of a path at descriptor 40 + slot, where the child then has the slot.
    Open {
        /// The slot.
        slot: u8,
        /// What is opened.
        path: String,
        /// How.
        flags: OpenFlags,
    },
    /// A write of a few bytes, which only a child of `vfork` can do.
    Write {
        /// The slot.
        slot: u8,
        /// Seed of the bytes.
        seed: u32,
    },
    /// A seek, likewise.
    Seek {
        /// The slot.
        slot: u8,
        /// Where to.
        offset: i64,
    },
}

/// Which call makes a process another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call")]
pub enum ExecCall {
    Execv,
    Execvp,
    Execl,
    Execle,
    Execlp,
    Execvpe,
    Fexecve,
    /// `execveat` of a descriptor, through libc or, with no name there, by number.
    Execveat,
    /// `execve` through `syscall`.
    Syscall,
    /// `execve` with an empty environment.
    Cleared,
}

/// Which call makes a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForkCall {
    /// `fork`.
    #[default]
    Fork,
    /// `_Fork`.
    Bare,
    /// `clone` through `syscall`, as old programs fork.
    Clone,
    /// `clone3` through `syscall`.
    Clone3,
    /// `clone`, with a stack of its own and memory of its own.
    CloneFunction,
    /// `fork` through `syscall`, where the kernel has it.
    Syscall,
    /// `fork` of a child that goes into the background with `daemon`.
    Daemon,
}
