//! Calls on a file that the kernel serves, through descriptions whose offset is still in the segment.

use crate::managed::Managed;
use libc::off_t;
use millpond_segment::description::flags;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{Errno, UserMemory};
use std::sync::atomic::Ordering::SeqCst;

/// Pieces of memory that one call takes along; longer lists do not come here.
pub const MAX_PIECES: usize = 32;

/// Makes one system call for all pieces of the first `len` bytes of the program's memory, as descriptors opened with `O_DIRECT` want it.
fn at_once(
    memory: &impl UserMemory,
    len: usize,
    call: impl FnOnce(&[IoPart]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut parts = [IoPart::default(); MAX_PIECES];
    let mut count = 0;
    memory.parts(0, len, |part| {
        *parts.get_mut(count).ok_or(Errno(libc::EINVAL))? = part;
        count += 1;
        Ok::<(), Errno>(())
    })?;
    call(&parts[..count])
}

/// `pread`.
pub fn read_at(m: &Managed, to: &impl UserMemory, offset: off_t) -> Result<usize, Errno> {
    m.passes();
    at_once(to, to.total(), |parts| sys::preadv(m.fd, parts, offset as u64))
}

/// `read`. The place is claimed before the call, as other threads and processes read through the same description meanwhile, and each byte is one
/// reader's: not more than there is, so that a reader at the end claims nothing.
pub fn read_here(m: &Managed, to: &impl UserMemory) -> Result<usize, Errno> {
    let wanted = to.total() as u64;
    loop {
        let offset = m.d().offset.load(SeqCst);
        let there = if m.has(flags::DIRECT) {
            // Lengths have to be whole blocks there.
            offset.checked_add(wanted).map_or(0, |_| wanted)
        } else {
            sys::stat_fd(m.fd).map_or(0, |s| s.stamp.size).saturating_sub(offset).min(wanted)
        };
        if there == 0 {
            let result = read_at(m, to, offset as off_t);
            if let Ok(n) = result {
                m.pool.move_offset(m.description, offset, offset + n as u64);
            }
            return result;
        }
        if m.pool.move_offset(m.description, offset, offset + there) {
            m.passes();
            let result = at_once(to, there as usize, |parts| sys::preadv(m.fd, parts, offset));
            give_back(m, offset, there, &result);
            return result;
        }
    }
}

/// Moves the offset back to where a call ended that had claimed `claimed` bytes; not if somebody has moved it since.
fn give_back(m: &Managed, offset: u64, claimed: u64, result: &Result<usize, Errno>) {
    let done = result.unwrap_or(0) as u64;
    if done < claimed {
        m.pool.move_offset(m.description, offset + claimed, offset + done);
    }
}

/// `pwrite`.
pub fn write_at(m: &Managed, from: &impl UserMemory, offset: off_t, append: bool) -> Result<usize, Errno> {
    m.passes();
    let flags = if append { RWF_APPEND } else { 0 };
    at_once(from, from.total(), |parts| sys::pwritev(m.fd, parts, offset as u64, flags))
}

/// `write`.
pub fn write_here(m: &Managed, from: &impl UserMemory, append: bool) -> Result<usize, Errno> {
    let before = m.d().offset.load(SeqCst);
    if append || m.has(flags::APPEND) {
        m.passes();
        // Only the kernel knows where the bytes went: its own offset tells.
        let _ = sys::lseek(m.fd, before as i64, libc::SEEK_SET);
        let flags = if append { RWF_APPEND } else { 0 };
        let result = at_once(from, from.total(), |parts| sys::pwritev_here(m.fd, parts, flags));
        if let (Ok(_), Ok(after)) = (result, sys::lseek(m.fd, 0, libc::SEEK_CUR)) {
            m.pool.move_offset(m.description, before, after);
        }
        return result;
    }
    // Claimed before the call, as above.
    let (mut before, wanted) = (before, from.total() as u64);
    while before.checked_add(wanted).is_some() {
        if m.pool.move_offset(m.description, before, before + wanted) {
            let result = write_at(m, from, before as off_t, false);
            give_back(m, before, wanted, &result);
            return result;
        }
        before = m.d().offset.load(SeqCst);
    }
    write_at(m, from, before as off_t, false)
}

const RWF_APPEND: i32 = 0x10;
