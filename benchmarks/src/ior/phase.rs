//! One phase of one rank: open, transfers, close, each timed; and what all ranks' phases make together.

use std::io;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::options::Options;
use crate::clock::{seconds, Instant};
use crate::context::Context;
use crate::pattern::Pattern;
use crate::posix::{c_path, File};

/// What a phase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Transfers are written.
    Write,
    /// What was just written is read back and compared; not a measurement.
    WriteCheck,
    /// Transfers are read, and compared when asked for.
    Read,
}

impl Operation {
    /// Name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::WriteCheck => "writecheck",
            Self::Read => "read",
        }
    }
}

/// The points in time of one rank's phase, on the clock that all ranks share, and what the check found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RankPhase {
    /// Which phase this was.
    pub operation: Operation,
    /// Before open, after open, after the last transfer (and fsync), after close.
    pub marks: [u64; 4],
    /// Bytes that were not what they should be.
    pub errors: u64,
}

/// The rank's view of the run that a phase needs.
pub struct Transfers<'a> {
    /// The run's options.
    pub options: &'a Options,
    /// The run's layout.
    pub layout: &'a Layout,
    /// This rank.
    pub rank: u32,
}

impl Transfers<'_> {
    /// The write phase.
    pub fn write(&self, buffer: &mut [u8]) -> io::Result<RankPhase> {
        let path = self.layout.path(self.rank);
        let name = c_path(&path)?;
        let pattern = Pattern::of_rank(self.rank);
        let patterned = self.options.patterned();
        pattern.fill(buffer, 0);
        let start = Instant::now();
        let file = File::open(&name, libc::O_RDWR | libc::O_CREAT).context(|| path.display().to_string())?;
        let opened = Instant::now();
        for offset in self.layout.offsets(self.rank) {
            if patterned {
                pattern.fill(buffer, offset);
            }
            file.pwrite_whole(buffer, offset).context(|| format!("pwrite at {offset}"))?;
        }
        if self.options.fsync {
            file.fsync().context(|| "fsync")?;
        }
        let moved = Instant::now();
        file.close().context(|| "close")?;
        Ok(RankPhase {
            operation: Operation::Write,
            marks: [start, opened, moved, Instant::now()].map(|i| i.0),
            errors: 0,
        })
    }

    /// A reading phase: over the own data for a write check, over the neighbour's with `-C`.
    pub fn read(&self, operation: Operation, buffer: &mut [u8]) -> io::Result<RankPhase> {
        let check = operation == Operation::WriteCheck || self.options.check_read;
        let reorder = operation == Operation::Read && self.options.reorder;
        let source = self.layout.source(self.rank, reorder);
        let path = self.layout.path(source);
        let name = c_path(&path)?;
        let pattern = Pattern::of_rank(source);
        let mut errors = 0;
        let start = Instant::now();
        let file = File::open(&name, libc::O_RDONLY).context(|| path.display().to_string())?;
        let opened = Instant::now();
        for offset in self.layout.offsets(source) {
            file.pread_whole(buffer, offset).context(|| format!("pread at {offset}"))?;
            if check {
                errors += pattern.mismatches(buffer, offset);
            }
        }
        let moved = Instant::now();
        file.close().context(|| "close")?;
        Ok(RankPhase { operation, marks: [start, opened, moved, Instant::now()].map(|i| i.0), errors })
    }
}

/// All ranks' phase together, as one line of IOR's table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    /// Which phase.
    pub operation: Operation,
    /// Repetition, from 0.
    pub iteration: u32,
    /// Bytes of all ranks over the time from the first open to the last close, in MiB/s.
    pub bandwidth: f64,
    /// Transfers of all ranks over the same time, per second.
    pub iops: f64,
    /// Longest open of a rank, in seconds.
    pub open_s: f64,
    /// From the first rank's first transfer to the last rank's last one, in seconds.
    pub transfer_s: f64,
    /// Longest close of a rank, in seconds.
    pub close_s: f64,
    /// From the first open to the last close, in seconds.
    pub total_s: f64,
    /// Bytes that were not what they should be.
    pub errors: u64,
}

impl PhaseResult {
    /// Joins one phase of all ranks; `ranks` must not be empty.
    pub fn join(ranks: &[RankPhase], iteration: u32, layout: &Layout, transfer: u64) -> Self {
        let earliest = |mark: usize| ranks.iter().map(|r| r.marks[mark]).min().unwrap_or(0);
        let latest = |mark: usize| ranks.iter().map(|r| r.marks[mark]).max().unwrap_or(0);
        let longest =
            |from: usize| ranks.iter().map(|r| r.marks[from + 1] - r.marks[from]).max().unwrap_or(0);
        let total_s = seconds(latest(3) - earliest(0));
        Self {
            operation: ranks[0].operation,
            iteration,
            bandwidth: layout.bytes() as f64 / (1 << 20) as f64 / total_s,
            iops: (layout.bytes() / transfer) as f64 / total_s,
            open_s: seconds(longest(0)),
            transfer_s: seconds(latest(2) - earliest(1)),
            close_s: seconds(longest(2)),
            total_s,
            errors: ranks.iter().map(|r| r.errors).sum(),
        }
    }
}
