//! The differential harness: one random script, run twice in two fresh directories, must print the same
//! lines and leave the same files.
//!
//! Holds: a script depends on the campaign's seed and its own number only, so that any one can be run
//! again by itself; a failure is shrunk and leaves script and both transcripts in files. What the two
//! sides are, plain or shimmed, is the caller's choice.

mod campaign;
mod launch;
mod report;

pub use campaign::{Campaign, Place, Tally};
pub use launch::{run_script, Side};
pub use report::Difference;
