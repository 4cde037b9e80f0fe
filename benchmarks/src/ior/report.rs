//! What `millpond-ior` prints: IOR's table and summary, or JSON.

use std::io;

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::phase::{Operation, PhaseResult};
use crate::shim::is_preloaded;
use crate::stats::Summary;

/// The JSON of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// Whether the shim was in the process that measured.
    pub shimmed: bool,
    /// Ranks.
    pub ranks: u32,
    /// Bytes of one transfer.
    pub transfer: u64,
    /// Bytes of one block.
    pub block: u64,
    /// Segments.
    pub segments: u64,
    /// One entry for each phase of each repetition.
    pub results: Vec<PhaseResult>,
}

impl Report {
    /// The report of this process's run.
    pub fn new(options: &Options, results: Vec<PhaseResult>) -> Self {
        Self {
            shimmed: is_preloaded(),
            ranks: options.ranks,
            transfer: options.transfer.0,
            block: options.block.0,
            segments: options.segments,
            results,
        }
    }

    /// Wrong bytes over all phases.
    pub fn errors(&self) -> u64 {
        self.results.iter().map(|r| r.errors).sum()
    }

    /// Prints as JSON.
    pub fn print_json(&self) -> io::Result<()> {
        println!("{}", serde_json::to_string_pretty(self)?);
        Ok(())
    }

    /// Prints IOR's table and its summary.
    pub fn print_table(&self) {
        println!(
            "ranks {}, segments {}, shim {}",
            self.ranks,
            self.segments,
            if self.shimmed { "on" } else { "off" }
        );
        println!("access      bw(MiB/s)        IOPS  block(KiB)  xfer(KiB)    open(s)   wr/rd(s)   close(s)   total(s)  iter");
        for r in &self.results {
            println!(
                "{:<10} {:>10.2} {:>11.1} {:>11.2} {:>10.2} {:>10.6} {:>10.6} {:>10.6} {:>10.6} {:>5}",
                r.operation.name(),
                r.bandwidth,
                r.iops,
                self.block as f64 / 1024.0,
                self.transfer as f64 / 1024.0,
                r.open_s,
                r.transfer_s,
                r.close_s,
                r.total_s,
                r.iteration
            );
        }
        println!("\nsummary     max(MiB/s)  min(MiB/s) mean(MiB/s)      stddev      median");
        for operation in [Operation::Write, Operation::Read] {
            let bandwidths = bandwidths(&self.results, operation);
            if !bandwidths.is_empty() {
                let s = Summary::of(&bandwidths);
                let name = operation.name();
                let Summary { max, min, mean, stddev, median } = s;
                println!("{name:<10} {max:>11.2} {min:>11.2} {mean:>11.2} {stddev:>11.2} {median:>11.2}");
            }
        }
        if self.errors() > 0 {
            println!("\nWRONG BYTES: {}", self.errors());
        }
    }
}

/// Bandwidths of one operation, in order.
pub fn bandwidths(results: &[PhaseResult], operation: Operation) -> Vec<f64> {
    results.iter().filter(|r| r.operation == operation).map(|r| r.bandwidth).collect()
}
