//! The command line: subcommands and the options that several of them share.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{check, config, demo, drain, env, run, serve, start, status, stop};

/// Serves the file data of unmodified programs from a shared-memory pool.
#[derive(Debug, Parser)]
#[command(name = "millpond", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program through the pool
    Run(run::Arguments),
    /// Start a coordinator in the background
    Start(start::Arguments),
    /// Flush everything and end the coordinator
    Stop(stop::Arguments),
    /// Show pool, files and programs
    Status(status::Arguments),
    /// Wait until dirty bytes are in the real files
    Drain(drain::Arguments),
    /// Print the exports that send a shell's programs through the pool
    Env(env::Arguments),
    /// Say whether a program can go through the pool
    Check(check::Arguments),
    /// Print an example configuration, or check one
    Config(config::Arguments),
    /// Show the pool at work with programs of this system
    Demo(demo::Arguments),
    /// The coordinator itself, as `start` and `run` bring it up
    #[command(hide = true)]
    Serve(serve::Arguments),
}

/// Which coordinator is meant.
#[derive(Clone, Debug, Default, Args)]
pub struct InstanceArguments {
    /// Name of the coordinator [default: MILLPOND_INSTANCE, or "default"]
    #[arg(long, value_name = "NAME")]
    pub instance: Option<String>,
}

/// What a coordinator is started with.
#[derive(Clone, Debug, Default, Args)]
pub struct SettingsArguments {
    /// Directory whose files are buffered, may be repeated [default: current directory]
    #[arg(long = "store", value_name = "DIR")]
    pub stores: Vec<PathBuf>,
    /// Bytes of buffers, such as 512MiB
    #[arg(long, value_name = "SIZE")]
    pub pool: Option<String>,
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What close waits for
    #[arg(long, value_name = "MODE")]
    pub flush: Option<FlushArgument>,
    /// Which coordinator.
    #[command(flatten)]
    pub instance: InstanceArguments,
}

/// The values of `--flush`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FlushArgument {
    /// The bytes are in the real file when close returns
    Close,
    /// Close returns at once; `millpond drain` waits
    Async,
}

impl FlushArgument {
    /// The value as the configuration writes it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Async => "async",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_program_keeps_its_own_options() {
        let cli =
            Cli::parse_from(["millpond", "run", "--store", "/a", "--store", "/b", "--", "ls", "--pool", "x"]);
        let Command::Run(run) = cli.command else { panic!("not run") };
        assert_eq!(run.program, ["ls", "--pool", "x"]);
        assert_eq!(run.settings.stores.len(), 2);
    }
}
