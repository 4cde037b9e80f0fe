//! Rings: `io_uring` and `libaio` hand descriptors to the kernel behind libc's back. Once a process sets one up, its files are the kernel's.

use crate::managed;
use libc::c_int;
use millpond_segment::stats::Reason;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);

/// Whether this process has set up a ring.
#[inline]
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// A ring is about to be set up: every file that is open becomes the kernel's, and so will those opened from now on.
pub fn set_up() {
    ON.store(true, Relaxed);
    managed::for_each(|m| m.release_quietly(Reason::IoUring));
}

/// The head of a `libaio` control block, as far as the descriptor.
#[repr(C)]
pub struct Iocb {
    data: u64,
    key: u32,
    flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
}

/// `io_submit`: the files in it become the kernel's.
pub unsafe fn before_submit(count: libc::c_long, blocks: *mut *mut Iocb) {
    if blocks.is_null() || !crate::attach::is_possible() {
        return;
    }
    for i in 0..count.clamp(0, 65_536) as usize {
        // SAFETY: the program promises `count` pointers to control blocks; libaio reads them just so.
        let fd = unsafe {
            let block = *blocks.add(i);
            if block.is_null() {
                return;
            }
            (*block).fd as c_int
        };
        if let Some(m) = managed::get(fd) {
            m.release_quietly(Reason::Aio);
        }
    }
}
