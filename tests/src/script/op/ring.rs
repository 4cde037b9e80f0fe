//! Operations that are handed to somebody else and waited for: POSIX asynchronous I/O and rings.

use serde::{Deserialize, Serialize};

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named after what the interfaces call them")]
pub struct Request {
    pub write: bool,
    pub offset: i64,
    pub len: u32,
    pub seed: u32,
}

/// One operation through an asynchronous interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum RingOp {
    /// `aio_read` or `aio_write`, waited for.
    Aio { slot: u8, request: Request, wide: bool },
    /// `aio_fsync`, waited for.
    AioFsync { slot: u8, data_only: bool },
    /// `lio_listio`.
    List { slot: u8, requests: Vec<Request>, wait: bool, wide: bool },
    /// `io_setup`, `io_submit`, `io_getevents`, `io_destroy`, all through `syscall`.
    Libaio { slot: u8, requests: Vec<Request>, vectored: bool, sync: bool },
    /// The same with `io_uring_setup` and `io_uring_enter`; offset -1 is the current one.
    Uring { slot: u8, requests: Vec<Request>, sync: bool },
}
