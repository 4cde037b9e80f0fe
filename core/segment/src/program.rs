//! A program's row: what all processes of one name, in one run, have counted that have ended.

use crate::account::Sums;
use crate::text::Text;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Rows in the table. The first is everybody's who finds no other.
pub const PROGRAMS: u32 = 256;
/// Bytes of a name that are kept.
pub const NAME_BYTES: usize = 32;
/// The row of all programs that have none of their own.
pub const OTHERS: u32 = 0;

/// State of a row.
pub mod state {
    /// Unused.
    pub const FREE: u32 = 0;
    /// Names a program.
    pub const LIVE: u32 = 1;
}

/// A name, its beginning when it is too long.
pub type Name = Text<{ NAME_BYTES / 8 }>;

/// One program of one run. Rows change under the header's `programs_lock` only.
#[repr(C, align(64))]
pub struct Program {
    /// [`state`].
    pub state: AtomicU32,
    pad: AtomicU32,
    /// The run that its processes belong to, 0 when none: see [`Run`].
    pub run: AtomicU64,
    /// Processes that have ended and had counted something.
    pub processes: AtomicU64,
    pad2: AtomicU64,
    /// Its name; empty for those that have no row of their own.
    pub name: Name,
    /// What they counted.
    pub sums: Sums,
}
crate::assert_shared!(Program, 64 + std::mem::size_of::<Sums>());

/// A run of `millpond run`: its process id and start time in one number, so that anybody can see whether it is over. Its programs inherit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run(pub u64);

const START_BITS: u32 = 40;

impl Run {
    /// The run that the process `pid`, started at `start` (clock ticks since boot), makes.
    pub fn of(pid: u32, start: u64) -> Self {
        Self(u64::from(pid) << START_BITS | start & ((1 << START_BITS) - 1))
    }

    /// The run that this process makes.
    pub fn here() -> Self {
        let pid = crate::sys::getpid();
        Self::of(pid, crate::sys::process_state(pid).map_or(0, |(_, start)| start))
    }

    /// No run.
    pub const NONE: Self = Self(0);

    /// Whether its process is gone.
    pub fn is_over(self) -> bool {
        crate::sys::process_is_dead((self.0 >> START_BITS) as u32, self.0 & ((1 << START_BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_over_when_its_process_is() {
        let pid = std::process::id();
        let start = crate::sys::process_state(pid).map(|(_, start)| start).unwrap();
        assert_eq!(Run::here(), Run::of(pid, start));
        assert!(!Run::here().is_over());
        assert!(Run::of(pid, start + 1).is_over());
        assert_ne!(Run::of(pid, start), Run::NONE);
    }
}
