//! Operations on what a file carries besides its bytes, by the rarer names of their calls.

use serde::{Deserialize, Serialize};

/// Which call sets times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call")]
pub enum TimesCall {
    Utime,
    Utimes,
    Lutimes,
    Futimesat,
    /// With `UTIME_OMIT` for the one time and `UTIME_NOW` for the other.
    Omit,
}

/// One such operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum AttributeOp {
    Times { path: String, call: TimesCall, seconds: i64 },
    Futimes { slot: u8, seconds: i64 },
    Chmodat { path: String, mode: u32 },
    Chown { path: String, link: bool },
    Setxattr { path: String, seed: u32 },
    Getxattr { path: String },
    Fsetxattr { slot: u8, seed: u32 },
    Fgetxattr { slot: u8 },
    Renameat { from: String, to: String },
    Linkat { from: String, to: String, follow: bool },
    Unlinkat { path: String, directory: bool },
    Faccessat { path: String, mode: i32 },
    Readlink { path: String },
}
