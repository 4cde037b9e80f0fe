//! `millpond serve`: the background process of `start` and `run`, not for users.

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::Args;

use crate::coordinator_link::{serve, Lifetime, ERROR, READY, WARNING};
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the coordinator
    #[arg(long)]
    instance: String,
    /// End when nobody holds it and no program is attached
    #[arg(long)]
    while_held: bool,
}

/// Reads the configuration from standard input, serves, and says on standard output how that began.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let lifetime = if arguments.while_held { Lifetime::WhileHeld } else { Lifetime::UntilStopped };
    // Already a process group's leader if started by us: then it cannot and need not leave its session.
    let _ = nix::unistd::setsid();
    let served = configuration().and_then(|config| {
        let instance = Instance::locate(&arguments.instance)?;
        serve(&config, &instance, lifetime, |warning| {
            if let Some(warning) = warning {
                say(&format!("{WARNING}: {warning}"));
            }
            say(READY);
        })
    });
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            say(&format!("{ERROR}: {failure}"));
            Err(failure)
        }
    }
}

fn configuration() -> Outcome<millpond_model::config::Config> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format_args!("standard input: {error}"), "use `millpond start`"))?;
    millpond_model::config::parse(&text, "standard input").map_err(|error| Failure::new(error, ""))
}

/// Who started us may have gone; that is no reason not to serve.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
