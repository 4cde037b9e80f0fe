//! `millpond config`: an example, a check, or what would be used.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use millpond_model::config;

use super::print;
use crate::cli::SettingsArguments;
use crate::failure::{Failure, Outcome};
use crate::settings;

/// Options of `config`: one of the three must be given.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["example", "check", "show"]))]
pub struct Arguments {
    /// Print a file that holds every key with its meaning and default
    #[arg(long)]
    pub example: bool,
    /// Check FILE
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// Print what `start` would use, from options, environment and file
    #[arg(long)]
    pub show: bool,
    /// For --show.
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// Prints what was asked for; `--check` says nothing about a good file.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    if arguments.example {
        return print(config::example().as_bytes());
    }
    if let Some(path) = &arguments.check {
        let text = settings::read(path)?;
        config::parse(&text, &path.display().to_string()).map_err(|error| Failure::new(error, ""))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = settings::load_unresolved(&arguments.settings)?;
    let text = toml::to_string(&config).map_err(|error| Failure::new(error, ""))?;
    print(text.as_bytes())
}
