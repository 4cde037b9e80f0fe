//! Where each rank's transfers lie: pure arithmetic, as IOR defines it.
//!
//! In a shared file a segment holds one block of every rank, in rank order; in a file of its own a rank's blocks
//! follow each other.

use std::path::PathBuf;

use super::options::Options;

/// The transfers of a run.
#[derive(Clone, Debug)]
pub struct Layout {
    transfer: u64,
    block: u64,
    segments: u64,
    ranks: u64,
    stem: PathBuf,
    file_per_process: bool,
}

impl Layout {
    /// The layout that the options ask for.
    pub fn new(options: &Options) -> Self {
        Self {
            transfer: options.transfer.0,
            block: options.block.0,
            segments: options.segments,
            ranks: options.ranks.into(),
            stem: options.file.clone(),
            file_per_process: options.file_per_process,
        }
    }

    /// The file that holds what `rank` wrote.
    pub fn path(&self, rank: u32) -> PathBuf {
        if !self.file_per_process {
            return self.stem.clone();
        }
        let mut name = self.stem.clone().into_os_string();
        name.push(format!(".{rank:08}"));
        name.into()
    }

    /// File offsets of what `rank` writes, in order.
    pub fn offsets(&self, rank: u32) -> impl Iterator<Item = u64> + '_ {
        let (stride, first) = if self.file_per_process {
            (self.block, 0)
        } else {
            (self.block * self.ranks, self.block * u64::from(rank))
        };
        (0..self.segments).flat_map(move |segment| {
            let start = segment * stride + first;
            (start..start + self.block).step_by(self.transfer as usize)
        })
    }

    /// Bytes of one rank.
    pub fn bytes_per_rank(&self) -> u64 {
        self.block * self.segments
    }

    /// Bytes of all ranks.
    pub fn bytes(&self) -> u64 {
        self.bytes_per_rank() * self.ranks
    }

    /// Whose data `rank` reads: its neighbour's when reordered.
    pub fn source(&self, rank: u32, reorder: bool) -> u32 {
        ((u64::from(rank) + u64::from(reorder)) % self.ranks) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn layout(line: &str) -> Layout {
        let options = Options::try_parse_from(line.split_whitespace()).expect("parse").settle();
        Layout::new(&options.expect("settle"))
    }

    #[test]
    fn shared_file_interleaves_blocks() {
        let l = layout("ior -t 2 -b 4 -s 2 -N 3 -o f");
        assert_eq!(l.offsets(1).collect::<Vec<_>>(), [4, 6, 16, 18]);
        assert_eq!(l.path(1), PathBuf::from("f"));
        assert_eq!(l.bytes(), 24);
    }

    #[test]
    fn every_byte_of_a_shared_file_is_written_once() {
        let l = layout("ior -t 3 -b 6 -s 4 -N 5 -o f");
        let mut all: Vec<u64> = (0..5).flat_map(|rank| l.offsets(rank).collect::<Vec<_>>()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..l.bytes()).step_by(3).collect::<Vec<_>>());
    }

    #[test]
    fn own_files_are_contiguous() {
        let l = layout("ior -t 2 -b 4 -s 2 -N 3 -F -o f");
        assert_eq!(l.offsets(2).collect::<Vec<_>>(), [0, 2, 4, 6]);
        assert_eq!(l.path(2), PathBuf::from("f.00000002"));
    }

    #[test]
    fn reordering_shifts_by_one() {
        let l = layout("ior -N 3");
        assert_eq!([l.source(0, true), l.source(2, true), l.source(2, false)], [1, 0, 2]);
    }
}
