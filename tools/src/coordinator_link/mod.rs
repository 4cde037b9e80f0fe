//! The one place where tools meet the coordinator: bring it up, find it, ask it.
//!
//! - `messages`: what is asked and answered
//! - `connection`: a connection to a running coordinator
//! - `daemon`: bringing one up in the background
//! - `lease`: joining one or bringing one up for the duration of a command

mod connection;
mod daemon;
mod lease;
mod messages;

pub use connection::Connection;
pub use daemon::{serve, start_daemon, Lifetime};
pub use lease::Lease;
#[cfg(test)]
pub use messages::{ClientStatus, SlabStatus, SyncDowns, TierStatus};
pub use messages::{FileStatus, Report, Status};
