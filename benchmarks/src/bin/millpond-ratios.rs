//! `millpond-ratios`: the speed of the shim against the kernel, row by row, and whether each goal is reached.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use millpond_benchmarks::context::{failure, Context};
use millpond_benchmarks::ratios::case::{Case, Places, CASES};
use millpond_benchmarks::ratios::report::{self, Row};
use millpond_benchmarks::ratios::{run, worker};
use millpond_benchmarks::shim::Shim;
use millpond_benchmarks::size::ByteSize;

/// Measures the shim against the kernel, turn by turn, and prints the ratios of the medians.
#[derive(Debug, Parser)]
#[command(name = "millpond-ratios", version)]
struct Options {
    /// Rounds of which the median counts.
    #[arg(short = 'i', value_name = "COUNT", default_value_t = 5)]
    rounds: u32,
    /// Only rows whose name contains this; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only rows that have a goal.
    #[arg(long)]
    goals: bool,
    /// Directory on the disk file system; `target` if there is one, else the current directory.
    #[arg(long, value_name = "DIR")]
    disk: Option<PathBuf>,
    /// Directory on tmpfs.
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    tmpfs: PathBuf,
    /// Pool size of the instance that is started.
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    pool: ByteSize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Exit with code 2 when a goal is missed.
    #[arg(long)]
    strict: bool,
    /// Take the shimmed environment from a file of export lines, start nothing.
    #[arg(long, hide = true)]
    shim_env: Option<PathBuf>,
    /// Measure one row in the current directory and print the sample.
    #[arg(long, hide = true, value_name = "ROW")]
    worker: Option<String>,
}

/// Exit code of a strict run that missed a goal.
const MISSED: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.worker {
        Some(name) => work(name).map(|()| 0),
        None => drive(&options),
    };
    match outcome {
        Ok(missed) if missed > 0 && options.strict => ExitCode::from(MISSED),
        Ok(_) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("millpond-ratios: {e}");
            ExitCode::FAILURE
        }
    }
}

fn work(name: &str) -> io::Result<()> {
    let sample = worker::measure(name, &std::env::current_dir()?)?;
    println!("{}", serde_json::to_string(&sample)?);
    Ok(())
}

/// Measures all chosen rows; the number of missed goals.
fn drive(options: &Options) -> io::Result<usize> {
    if options.rounds == 0 {
        return Err(failure("-i must be greater than 0"));
    }
    let cases: Vec<&Case> = CASES.iter().filter(|case| is_chosen(case, options)).collect();
    if cases.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(failure(format!("no row matches; there are: {}", names.join(", "))));
    }
    let disk = options.disk.clone().unwrap_or_else(default_disk);
    // Both are removed when they go out of scope, after the instance has stopped.
    let (tmpfs, disk) = (fresh(&options.tmpfs)?, fresh(&disk)?);
    let places = Places { tmpfs: tmpfs.path().canonicalize()?, disk: disk.path().canonicalize()? };
    let shim = Shim::obtain(options.shim_env.as_deref(), &[&places.tmpfs, &places.disk], options.pool)?;
    if !options.json {
        report::print_head();
    }
    let mut rows: Vec<Row> = Vec::new();
    for case in cases {
        let row = run::measure(case, &places, &shim, options.rounds)?;
        if !options.json {
            report::print_row(&row);
        }
        rows.push(row);
    }
    if options.json {
        report::print_json(&rows)?;
    }
    Ok(report::missed(&rows))
}

fn is_chosen(case: &Case, options: &Options) -> bool {
    let named = options.only.is_empty() || options.only.iter().any(|part| case.name.contains(part.as_str()));
    named && (!options.goals || report::has_goal(case))
}

fn default_disk() -> PathBuf {
    let target = PathBuf::from("target");
    if target.is_dir() {
        target
    } else {
        PathBuf::from(".")
    }
}

fn fresh(parent: &PathBuf) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix("millpond-ratios-")
        .tempdir_in(parent)
        .context(|| format!("directory in {}", parent.display()))
}
