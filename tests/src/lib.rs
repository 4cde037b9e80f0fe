//! Tests that cross crates.
//!
//! The differential harness lives here: [`script`] is the model of a random program, [`executor`] runs
//! one against libc and reports what it saw, [`differential`] runs each script plainly and under the shim
//! and compares. [`exerciser`] does thousands of random operations against a model of the files. [`cases`] runs one small case of a known kind of bug both ways. [`shim_env`] brings up a coordinator for any test that needs one.

pub mod cases;
pub mod data;
pub mod differential;
pub mod executor;
pub mod exerciser;
pub mod programs;
pub mod script;
pub mod shim_env;
pub mod tree;
