//! The subcommands, one file each.

pub mod check;
pub mod config;
pub mod demo;
pub mod drain;
pub mod env;
pub mod run;
pub mod serve;
pub mod start;
pub mod status;
pub mod stop;

pub use status::human;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::failure::{Failure, Outcome};

/// Does what the command line says.
pub fn dispatch(cli: Cli) -> Outcome<ExitCode> {
    match cli.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Start(arguments) => start::run(arguments),
        Command::Stop(arguments) => stop::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Drain(arguments) => drain::run(arguments),
        Command::Env(arguments) => env::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Config(arguments) => config::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
    }
}

/// Writes to standard output; a reader that went away (`| head`) is no failure.
fn print(bytes: &[u8]) -> Outcome<ExitCode> {
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::new(format_args!("standard output: {error}"), "see where it leads")),
    }
}

fn print_json(value: &impl serde::Serialize) -> Outcome<ExitCode> {
    print(&json(value)?)
}

fn json(value: &impl serde::Serialize) -> Outcome<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| Failure::new(error, ""))?;
    text.push(b'\n');
    Ok(text)
}
