//! `millpond stop`: everything flushed, and the coordinator ended.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::cli::InstanceArguments;
use crate::coordinator_link::Connection;
use crate::failure::Outcome;
use crate::instance::Instance;
use crate::settings;

/// After its last answer a coordinator has nothing left to do but to end.
const END: Duration = Duration::from_secs(30);

/// Options of `stop`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which coordinator.
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// End it although programs are attached
    #[arg(long)]
    pub force: bool,
}

/// Returns when the coordinator is gone.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let instance = Instance::locate(&settings::instance_name(&arguments.instance))?;
    let mut connection = Connection::require(&instance)?;
    connection.stop(arguments.force)?;
    connection.wait_for_end(END);
    Ok(ExitCode::SUCCESS)
}
