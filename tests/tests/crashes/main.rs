//! Deaths and lacks: programs, workers and supervisors that are killed or stopped at bad moments, full disks, and
//! coordinators that are not there.

mod coordinator;
mod log;
mod program;
mod space;
mod support;
mod worker;
