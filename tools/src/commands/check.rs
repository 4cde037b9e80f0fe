//! `millpond check`: whether a program can go through the pool, and why not.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;

use super::{print, print_json};
use crate::check::{self, Inspection};
use crate::failure::Outcome;

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Name or path of the program
    pub program: OsString,
}

/// Says so; any verdict is an answer, so only a program that cannot be looked at is a failure.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let inspection = check::inspect(&arguments.program)?;
    if arguments.json {
        return print_json(&inspection);
    }
    print(text(&inspection).as_bytes())
}

fn text(inspection: &Inspection) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, inspection, 0);
    out
}

fn write_text(out: &mut String, inspection: &Inspection, depth: usize) -> std::fmt::Result {
    let indent = "  ".repeat(depth);
    writeln!(out, "{indent}{}: {}", inspection.path.display(), inspection.verdict.word())?;
    for reason in &inspection.reasons {
        writeln!(out, "{indent}  {reason}")?;
    }
    if let Some(elf) = inspection.elf.as_ref().filter(|elf| elf.dynamic && !elf.served.is_empty()) {
        writeln!(out, "{indent}  served: {}", elf.served.join(" "))?;
    }
    match &inspection.interpreter {
        Some(inner) => write_text(out, inner, depth + 1),
        None => Ok(()),
    }
}
