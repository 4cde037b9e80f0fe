//! The measuring side of Millpond: an IOR-style driver (`millpond-ior`) and the table of ratios that the
//! project promises to reach (`millpond-ratios`).
//!
//! Both tools run the very same code plain and under the shim: the loops live in child runs of the same binary,
//! and only the environment differs. What is measured is therefore what an unmodified program would see.
//! The tools link no other crate of the project; only the micro-benchmarks in `benches/` do.

pub mod barrier;
pub mod child;
pub mod clock;
pub mod context;
pub mod ior;
pub mod pattern;
pub mod posix;
pub mod ratios;
pub mod shim;
pub mod size;
pub mod stats;
