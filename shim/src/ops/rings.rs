//! Rings: `io_uring` and `libaio` hand descriptors to the kernel behind libc's back. Once a process sets one up, its files are the kernel's.

use crate::peek::value;
use crate::{aside, attach, managed};
use libc::c_int;
use millpond_segment::account::Escape;
use millpond_segment::stats::Reason;

/// A ring is about to be set up: every file that is open becomes the kernel's, and so will those opened from now on.
pub fn set_up() {
    if attach::is_possible() {
        crate::report::note(Escape::Ring);
        aside::step(Reason::IoUring);
    }
}

/// The head of a `libaio` control block, as far as the descriptor.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Iocb {
    data: u64,
    key: u32,
    flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
}

/// Control blocks of one call that are looked at, as many as a kernel's queue can hold.
const MOST_BLOCKS: usize = 65_536;

/// `io_submit`: the files in it become the kernel's. Blocks that are not there are the kernel's to refuse.
pub unsafe fn before_submit(count: libc::c_long, blocks: *mut *mut Iocb) {
    if blocks.is_null() || !attach::is_possible() {
        return;
    }
    for i in 0..count.clamp(0, MOST_BLOCKS as libc::c_long) as usize {
        // SAFETY: plain structures, of which any bytes are a value.
        let block =
            unsafe { value::<usize>(blocks.wrapping_add(i) as usize).and_then(|at| value::<Iocb>(at)) };
        let Some(block) = block else { return };
        if let Some(m) = managed::get(block.fd as c_int) {
            m.release_quietly(Reason::Aio);
        }
    }
}
