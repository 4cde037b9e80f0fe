//! A coordinator for the duration of a command: the one that runs, or one of our own.
//!
//! A coordinator brought up here ends when nobody holds it and no program is attached, so that a second command may have
//! joined it and outlive the first.

use std::time::{Duration, Instant};

use millpond_model::config::Config;

use super::{start_daemon, Connection, Lifetime, Report};
use crate::failure::Outcome;
use crate::instance::Instance;

/// Another command may be bringing the same coordinator up, or it may be ending, in the moment that we look.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// A held coordinator.
#[derive(Debug)]
pub struct Lease {
    connection: Connection,
    before: Report,
    stores: Vec<String>,
}

impl Lease {
    /// Joins the coordinator of `instance` or brings one up; it stays until this value goes.
    pub fn take(config: &Config, instance: &Instance) -> Outcome<Self> {
        let begun = Instant::now();
        loop {
            let failure = match Self::attempt(config, instance) {
                Ok(lease) => return Ok(lease),
                Err(failure) => failure,
            };
            // If nobody else is at it, trying again would end the same way.
            let alone = !instance.directory().exists() || instance.lock()?.is_some();
            if alone || begun.elapsed() > PATIENCE {
                return Err(failure);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn attempt(config: &Config, instance: &Instance) -> Outcome<Self> {
        let connection = match Connection::open(instance)? {
            Some(connection) => connection,
            None => start_daemon(config, instance, Lifetime::WhileHeld)?,
        };
        connection.hold()?;
        let status = connection.status()?;
        Ok(Self { before: status.totals, stores: status.stores, connection })
    }

    /// The directories that the coordinator serves.
    pub fn stores(&self) -> &[String] {
        &self.stores
    }

    /// What was added to the totals since the lease was taken.
    pub fn report(&self) -> Outcome<Report> {
        Ok(self.connection.report()?.since(&self.before))
    }

    /// Returns when all dirty bytes are in the real files.
    pub fn drain(&self) -> Outcome<()> {
        self.connection.drain(None)
    }
}
