//! Turn by turn: each row is measured plain and shimmed in alternation, each time in a process of its own.

use std::io;
use std::process::{Command, Stdio};

use super::case::{Case, Places};
use super::report::Row;
use super::startup;
use super::worker::Sample;
use crate::context::{failure, Context};
use crate::shim::Shim;

/// Argument that makes the binary a worker.
pub const WORKER: &str = "--worker";

/// Measures one row.
pub fn measure(case: &Case, places: &Places, shim: &Shim, rounds: u32) -> io::Result<Row> {
    let mut plain = Vec::new();
    let mut shimmed = Vec::new();
    for _ in 0..rounds {
        plain.push(one(case, places, &[]).context(|| format!("{}, plain", case.name))?);
        shimmed.push(one(case, places, shim.environment()).context(|| format!("{}, shim", case.name))?);
    }
    if shim.is_real() && (plain.iter().any(|s| s.shimmed) || shimmed.iter().any(|s| !s.shimmed)) {
        return Err(failure(format!("{}: the shim was on the wrong side of the comparison", case.name)));
    }
    Ok(Row::new(case, &plain, &shimmed))
}

fn one(case: &Case, places: &Places, environment: &[(String, String)]) -> io::Result<Sample> {
    let dir = places.directory(case.place);
    if case.name.starts_with("startup") {
        return startup::measure(case.name, dir, environment);
    }
    let output = Command::new(std::env::current_exe()?)
        .args([WORKER, case.name])
        .current_dir(dir)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(failure(format!("worker: {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(io::Error::from).context(|| "worker's result")
}
