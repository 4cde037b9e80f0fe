//! The worker: one measurement of one row in a fresh process, its result as one line of JSON on standard output.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{hot, shared, small, stream};
use crate::context::failure;
use crate::shim::is_preloaded;
use crate::stats::Percentiles;

/// One measurement.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The number, in the row's unit.
    pub value: f64,
    /// Latencies of single operations, where the row has any.
    pub latency: Option<Percentiles>,
    /// Whether the shim was in the process.
    pub shimmed: bool,
}

impl Sample {
    /// A sample without latencies.
    pub fn of(value: f64) -> Self {
        Self { value, latency: None, shimmed: is_preloaded() }
    }

    /// A sample with latencies.
    pub fn with_latency(value: f64, latency: Percentiles) -> Self {
        Self { latency: Some(latency), ..Self::of(value) }
    }
}

/// Bytes and nanoseconds as MiB per second.
pub fn mib_per_second(bytes: u64, ns: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64 / (ns.max(1) as f64 / 1e9)
}

/// Measures the row `name` in the directory `dir`.
pub fn measure(name: &str, dir: &Path) -> io::Result<Sample> {
    match name {
        "pread-4k" => hot::pread(dir, 4096),
        "pwrite-4k" => hot::pwrite(dir, 4096),
        "read-4k" => hot::read(dir, 4096),
        "pread-64" => hot::pread(dir, 64),
        "shared-interleaved" => shared::write(dir, shared::Order::Interleaved, shared::File::Rewritten),
        "shared-segmented" => shared::write(dir, shared::Order::Segmented, shared::File::Rewritten),
        "shared-interleaved-new" => shared::write(dir, shared::Order::Interleaved, shared::File::New),
        "shared-segmented-new" => shared::write(dir, shared::Order::Segmented, shared::File::New),
        "stream-tmpfs" => stream::write(dir, stream::Until::LastWrite),
        "stream-tmpfs-close" | "stream-disk-close" => stream::write(dir, stream::Until::Close),
        "open-close" | "open-close-tmpfs" => small::open_close(dir),
        "create" | "create-tmpfs" => small::create(dir),
        other => Err(failure(format!("no row is named {other}"))),
    }
}
