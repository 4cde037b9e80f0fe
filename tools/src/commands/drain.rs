//! `millpond drain`: waits until dirty bytes are in the real files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::InstanceArguments;
use crate::coordinator_link::Connection;
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;
use crate::settings;

/// Options of `drain`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which coordinator.
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// File, or directory with all below it [default: everything]
    pub path: Option<PathBuf>,
}

/// Returns when the bytes are there.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let instance = Instance::locate(&settings::instance_name(&arguments.instance))?;
    let path = arguments.path.map(|path| physical(&path)).transpose()?;
    Connection::require(&instance)?.drain(path.as_deref().map(std::path::Path::new))?;
    Ok(ExitCode::SUCCESS)
}

fn physical(path: &std::path::Path) -> Outcome<String> {
    let refuse = |why: &dyn std::fmt::Display| {
        Failure::new(format_args!("{}: {why}", path.display()), "name an existing file or directory")
    };
    let real = path.canonicalize().map_err(|error| refuse(&error))?;
    real.into_os_string().into_string().map_err(|_| refuse(&"its path is no UTF-8"))
}
