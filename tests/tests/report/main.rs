//! The report: what each program had served, what was left to the kernel and why, and what was seen to escape; in `millpond status`, in
//! `millpond run --report`, and as a line at the end of each process.

mod hardened;
mod lines;
mod pond;
mod runs;
mod status;
