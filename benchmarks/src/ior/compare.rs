//! `--compare`: the same run plain and shimmed, turn by turn, as children of this process; ratios of the medians.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use super::options::Options;
use super::phase::{Operation, PhaseResult};
use super::report::{bandwidths, Report};
use crate::context::{failure, Context};
use crate::shim::Shim;
use crate::stats::Summary;

/// Both sides of one operation.
#[derive(Debug, Serialize)]
pub struct Ratio {
    /// Write or read.
    pub operation: Operation,
    /// Bandwidth against the kernel, MiB/s.
    pub plain: Summary,
    /// Bandwidth through the shim, MiB/s.
    pub shim: Summary,
    /// Median of the shim over median of the kernel.
    pub ratio: f64,
}

/// Runs the comparison, prints it, and returns the number of wrong bytes found.
pub fn compare(options: &Options) -> io::Result<u64> {
    let store = store_of(&options.file)?;
    let shim = Shim::obtain(options.shim_env.as_deref(), &[&store], options.pool)?;
    let mut sides: [Vec<PhaseResult>; 2] = Default::default();
    let mut errors = 0;
    for _ in 0..options.repetitions() {
        for (side, environment) in sides.iter_mut().zip([&[], shim.environment()]) {
            let report = child(options, environment)?;
            if shim.is_real() && report.shimmed == environment.is_empty() {
                return Err(failure("the shim was on the wrong side of the comparison"));
            }
            errors += report.errors();
            side.extend(report.results);
        }
    }
    let ratios: Vec<Ratio> =
        [Operation::Write, Operation::Read].into_iter().filter_map(|op| ratio(op, &sides)).collect();
    if options.json {
        println!("{}", serde_json::to_string_pretty(&ratios)?);
    } else {
        print_table(&ratios);
    }
    Ok(errors)
}

fn store_of(file: &Path) -> io::Result<PathBuf> {
    let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    parent.canonicalize().context(|| parent.display().to_string())
}

fn child(options: &Options, environment: &[(String, String)]) -> io::Result<Report> {
    let output = Command::new(std::env::current_exe()?)
        .args(options.child_arguments())
        .arg("-o")
        .arg(&options.file)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::inherit())
        .output()?;
    // Code 2 is a run that found wrong bytes; its report says how many.
    if !output.status.success() && output.status.code() != Some(2) {
        return Err(failure(format!("child run: {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(io::Error::from).context(|| "report of the child run")
}

fn ratio(operation: Operation, sides: &[Vec<PhaseResult>; 2]) -> Option<Ratio> {
    let [plain, shim] = sides.each_ref().map(|side| bandwidths(side, operation));
    if plain.is_empty() || shim.is_empty() {
        return None;
    }
    let (plain, shim) = (Summary::of(&plain), Summary::of(&shim));
    Some(Ratio { operation, plain, shim, ratio: shim.median / plain.median })
}

fn print_table(ratios: &[Ratio]) {
    println!("medians     plain(MiB/s)   shim(MiB/s)   ratio    plain min..max         shim min..max");
    for r in ratios {
        println!(
            "{:<10} {:>13.2} {:>13.2} {:>7.2}    {:.2}..{:.2}   {:.2}..{:.2}",
            r.operation.name(),
            r.plain.median,
            r.shim.median,
            r.ratio,
            r.plain.min,
            r.plain.max,
            r.shim.min,
            r.shim.max
        );
    }
}
