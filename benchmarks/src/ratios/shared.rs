//! Two processes write 4 KiB blocks into one file, each its own blocks: the kernel lets one in at a time.

use std::io;
use std::path::Path;

use super::worker::{mib_per_second, Sample};
use crate::barrier::Barrier;
use crate::child::run_ranks;
use crate::clock::Instant;
use crate::posix;
use crate::stats::{Latencies, Percentiles};

const WRITERS: u64 = 2;
const BLOCK: u64 = 4096;
/// Blocks of one writer.
const BLOCKS: u64 = 8192;
/// Passes over a file that exists.
const PASSES: u64 = 4;

/// How the writers share the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Block by block in turns.
    Interleaved,
    /// A half each.
    Segmented,
}

/// The state of the file when the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Written once by the same processes.
    Rewritten,
    /// Just created.
    New,
}

impl Order {
    fn offset(self, writer: u64, block: u64) -> u64 {
        BLOCK
            * match self {
                Self::Interleaved => block * WRITERS + writer,
                Self::Segmented => writer * BLOCKS + block,
            }
    }
}

/// Bandwidth of both writers together, from the first open descriptor's first write to the last write.
pub fn write(dir: &Path, order: Order, state: File) -> io::Result<Sample> {
    let path = posix::c_path(&dir.join("shared"))?;
    posix::unlink_if_there(&path)?;
    let times = run_ranks(WRITERS as u32, |writer, barrier| {
        let file = posix::File::open(&path, libc::O_RDWR | libc::O_CREAT)?;
        let times = writer_passes(&file, u64::from(writer), barrier, order, state)?;
        file.close()?;
        Ok(times)
    })?;
    posix::unlink_if_there(&path)?;
    let start = times.iter().map(|t| t.0).min().unwrap_or(0);
    let end = times.iter().map(|t| t.1).max().unwrap_or(0);
    let bytes = WRITERS * BLOCKS * BLOCK * passes(state);
    Ok(Sample::with_latency(mib_per_second(bytes, end - start), times[0].2))
}

fn passes(state: File) -> u64 {
    match state {
        File::Rewritten => PASSES,
        File::New => 1,
    }
}

fn writer_passes(
    file: &posix::File,
    writer: u64,
    barrier: &Barrier,
    order: Order,
    state: File,
) -> io::Result<(u64, u64, Percentiles)> {
    let buf = vec![writer as u8 + 1; BLOCK as usize];
    let pass = |latencies: Option<&mut Latencies>| write_pass(file, &buf, writer, order, latencies);
    if state == File::Rewritten {
        pass(None)?;
    }
    barrier.wait()?;
    let start = Instant::now();
    for _ in 0..passes(state) {
        pass(None)?;
    }
    let end = Instant::now();
    barrier.wait()?;
    let mut latencies = Latencies::new();
    pass(Some(&mut latencies))?;
    Ok((start.0, end.0, latencies.percentiles()))
}

fn write_pass(
    file: &posix::File,
    buf: &[u8],
    writer: u64,
    order: Order,
    mut latencies: Option<&mut Latencies>,
) -> io::Result<()> {
    for block in 0..BLOCKS {
        let offset = order.offset(writer, block);
        match &mut latencies {
            None => file.pwrite_whole(buf, offset)?,
            Some(latencies) => {
                let start = Instant::now();
                file.pwrite_whole(buf, offset)?;
                latencies.record(Instant::now().since(start));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_cover_the_file_once() {
        for order in [Order::Interleaved, Order::Segmented] {
            let mut all: Vec<u64> =
                (0..WRITERS).flat_map(|w| (0..BLOCKS).map(move |b| order.offset(w, b))).collect();
            all.sort_unstable();
            assert!(all.iter().zip((0..).step_by(BLOCK as usize)).all(|(at, wanted)| *at == wanted));
        }
    }
}
