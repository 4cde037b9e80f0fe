//! `mmap`: a mapped file is the kernel's, for every process, until its last user closes it or ends.

use crate::errno::{fail, preserving};
use crate::managed;
use libc::{c_int, c_void};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;

/// Before a mapping of `fd`. Returns the failure to report instead.
pub fn before_mmap(fd: c_int, map_flags: c_int) -> Option<*mut c_void> {
    if fd < 0 || map_flags & libc::MAP_ANONYMOUS != 0 {
        return None;
    }
    let m = managed::entry(fd)?;
    let outcome = preserving(|| {
        // The pin outlives the descriptor: a mapping goes on when it is closed.
        m.pool.pin_file(m.who, m.file, flags::RELEASED);
        m.make_direct(Reason::Mapping)
    });
    outcome.err().map(|e| {
        fail(e);
        libc::MAP_FAILED
    })
}
