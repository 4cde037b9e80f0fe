//! The IOR-style driver: IOR's options and phases, forked ranks instead of MPI ones.

pub mod compare;
pub mod layout;
pub mod options;
pub mod phase;
pub mod report;
pub mod run;
