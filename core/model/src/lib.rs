//! Everything that Millpond decides and nothing that acts.
//!
//! Byte ranges and page arithmetic, placement of bytes into buffers, the rules for a cached
//! file's stamp, and the configuration. No I/O, no clock, no threads: inputs come as arguments and results go
//! out as values, so that each rule can be tested as a function.
#![forbid(unsafe_code)]

pub mod config;
pub mod geometry;
pub mod placement;
pub mod range;
pub mod stamp;

pub use geometry::{PageGeometry, PageIndex, Span};
pub use range::{ByteRange, Full, RangeSet, MAX_RANGES};
pub use stamp::{Stamp, Verdict};
