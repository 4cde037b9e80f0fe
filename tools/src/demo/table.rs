//! What the demonstration prints.

use std::path::Path;

use super::compare::Comparison;
use super::{Done, StepOutcome};
use crate::commands::human;
use crate::coordinator_link::Report;

/// What is about to happen.
pub fn heading(root: &Path, bytes: u64) {
    println!("Unmodified programs of this system, once plainly and once through the pool.");
    println!("Store: {}, input: {}", root.display(), human(bytes));
    println!();
}

/// One line for each step.
pub fn steps(done: &[Done]) {
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>7}  sync-downs",
        "program", "read", "written", "flushed", "writes"
    );
    for step in done {
        match &step.outcome {
            StepOutcome::Ran(report) => line(step.name, report),
            StepOutcome::Missing(program) => {
                println!("{:<28} skipped: {program} is not installed", step.name)
            }
        }
    }
}

/// The line of all of them.
pub fn total(report: &Report) {
    line("together", report);
    println!();
}

/// What the reader without the shim found.
pub fn comparison(compared: &Comparison) {
    println!(
        "A reader without the shim: {} files, {} equal, {} different",
        compared.files,
        human(compared.bytes),
        compared.different.len()
    );
    if let Some((plain, pool)) = &compared.digests {
        println!("sha256 of the plain run        {plain}");
        println!("sha256 of the run through pool {pool}");
    }
}

fn line(name: &str, report: &Report) {
    let downs: Vec<String> = report.sync_downs.iter().map(|s| format!("{} {}", s.count, s.reason)).collect();
    println!(
        "{name:<28} {:>10} {:>10} {:>10} {:>7}  {}",
        human(report.bytes_read),
        human(report.bytes_written),
        human(report.bytes_flushed),
        report.flush_writes,
        if downs.is_empty() { "none".into() } else { downs.join(", ") }
    );
}
