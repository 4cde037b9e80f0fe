//! The one place where tools meet the coordinator: bring it up, find it, ask it.
//!
//! - `connection`: a connection to a running coordinator
//! - `daemon`: bringing one up in the background
//! - `lease`: joining one or bringing one up for the duration of a command

mod connection;
mod daemon;
mod lease;

pub use connection::Connection;
pub use daemon::{serve, start_daemon, ERROR, READY, WARNING};
pub use lease::Lease;
#[cfg(test)]
pub use millpond_coordinator::{ClientStatus, ProgramStatus, SlabStatus, SyncDowns, TierStatus};
pub use millpond_coordinator::{FileStatus, Lifetime, RunReport, Status, Totals as Report};
