//! A program's row: what all processes of one name, in one run, have counted that have ended.

use crate::account::Sums;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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

/// A name of at most [`NAME_BYTES`] bytes, as it stands in the segment.
#[repr(C)]
pub struct Name([AtomicU64; NAME_BYTES / 8]);
crate::assert_shared!(Name, NAME_BYTES);

impl Name {
    /// Takes a name over, its beginning when it is too long.
    pub fn set(&self, name: &[u8]) {
        for (word, value) in self.0.iter().zip(words(name)) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Whether this is `name`.
    pub fn is(&self, name: &[u8]) -> bool {
        self.0.iter().zip(words(name)).all(|(word, value)| word.load(Ordering::Relaxed) == value)
    }

    /// The bytes, without the zeros behind them, in `buf`.
    pub fn get<'a>(&self, buf: &'a mut [u8; NAME_BYTES]) -> &'a [u8] {
        for (eight, word) in buf.chunks_exact_mut(8).zip(&self.0) {
            eight.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        let end = buf.iter().position(|&b| b == 0).unwrap_or(NAME_BYTES);
        &buf[..end]
    }

    /// The name as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.get(&mut [0; NAME_BYTES])).into_owned()
    }
}

fn words(name: &[u8]) -> impl Iterator<Item = u64> + '_ {
    (0..NAME_BYTES).step_by(8).map(|at| {
        let mut eight = [0u8; 8];
        if let Some(rest) = name.get(at..) {
            let n = rest.len().min(8);
            eight[..n].copy_from_slice(&rest[..n]);
        }
        u64::from_le_bytes(eight)
    })
}

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
    fn names_are_kept_as_far_as_they_fit() {
        let name = Name(Default::default());
        for text in ["", "cat", "exactly-thirty-two-bytes-long-ab"] {
            name.set(text.as_bytes());
            assert!(name.is(text.as_bytes()) && name.text() == text, "{text}");
        }
        let long = [b'x'; 40];
        name.set(&long);
        assert!(name.is(&long) && name.text().len() == NAME_BYTES);
        assert!(!name.is(b"x"));
    }

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
