//! The node's coordinator: it makes the segment, hands it to programs, and looks after what dead ones leave behind.
//!
//! Two processes. A *supervisor* that does nothing but hold descriptors and restart, and a *worker* that does everything else. Both share
//! one table of descriptors, so what the worker had received from programs outlives a kill of the worker and is found again by the next one.
//! No data and no metadata that the segment knows pass through here.
//!
//! - making the segment: `sizes`, `memory`, `reserve`, `hugefs`
//! - processes: `process` (the fence around fork, clone and adopted descriptors), `start`, `supervisor`, `inherited`, `log`
//! - the worker: `worker`, `session`, `clients`, `keeper`, `organizer`, `times`
//! - the other side, for tools: `link`, `status`
#![deny(unsafe_code)]

mod clients;
mod closer;
mod hugefs;
mod inherited;
mod keeper;
mod link;
mod log;
mod memory;
mod organizer;
mod process;
mod reserve;
mod session;
mod sizes;
mod start;
mod status;
mod stopped;
mod supervisor;
mod times;
mod worker;

pub use millpond_segment::sys::text::can_change as can_change_text;
pub use millpond_segment::Run;

pub use link::{Link, LinkError, Stop};
pub use reserve::{reserve, Memory, ReserveError, Reserved};
pub use sizes::sizes_of;
pub use start::{serve, start, Lifetime, Place, StartError};
pub use status::{
    ClientStatus, FileStatus, Info, PoolStatus, ProgramStatus, RunReport, SlabStatus, Status, SyncDowns,
    TierStatus, Totals,
};
