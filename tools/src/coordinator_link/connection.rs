//! A connection to a running coordinator, in the words of the command line.

use std::path::Path;
use std::time::Duration;

use millpond_coordinator::{Link, LinkError, Run, Stop};

use super::{Report, RunReport, Status};
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;

/// The coordinator of an instance. It stays as long as one connection lives, if it was brought up for a command.
#[derive(Debug)]
pub struct Connection {
    link: Link,
    name: String,
}

impl Connection {
    /// Connects to the coordinator of `instance`; `None` if none is running.
    pub fn open(instance: &Instance) -> Outcome<Option<Self>> {
        instance.verify()?;
        match Link::connect(&instance.socket()) {
            Ok(link) => Ok(Some(Self { link, name: instance.name().into() })),
            Err(LinkError::NotRunning(_)) => Ok(None),
            Err(error) => Err(failure(instance.name(), &error)),
        }
    }

    /// Connects to the coordinator of `instance`, which must be running.
    pub fn require(instance: &Instance) -> Outcome<Self> {
        Self::open(instance)?.ok_or_else(|| {
            Failure::new(
                format_args!("no coordinator `{}` is running", instance.name()),
                "start it with `millpond start`",
            )
        })
    }

    /// What the pool holds and for whom.
    pub fn status(&self) -> Outcome<Status> {
        self.link.status().map_err(|error| self.failure(&error))
    }

    /// Totals since the coordinator started.
    pub fn totals(&self) -> Report {
        self.link.totals()
    }

    /// What the programs of one run have done so far.
    pub fn report(&self, run: Run) -> RunReport {
        self.link.run_report(run)
    }

    /// Returns when the dirty bytes under `path`, or all, are in the real files.
    pub fn drain(&mut self, path: Option<&Path>) -> Outcome<()> {
        self.link.drain(path).map_err(|error| failure(&self.name, &error))
    }

    /// Flushes everything and ends the coordinator.
    pub fn stop(&mut self, force: bool) -> Outcome<()> {
        let how = if force { Stop::Force } else { Stop::Gently };
        match self.link.stop(how) {
            Ok(_) => Ok(()),
            Err(LinkError::Flush { errno, count }) if force => Err(Failure::new(
                format_args!(
                    "coordinator `{}` was stopped, and bytes of {count} files are lost: {}",
                    self.name,
                    nix::errno::Errno::from_raw(errno).desc()
                ),
                "see its log for the files",
            )),
            Err(error) => Err(failure(&self.name, &error)),
        }
    }

    /// Has the coordinator end as soon as no program is attached. Whether that is at once.
    pub fn stop_when_unused(&mut self) -> Outcome<bool> {
        let attached = self.link.stop(Stop::WhenUnused).map_err(|error| failure(&self.name, &error))?;
        Ok(attached == 0)
    }

    /// Waits until the coordinator has ended, at most so long.
    pub fn wait_for_end(self, limit: Duration) {
        self.link.wait_for_end(limit);
    }

    fn failure(&self, error: &LinkError) -> Failure {
        failure(&self.name, error)
    }
}

fn failure(name: &str, error: &LinkError) -> Failure {
    Failure::new(format_args!("coordinator `{name}`: {error}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_there_is_no_error() {
        let name = format!("test-{}", std::process::id());
        let instance = Instance::locate(&name).unwrap();
        assert!(Connection::open(&instance).unwrap().is_none());
        let message = Connection::require(&instance).unwrap_err().to_string();
        assert_eq!(message, format!("no coordinator `{name}` is running; start it with `millpond start`"));
    }
}
