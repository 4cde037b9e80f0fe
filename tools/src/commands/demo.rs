//! `millpond demo`: the pool at work with programs of this system.

use std::process::ExitCode;

use clap::Args;

use crate::demo;
use crate::failure::Outcome;

/// Options of `demo`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Keep the temporary store and say where it is
    #[arg(long)]
    pub keep: bool,
}

/// Runs it; a difference between the two runs is a failure.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    demo::run(arguments.keep)
}
