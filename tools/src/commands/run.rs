//! `millpond run`: a program through the pool, and its exit code.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::json;
use crate::cli::SettingsArguments;
use crate::coordinator_link::Lease;
use crate::environment::{ShimEnvironment, RUN};
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;
use crate::launch::{HeldSignals, Launch};
use crate::{settings, shim_library};

/// Options of `run`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What a coordinator is started with if none is running.
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Write what went through the pool to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Runs the program; ends as it ends, after everything is flushed.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let config = settings::load(&arguments.settings)?;
    let instance = Instance::locate(&config.instance)?;
    let library = shim_library::find()?;
    let mut lease = Lease::take(&config, &instance)?;
    if !arguments.settings.stores.is_empty() {
        covers(lease.stores(), &config.store.paths, &instance)?;
    }
    let environment =
        ShimEnvironment::new(&library, lease.socket(), lease.stores())?.excluding(lease.exclude());
    let signals = HeldSignals::hold()?;
    let ended = Launch::new(&arguments.program)
        .through(&environment)
        .set(RUN, lease.run().0.to_string())
        .run(&signals);
    // Whatever became of the program, what it wrote goes to its files.
    let drained = lease.drain();
    let code = ended?;
    if let Some(path) = &arguments.report {
        std::fs::write(path, json(&lease.report())?).map_err(|error| {
            Failure::new(
                format_args!("report {}: {error}", path.display()),
                "name a file that can be written",
            )
        })?;
    }
    drained?;
    lease.end()?;
    Ok(ExitCode::from(code))
}

/// A coordinator that runs already keeps its stores; one that was asked for and is not among them would be passed over
/// in silence.
fn covers(served: &[String], wanted: &[String], instance: &Instance) -> Outcome<()> {
    match wanted.iter().find(|store| !served.iter().any(|s| std::path::Path::new(store).starts_with(s))) {
        None => Ok(()),
        Some(store) => Err(Failure::new(
            format_args!("coordinator `{}` is running and does not serve {store}", instance.name()),
            "`millpond stop` it first, or take another --instance name",
        )),
    }
}
