//! `millpond env`: the exports that send every later program of a shell through the pool.

use std::process::ExitCode;

use clap::Args;

use super::print;
use crate::cli::SettingsArguments;
use crate::coordinator_link::Connection;
use crate::environment::{ShimEnvironment, PRELOAD};
use crate::failure::Outcome;
use crate::instance::Instance;
use crate::{settings, shim_library};

/// Options of `env`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The stores of a coordinator that is not running yet, and which coordinator.
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// Prints the exports; the stores are those of the running coordinator, or the configured ones if none is running.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let name = settings::instance_name(&arguments.settings.instance);
    let instance = Instance::locate(&name)?;
    let (stores, exclude) = match Connection::open(&instance)? {
        Some(connection) => {
            let status = connection.status()?;
            (status.stores, status.exclude)
        }
        None => {
            eprintln!("millpond: no coordinator `{name}` is running; programs run unbuffered until `millpond start`");
            let config = settings::load(&arguments.settings)?;
            (config.store.paths, config.programs.exclude)
        }
    };
    let environment =
        ShimEnvironment::new(&shim_library::find()?, &instance.socket(), &stores)?.excluding(&exclude);
    print(&environment.exports(std::env::var_os(PRELOAD).as_deref()))
}
