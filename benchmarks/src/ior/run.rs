//! A run: all repetitions in one set of forked ranks, with a barrier between the phases.

use std::io;

use super::layout::Layout;
use super::options::Options;
use super::phase::{Operation, PhaseResult, RankPhase, Transfers};
use crate::barrier::Barrier;
use crate::child::run_ranks;
use crate::context::Context;
use crate::posix::{c_path, unlink_if_there};

/// Runs what the options ask for; one result for each phase of each repetition, in order.
pub fn run(options: &Options) -> io::Result<Vec<PhaseResult>> {
    let layout = Layout::new(options);
    let ranks = run_ranks(options.ranks, |rank, barrier| {
        Rank { transfers: Transfers { options, layout: &layout, rank }, barrier }.run()
    })?;
    let phases = ranks[0].len();
    let per_repetition = phases as u32 / options.repetitions();
    let join = |phase: usize| {
        let together: Vec<RankPhase> = ranks.iter().map(|rank| rank[phase]).collect();
        PhaseResult::join(&together, phase as u32 / per_repetition, &layout, options.transfer.0)
    };
    Ok((0..phases).map(join).collect())
}

struct Rank<'a> {
    transfers: Transfers<'a>,
    barrier: &'a Barrier,
}

impl Rank<'_> {
    fn run(&self) -> io::Result<Vec<RankPhase>> {
        let options = self.transfers.options;
        // Touched here, so that the first transfer does not pay for the buffer's pages.
        let mut buffer = vec![1; options.transfer.0 as usize];
        let mut phases = Vec::new();
        for _ in 0..options.repetitions() {
            if options.write {
                self.remove()?;
                self.barrier.wait()?;
                phases.push(self.transfers.write(&mut buffer)?);
            }
            if options.check_write {
                self.barrier.wait()?;
                phases.push(self.transfers.read(Operation::WriteCheck, &mut buffer)?);
            }
            if options.reads() {
                self.barrier.wait()?;
                phases.push(self.transfers.read(Operation::Read, &mut buffer)?);
            }
            self.barrier.wait()?;
            if options.write && !options.keep {
                self.remove()?;
            }
        }
        Ok(phases)
    }

    /// Removes the rank's file; of a shared one, only the first rank does.
    fn remove(&self) -> io::Result<()> {
        if self.transfers.rank > 0 && !self.transfers.options.file_per_process {
            return Ok(());
        }
        let path = self.transfers.layout.path(self.transfers.rank);
        unlink_if_there(&c_path(&path)?).context(|| format!("unlink {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn options(dir: &std::path::Path, line: &str) -> Options {
        let line = format!("ior {line} -o {}", dir.join("file").display());
        Options::try_parse_from(line.split_whitespace()).expect("parse").settle().expect("settle")
    }

    #[test]
    fn checks_pass_on_what_the_kernel_kept() {
        let dir = tempfile::tempdir().expect("tempdir");
        for line in ["-w -W -r -R -C -t 1000 -b 3000 -s 4 -N 3 -i 2", "-w -W -R -C -F -e -t 4k -b 8k -N 2"] {
            let results = run(&options(dir.path(), line)).expect(line);
            assert!(results.iter().all(|r| r.errors == 0 && r.bandwidth > 0.0), "{line}: {results:?}");
            assert_eq!(results.last().map(|r| r.iteration), Some(if line.contains("-i 2") { 1 } else { 0 }));
            assert_eq!(dir.path().read_dir().expect("list").count(), 0, "{line}: files were left");
        }
    }

    #[test]
    fn a_changed_byte_is_found_in_a_kept_file() {
        use std::os::unix::fs::FileExt;
        let dir = tempfile::tempdir().expect("tempdir");
        run(&options(dir.path(), "-w -k -t 4k -b 8k -N 2")).expect("write");
        let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("file")).expect("open");
        file.write_at(b"xyz", 9000).expect("spoil");
        let results = run(&options(dir.path(), "-R -t 4k -b 8k -N 2")).expect("read");
        assert_eq!(results.iter().map(|r| r.errors).sum::<u64>(), 3);
    }
}
