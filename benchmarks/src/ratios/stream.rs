//! A new process writes a large file from start to end, as `cp` or `dd` would.

use std::io;
use std::path::Path;

use super::worker::{mib_per_second, Sample};
use crate::clock::Instant;
use crate::posix::{c_path, unlink_if_there, File};

const FILE_BYTES: u64 = 256 << 20;
const TRANSFER: u64 = 1 << 20;

/// Where the clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After the last write returned.
    LastWrite,
    /// After close returned, so that the flush counts.
    Close,
}

/// Bandwidth from before open until the given point.
pub fn write(dir: &Path, until: Until) -> io::Result<Sample> {
    let path = c_path(&dir.join("stream"))?;
    unlink_if_there(&path)?;
    let buf = vec![3; TRANSFER as usize];
    let start = Instant::now();
    let file = File::open(&path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC)?;
    for _ in 0..FILE_BYTES / TRANSFER {
        file.write_whole(&buf)?;
    }
    let written = Instant::now();
    file.close()?;
    let closed = Instant::now();
    // Removed before it reaches the disk, so that one round's write-back does not slow the next.
    unlink_if_there(&path)?;
    let end = match until {
        Until::LastWrite => written,
        Until::Close => closed,
    };
    Ok(Sample::of(mib_per_second(FILE_BYTES, end.since(start))))
}
