//! Real programs, each run once plainly and once behind the shim: the same output, the same files, and proof by the
//! counters that the bytes went through the pool.
//!
//! [`list`] names the rows, each a shell script in `scripts/` whose header says what it needs; [`runner`] runs
//! one; [`snapshot`] and [`report`] hold what is compared and what is proved; [`table`] prints the outcome.

pub mod inputs;
pub mod list;
pub mod report;
pub mod row;
pub mod runner;
pub mod snapshot;
pub mod table;
