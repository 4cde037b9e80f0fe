//! `millpond`: starts programs through the pool, and looks after the coordinator that runs it.
//!
//! Exit codes: that of the program for `run`; otherwise 0 for success, 1 for a failure, which is said in one
//! line on standard error with what to do about it, and 2 for a command line that cannot be understood.
#![forbid(unsafe_code)]

mod check;
mod cli;
mod commands;
mod coordinator_link;
mod demo;
mod environment;
mod failure;
mod instance;
mod launch;
mod settings;
mod shim_library;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::dispatch(cli::Cli::parse()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("millpond: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
