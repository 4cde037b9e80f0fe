//! The exerciser: random operations on files that are known by heart, for as many steps as one likes.
//!
//! A run is a program of its own (`millpond-exerciser`): one to four processes take turns, in an order that the seed decides, and keep a
//! model of every file, open file description and mapping in memory that they share. Every result, errno, offset, size and byte must be
//! the model's, at each step; and whenever the real file has to be complete (after a sync, a last close, an exit) it is read by system
//! calls that no preloaded library sees. [`Campaign`] starts many runs, each with its own mixture of operations, and shrinks one that fails.
//!
//! The differential harness asks whether a short script gives the same with and without the shim; this one asks whether bytes stay right
//! over thousands of steps.

mod actor;
mod campaign;
mod copy_ops;
mod data_ops;
mod file;
mod kinds;
mod life;
mod look;
mod map_ops;
mod name_ops;
mod open_ops;
mod options;
mod probe;
mod random;
mod run;
mod space_ops;
mod state;

pub use campaign::{Campaign, Failure};
pub use options::Options;
pub use run::main;
