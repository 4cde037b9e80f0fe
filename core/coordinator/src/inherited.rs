//! What a new worker finds in the table of descriptors that it shares with the supervisor and had shared with the worker before it.
//!
//! Connections of programs and the descriptors of files that the segment names stay; all else (half-received descriptors, files that
//! the dead worker had open for a flush) is closed, as a forgotten writable descriptor would keep a program from being executed.

use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};

use millpond_segment::sys;
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::SocketType;

use crate::process;

fn numbers() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(|&fd| fd > 2).collect()
}

/// Closes all descriptors but the three standard ones.
pub fn close_above_stdio() {
    numbers().into_iter().for_each(sys::close);
}

/// The connections among the open descriptors. Descriptors in `keep` are left alone, all others are closed.
pub fn connections(keep: &HashSet<i32>) -> Vec<OwnedFd> {
    let mut found = Vec::new();
    for number in numbers() {
        if keep.contains(&number) || sys::fcntl(number, libc::F_GETFD, 0).is_err() {
            continue;
        }
        let descriptor = process::adopt(number);
        if is_connection(&descriptor) {
            found.push(descriptor);
        } else {
            // Whether it was there still does not matter.
            sys::close(descriptor.into_raw_fd());
        }
    }
    found
}

fn is_connection(descriptor: &OwnedFd) -> bool {
    let fd = descriptor.as_fd();
    socket_type(fd).is_ok_and(|kind| kind == SocketType::SEQPACKET)
        && socket_acceptconn(fd).is_ok_and(|listens| !listens)
}
