//! Hot small calls on one file that fits the processor's cache: what is left is the cost of the call itself.
//!
//! Each loop runs twice: once bare, for the time per operation, and once with the clock read around every call, for
//! the percentiles (which therefore carry two clock readings).

use std::io;
use std::path::Path;

use super::worker::Sample;
use crate::clock::Instant;
use crate::posix::{c_path, File};
use crate::stats::Latencies;

/// Size of the file.
const FILE_BYTES: u64 = 1 << 20;
/// Calls of the bare loop.
const CALLS: u64 = 400_000;
/// Calls of the loop that records latencies.
const TIMED_CALLS: u64 = 100_000;

/// `pread` of `size` bytes at places that jump through the file.
pub fn pread(dir: &Path, size: u64) -> io::Result<Sample> {
    let file = warm_file(dir, libc::O_RDONLY)?;
    let mut buf = vec![0; size as usize];
    measure(|call| file.pread_whole(&mut buf, place(call, size)))
}

/// `pwrite` of `size` bytes at places that jump through the file.
pub fn pwrite(dir: &Path, size: u64) -> io::Result<Sample> {
    let file = warm_file(dir, libc::O_RDWR)?;
    let buf = vec![7; size as usize];
    measure(|call| file.pwrite_whole(&buf, place(call, size)))
}

/// Sequential `read` of `size` bytes; at the end of the file it starts over.
pub fn read(dir: &Path, size: u64) -> io::Result<Sample> {
    let file = warm_file(dir, libc::O_RDONLY)?;
    let mut buf = vec![0; size as usize];
    measure(|_| match file.read(&mut buf)? {
        0 => file.rewind(),
        _ => Ok(()),
    })
}

/// A place for the given call: aligned to `size`, without an order that read-ahead could follow.
fn place(call: u64, size: u64) -> u64 {
    let places = FILE_BYTES / size;
    call.wrapping_mul(0x9E37_79B9_7F4A_7C15) % places * size
}

fn warm_file(dir: &Path, flags: i32) -> io::Result<File> {
    let path = c_path(&dir.join("hot"))?;
    let file = File::open(&path, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC)?;
    let chunk = vec![5; 64 << 10];
    for _ in 0..FILE_BYTES / chunk.len() as u64 {
        file.write_whole(&chunk)?;
    }
    file.close()?;
    let file = File::open(&path, flags)?;
    let mut buf = vec![0; 64 << 10];
    for offset in (0..FILE_BYTES).step_by(buf.len()) {
        file.pread_whole(&mut buf, offset)?;
    }
    Ok(file)
}

fn measure(mut operation: impl FnMut(u64) -> io::Result<()>) -> io::Result<Sample> {
    for call in 0..CALLS / 20 {
        operation(call)?;
    }
    let start = Instant::now();
    for call in 0..CALLS {
        operation(call)?;
    }
    let per_call = Instant::now().since(start) as f64 / CALLS as f64;
    let mut latencies = Latencies::new();
    for call in 0..TIMED_CALLS {
        let start = Instant::now();
        operation(call)?;
        latencies.record(Instant::now().since(start));
    }
    Ok(Sample::with_latency(per_call, latencies.percentiles()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_aligned_and_inside() {
        for size in [64, 4096] {
            assert!((0..1000).all(|call| {
                let at = place(call, size);
                at % size == 0 && at + size <= FILE_BYTES
            }));
        }
    }
}
