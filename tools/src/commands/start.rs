//! `millpond start`: a coordinator that stays.

use std::process::ExitCode;

use clap::Args;

use crate::cli::SettingsArguments;
use crate::coordinator_link::{serve, start_daemon, Connection, Lifetime};
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;
use crate::settings;

/// Options of `start`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What it is started with.
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Stay in the foreground
    #[arg(long)]
    pub foreground: bool,
}

/// Starts it, unless it is running.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let config = settings::load(&arguments.settings)?;
    let instance = Instance::locate(&config.instance)?;
    if Connection::open(&instance)?.is_some() {
        return Err(Failure::new(
            format_args!("coordinator `{}` is running already", instance.name()),
            "`millpond stop` it first, or take another --instance name",
        ));
    }
    if arguments.foreground {
        serve(&config, &instance, Lifetime::UntilStopped, |warning| {
            if let Some(warning) = warning {
                eprintln!("millpond: {warning}");
            }
        })?;
    } else {
        start_daemon(&config, &instance, Lifetime::UntilStopped)?;
    }
    Ok(ExitCode::SUCCESS)
}
