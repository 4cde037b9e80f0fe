//! `millpond-ior`: parallel writes and reads with IOR's options, plain or under the shim, or both in comparison.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use millpond_benchmarks::ior::options::Options;
use millpond_benchmarks::ior::report::Report;
use millpond_benchmarks::ior::{compare, run};

/// Exit code of a run whose data check failed.
const WRONG_DATA: u8 = 2;

fn main() -> ExitCode {
    let outcome = Options::parse().settle().map_err(io::Error::other).and_then(|options| execute(&options));
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(wrong) => {
            eprintln!("millpond-ior: {wrong} wrong bytes");
            ExitCode::from(WRONG_DATA)
        }
        Err(e) => {
            eprintln!("millpond-ior: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of wrong bytes.
fn execute(options: &Options) -> io::Result<u64> {
    if options.compare {
        return compare::compare(options);
    }
    let report = Report::new(options, run::run(options)?);
    if options.json {
        report.print_json()?;
    } else {
        report.print_table();
    }
    Ok(report.errors())
}
