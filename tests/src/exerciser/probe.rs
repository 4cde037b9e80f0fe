//! What the file system of a run can do, asked of the kernel itself.

use std::ffi::CStr;

use rustix::fs::{
    fallocate, ftruncate, openat, renameat_with, unlinkat, AtFlags, FallocateFlags, Mode, OFlags,
};
use rustix::fs::{RenameFlags, CWD};

use super::state::State;

/// Space can be reserved.
pub const ALLOCATE: u32 = 1;
/// Holes can be punched.
pub const PUNCH: u32 = 2;
/// Ranges can be zeroed.
pub const ZERO: u32 = 4;
/// Ranges can be taken out.
pub const COLLAPSE: u32 = 8;
/// Ranges can be put in.
pub const INSERT: u32 = 16;
/// Files can be opened with `O_DIRECT`.
pub const DIRECT: u32 = 32;
/// Names can be exchanged.
pub const EXCHANGE: u32 = 64;

const FIRST: &CStr = c"probe";
const SECOND: &CStr = c"probe2";

/// Finds out about the file system of the current directory.
pub fn probe(state: &mut State) {
    let block = rustix::fs::statfs(".").map_or(4096, |found| found.f_bsize as usize);
    state.block = block;
    let open = |name, flags: OFlags| {
        openat(CWD, name, OFlags::RDWR | OFlags::CREATE | flags, Mode::RUSR | Mode::WUSR)
    };
    let file = open(FIRST, OFlags::empty()).expect("a file of its own");
    ftruncate(&file, 16 * block as u64).expect("size");
    let tries = [
        (ALLOCATE, FallocateFlags::KEEP_SIZE),
        (PUNCH, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE),
        (ZERO, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE),
        (COLLAPSE, FallocateFlags::COLLAPSE_RANGE),
        (INSERT, FallocateFlags::INSERT_RANGE),
    ];
    for (bit, mode) in tries {
        if fallocate(&file, mode, block as u64, block as u64).is_ok() {
            state.able |= bit;
        }
    }
    if open(SECOND, OFlags::DIRECT).is_ok() {
        state.able |= DIRECT;
        if renameat_with(CWD, FIRST, CWD, SECOND, RenameFlags::EXCHANGE).is_ok() {
            state.able |= EXCHANGE;
        }
    }
    for name in [FIRST, SECOND] {
        let _ = unlinkat(CWD, name, AtFlags::empty());
    }
}
