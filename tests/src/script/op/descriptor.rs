//! Operations on descriptors that programs need more rarely.

use serde::{Deserialize, Serialize};

/// A question or command for `ioctl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its number")]
pub enum Control {
    Fionread,
    Fionbio,
    Fioclex,
    Fionclex,
    Figetbsz,
    GetFlags,
    Fiemap,
    /// A number that no file knows.
    Terminal,
}

/// Which call closes many descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CloseMany {
    /// `close_range`.
    Range,
    /// `close_range` with `CLOSE_RANGE_CLOEXEC`.
    Cloexec,
    /// `close_range` with `CLOSE_RANGE_UNSHARE`.
    Unshare,
    /// `closefrom`.
    From,
    /// `close_range` with a flag that does not exist.
    BadFlag,
}

/// One operation on descriptors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum DescriptorOp {
    Dup3 {
        slot: u8,
        to_slot: u8,
        flags: i32,
    },
    /// Closes the descriptors from one slot's to another's.
    CloseMany {
        from_slot: u8,
        to_slot: u8,
        how: CloseMany,
    },
    /// `F_SETLEASE`, `F_GETLEASE` and back.
    Lease {
        slot: u8,
        kind: i32,
    },
    /// `F_OFD_GETLK`.
    AskDescription {
        slot: u8,
        kind: i32,
        start: i64,
        len: i64,
    },
    Lockf {
        slot: u8,
        command: i32,
        len: i64,
    },
    Poll {
        slot: u8,
    },
    /// `epoll_ctl`, which refuses regular files.
    Epoll {
        slot: u8,
    },
    Ioctl {
        slot: u8,
        control: Control,
    },
    /// `fcntl` with a command that only asks.
    Ask {
        slot: u8,
        command: i32,
    },
    /// Where `/proc/self/fd` says that a slot points.
    Readlink {
        slot: u8,
    },
    /// `pidfd_getfd` from this process or, in a child, from its parent.
    Pidfd {
        slot: u8,
        to_slot: u8,
        parent: bool,
    },
    /// Descriptors sent into a socket that all processes of the script share.
    Mail {
        slots: Vec<u8>,
        close: bool,
        many: bool,
    },
    /// The oldest message out of it.
    Fetch {
        to_slots: Vec<u8>,
        cloexec: bool,
        peek: bool,
        many: bool,
    },
    /// `name_to_handle_at` and `open_by_handle_at`.
    ByHandle {
        slot: u8,
        path: String,
        flags: super::super::OpenFlags,
    },
    /// `openat2` with flags of its own.
    OpenHow {
        slot: u8,
        path: String,
        flags: super::super::OpenFlags,
        mode: u64,
        resolve: u64,
        extra: u8,
    },
    /// `linkat` with `AT_EMPTY_PATH`.
    LinkEmpty {
        slot: u8,
        to: String,
    },
}
