//! Start-up of a dynamic program: the driver, itself plain, spawns it many times and waits for each.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::spawn::{posix_spawnp, PosixSpawnAttr, PosixSpawnFileActions};
use nix::sys::wait::{waitpid, WaitStatus};

use super::worker::Sample;
use crate::clock::Instant;
use crate::context::failure;
use crate::stats::Latencies;

/// Programs started in one measurement.
pub const RUNS: u32 = 100;

/// Microseconds of one run, with `extra` added to the environment.
pub fn measure(name: &str, dir: &Path, extra: &[(String, String)]) -> io::Result<Sample> {
    let script = format!("echo x > '{}'", dir.join("startup").display());
    let argv: Vec<&str> = match name {
        "startup-write" => vec!["sh", "-c", &script],
        _ => vec!["true"],
    };
    let argv: Vec<CString> = argv.into_iter().map(CString::new).collect::<Result<_, _>>()?;
    let environment = environment(extra)?;
    let actions = PosixSpawnFileActions::init()?;
    let attributes = PosixSpawnAttr::init()?;
    let mut latencies = Latencies::new();
    let start = Instant::now();
    for _ in 0..RUNS {
        let before = Instant::now();
        let child = posix_spawnp(&argv[0], &actions, &attributes, &argv, &environment)?;
        match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => latencies.record(Instant::now().since(before)),
            status => return Err(failure(format!("{name}: {status:?}"))),
        }
    }
    let micros = Instant::now().since(start) as f64 / 1e3 / f64::from(RUNS);
    Ok(Sample { shimmed: !extra.is_empty(), ..Sample::with_latency(micros, latencies.percentiles()) })
}

fn environment(extra: &[(String, String)]) -> io::Result<Vec<CString>> {
    let inherited = std::env::vars_os().filter(|(name, _)| !extra.iter().any(|(n, _)| name == n.as_str()));
    let added = extra.iter().map(|(name, value)| (name.into(), value.into()));
    inherited
        .chain(added)
        .map(|(name, value)| {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            CString::new(entry).map_err(io::Error::from)
        })
        .collect()
}
