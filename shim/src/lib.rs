//! `libmillpond.so`: preloaded into every program, serves its file calls from the node's buffer pool.
//!
//! A call arrives by one of two layers: an exported symbol (`hooks`, rows of `redhook`) or a patched entry of libc (`patch`). Both run the
//! same operation (`ops`), which looks the descriptor up in the process's table in the segment and either serves the call from the
//! pool or lets it by to the next function in line. No thread, no allocation on the path of a cached page, no system call there.
//!
//! What holds here: every buffered descriptor is a real one of the kernel; what the pool cannot serve exactly, the kernel serves
//! after a sync-down; `errno` changes only where the kernel would change it.

mod aside;
mod attach;
mod borrow;
mod children;
mod errno;
mod exec;
mod fault;
mod hooks;
mod jumps;
mod managed;
mod mapped;
mod next;
mod numbers;
mod ops;
mod patch;
mod peek;
mod process;
mod report;
mod start;
mod stores;
mod thread;
