//! Command line of `millpond-ior`: IOR's option letters, with `-N` for the number of ranks.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::size::ByteSize;

/// The interfaces that the driver can use. IOR has more; the shim is about this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Api {
    /// open, pwrite, pread, fsync, close.
    #[value(name = "POSIX", alias = "posix")]
    Posix,
}

/// IOR-style driver: parallel ranks write and read one shared file, or a file each.
#[derive(Clone, Debug, Parser)]
#[command(name = "millpond-ior", version)]
pub struct Options {
    /// Interface.
    #[arg(short = 'a', value_enum, ignore_case = true, default_value = "POSIX")]
    pub api: Api,
    /// Write phase. Without any of -w, -r, -W and -R both write and read run.
    #[arg(short = 'w')]
    pub write: bool,
    /// Read phase.
    #[arg(short = 'r')]
    pub read: bool,
    /// Check the data after the write phase.
    #[arg(short = 'W')]
    pub check_write: bool,
    /// Check the data in the read phase.
    #[arg(short = 'R')]
    pub check_read: bool,
    /// Transfer size: bytes of one call.
    #[arg(short = 't', value_name = "SIZE", default_value = "256k")]
    pub transfer: ByteSize,
    /// Block size: contiguous bytes of one rank in one segment; a multiple of the transfer size.
    #[arg(short = 'b', value_name = "SIZE", default_value = "1m")]
    pub block: ByteSize,
    /// Segments: how often the pattern of one block a rank repeats.
    #[arg(short = 's', value_name = "COUNT", default_value_t = 1)]
    pub segments: u64,
    /// File per process.
    #[arg(short = 'F')]
    pub file_per_process: bool,
    /// fsync at the end of the write phase.
    #[arg(short = 'e')]
    pub fsync: bool,
    /// Reorder ranks for reading: each reads what its neighbour wrote.
    #[arg(short = 'C')]
    pub reorder: bool,
    /// Repetitions; 1 unless given, 5 with --compare.
    #[arg(short = 'i', value_name = "COUNT")]
    pub repetitions: Option<u32>,
    /// Keep the files.
    #[arg(short = 'k')]
    pub keep: bool,
    /// The file, or with -F the stem of the files.
    #[arg(short = 'o', value_name = "FILE", default_value = "testFile")]
    pub file: PathBuf,
    /// Ranks (processes).
    #[arg(short = 'N', value_name = "COUNT", default_value_t = 1)]
    pub ranks: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Run plain and shimmed turn by turn and print the ratios of the medians.
    #[arg(long)]
    pub compare: bool,
    /// Pool size of the instance that --compare starts.
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    pub pool: ByteSize,
    /// Take the shimmed environment from a file of export lines, start nothing.
    #[arg(long, hide = true)]
    pub shim_env: Option<PathBuf>,
}

impl Options {
    /// Fills in what depends on other options and refuses what cannot run.
    pub fn settle(mut self) -> Result<Self, String> {
        if !(self.write || self.read || self.check_write || self.check_read) {
            (self.write, self.read) = (true, true);
        }
        let positive = [
            ("-t", self.transfer.0),
            ("-b", self.block.0),
            ("-s", self.segments),
            ("-N", self.ranks.into()),
            ("-i", self.repetitions().into()),
        ];
        if let Some((letter, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{letter} must be greater than 0"));
        }
        if self.block.0 % self.transfer.0 != 0 {
            return Err(format!(
                "-b {} is not a multiple of -t {}: choose a block of whole transfers",
                self.block, self.transfer
            ));
        }
        let total = self.block.0.checked_mul(self.segments).and_then(|n| n.checked_mul(self.ranks.into()));
        if total.is_none_or(|bytes| bytes > i64::MAX as u64) {
            return Err("-b times -s times -N is larger than a file can be".into());
        }
        Ok(self)
    }

    /// Repetitions, with the default of the mode.
    pub fn repetitions(&self) -> u32 {
        self.repetitions.unwrap_or(if self.compare { 5 } else { 1 })
    }

    /// Whether the data must carry the pattern: only then is the buffer filled before each transfer, as that time counts
    /// into the phase.
    pub fn patterned(&self) -> bool {
        self.check_write || self.check_read || self.keep
    }

    /// Whether a read phase runs; checking alone asks for one too.
    pub fn reads(&self) -> bool {
        self.read || self.check_read
    }

    /// The command line of one repetition of this run, for a child.
    pub fn child_arguments(&self) -> Vec<String> {
        let flags = [
            ("-w", self.write),
            ("-r", self.read),
            ("-W", self.check_write),
            ("-R", self.check_read),
            ("-F", self.file_per_process),
            ("-e", self.fsync),
            ("-C", self.reorder),
            ("-k", self.keep),
        ];
        let mut arguments: Vec<String> =
            flags.iter().filter(|(_, on)| *on).map(|(flag, _)| (*flag).to_owned()).collect();
        let valued = [
            ("-t", self.transfer.0),
            ("-b", self.block.0),
            ("-s", self.segments),
            ("-N", self.ranks.into()),
            ("-i", 1),
        ];
        arguments.extend(valued.iter().flat_map(|(flag, value)| [(*flag).to_owned(), value.to_string()]));
        arguments.push("--json".into());
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::try_parse_from(line.split_whitespace()).map_err(|e| e.to_string())?.settle()
    }

    #[test]
    fn a_line_of_ior_is_understood() {
        let o =
            parse("ior -a POSIX -w -r -R -t 47008 -b 470080 -s 3 -F -e -C -i 2 -k -o f -N 4").expect("parse");
        assert_eq!(
            (o.transfer.0, o.block.0, o.segments, o.ranks, o.repetitions()),
            (47008, 470_080, 3, 4, 2)
        );
        assert!(o.write && o.reads() && o.check_read && !o.check_write && o.keep && o.patterned());
    }

    #[test]
    fn write_and_read_is_the_default() {
        let o = parse("ior").expect("parse");
        assert!(o.write && o.read && !o.patterned());
    }

    #[test]
    fn what_cannot_run_is_refused() {
        for line in ["ior -t 3 -b 4", "ior -t 0", "ior -N 0", "ior -a MPIIO", "ior -b 4g -s 9999999999"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_child_gets_the_same_run() {
        let o = parse("ior -w -R -t 4k -b 8k -s 2 -C -N 2 --compare").expect("parse");
        let line = format!("ior {}", o.child_arguments().join(" "));
        let child = parse(&line).expect("child");
        assert_eq!(child.child_arguments(), o.child_arguments());
        assert!(child.json && !child.compare && child.repetitions() == 1);
    }
}
