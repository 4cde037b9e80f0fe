//! Small files: the price of opening, creating and closing, where there is little data to win anything by.

use std::ffi::CString;
use std::io;
use std::path::Path;

use super::worker::Sample;
use crate::clock::Instant;
use crate::posix::{c_path, unlink_if_there, File};
use crate::stats::Latencies;

/// Bytes of a small file.
const FILE_BYTES: usize = 3901;
/// `open` and `close` pairs measured.
const OPENS: u32 = 20_000;
/// Files created.
const CREATES: u32 = 2000;

/// Opens and closes one small file that exists.
pub fn open_close(dir: &Path) -> io::Result<Sample> {
    let path = c_path(&dir.join("small"))?;
    create_one(&path, &vec![9; FILE_BYTES])?;
    let once = || File::open(&path, libc::O_RDONLY)?.close();
    for _ in 0..OPENS / 20 {
        once()?;
    }
    measure(OPENS, |_| once())
}

/// Creates files, writes each with one call and closes it.
pub fn create(dir: &Path) -> io::Result<Sample> {
    let names: Vec<CString> =
        (0..CREATES).map(|i| c_path(&dir.join(format!("small-{i}")))).collect::<io::Result<_>>()?;
    let bytes = vec![9; FILE_BYTES];
    let sample = measure(CREATES, |i| create_one(&names[i as usize], &bytes))?;
    names.iter().try_for_each(unlink_if_there)?;
    Ok(sample)
}

fn create_one(path: &CString, bytes: &[u8]) -> io::Result<()> {
    let file = File::open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC)?;
    file.write_whole(bytes)?;
    file.close()
}

/// These operations take microseconds, so that the clock readings around each may count.
fn measure(count: u32, mut operation: impl FnMut(u32) -> io::Result<()>) -> io::Result<Sample> {
    let mut latencies = Latencies::new();
    let start = Instant::now();
    for i in 0..count {
        let before = Instant::now();
        operation(i)?;
        latencies.record(Instant::now().since(before));
    }
    let per_operation = Instant::now().since(start) as f64 / f64::from(count);
    Ok(Sample::with_latency(per_operation, latencies.percentiles()))
}
