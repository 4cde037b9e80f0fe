//! A coordinator for the duration of a command: the one that runs, or one of our own.
//!
//! One of our own has a place of its own, so that commands at the same time do not meet. It ends when this command is gone and no program that
//! it has started is attached any more, whatever ends the command.

use std::path::PathBuf;
use std::time::Duration;

use millpond_coordinator::Run;
use millpond_model::config::Config;

use super::{start_daemon, Connection, Lifetime, Report, RunReport};
use crate::failure::Outcome;
use crate::instance::Instance;

/// How long the end of our own coordinator is waited for: it has nothing left to do.
const END: Duration = Duration::from_secs(5);

/// A held coordinator.
#[derive(Debug)]
pub struct Lease {
    connection: Connection,
    socket: PathBuf,
    run: Run,
    stores: Vec<String>,
    exclude: Vec<String>,
    own: bool,
}

impl Lease {
    /// Joins the coordinator of `instance` or brings up one of our own.
    pub fn take(config: &Config, instance: &Instance) -> Outcome<Self> {
        if let Some(connection) = Connection::open(instance)? {
            return Self::hold(connection, instance, false);
        }
        let own = Instance::locate(&format!("run-{}", std::process::id()))?;
        let config = Config { instance: own.name().into(), ..config.clone() };
        let connection = start_daemon(&config, &own, Lifetime::WhileHeld)?;
        Self::hold(connection, &own, true)
    }

    fn hold(connection: Connection, instance: &Instance, own: bool) -> Outcome<Self> {
        let status = connection.status()?;
        Ok(Self {
            run: Run::here(),
            stores: status.stores,
            exclude: status.exclude,
            socket: instance.socket(),
            connection,
            own,
        })
    }

    /// The programs that are left alone.
    pub fn exclude(&self) -> &[String] {
        &self.exclude
    }

    /// The directories that the coordinator serves.
    pub fn stores(&self) -> &[String] {
        &self.stores
    }

    /// The socket that programs connect to.
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// What the programs are told that they belong to.
    pub fn run(&self) -> Run {
        self.run
    }

    /// What the programs of this run did, and no others.
    pub fn report(&self) -> RunReport {
        self.connection.report(self.run)
    }

    /// What the coordinator's programs have done so far, all of them.
    pub fn totals(&self) -> Report {
        self.connection.totals()
    }

    /// Returns when all dirty bytes are in the real files.
    pub fn drain(&mut self) -> Outcome<()> {
        self.connection.drain(None)
    }

    /// Ends our own coordinator; with programs still attached, it ends after them.
    pub fn end(mut self) -> Outcome<()> {
        if self.own && self.connection.stop_when_unused()? {
            self.connection.wait_for_end(END);
        }
        Ok(())
    }
}
