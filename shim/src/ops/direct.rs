//! Calls on a file that the kernel serves, through descriptions whose offset is still in the segment.

use crate::managed::Managed;
use libc::off_t;
use millpond_segment::description::flags;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{Errno, UserMemory};
use std::sync::atomic::Ordering::SeqCst;

/// Makes one system call per piece of the program's memory until one is short.
fn each_piece(
    memory: &impl UserMemory,
    mut call: impl FnMut(IoPart, usize) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut done = 0;
    let mut failed = None;
    let total = memory.total();
    let _ = memory.parts(0, total, |part| match call(part, done) {
        Ok(n) => {
            done += n;
            if n < part.len() {
                Err(())
            } else {
                Ok(())
            }
        }
        Err(e) => {
            failed = Some(e);
            Err(())
        }
    });
    match failed {
        Some(e) if done == 0 => Err(e),
        _ => Ok(done),
    }
}

/// `pread`.
pub fn read_at(m: &Managed, to: &impl UserMemory, offset: off_t) -> Result<usize, Errno> {
    each_piece(to, |part, done| sys::preadv(m.fd, &[part], offset as u64 + done as u64))
}

/// `read`.
pub fn read_here(m: &Managed, to: &impl UserMemory) -> Result<usize, Errno> {
    let offset = m.d().offset.load(SeqCst);
    let result = read_at(m, to, offset as off_t);
    if let Ok(n) = result {
        m.pool.move_offset(m.description, offset, offset + n as u64);
    }
    result
}

/// `pwrite`.
pub fn write_at(m: &Managed, from: &impl UserMemory, offset: off_t, append: bool) -> Result<usize, Errno> {
    let flags = if append { RWF_APPEND } else { 0 };
    each_piece(from, |part, done| sys::pwritev(m.fd, &[part], offset as u64 + done as u64, flags))
}

/// `write`.
pub fn write_here(m: &Managed, from: &impl UserMemory, append: bool) -> Result<usize, Errno> {
    let before = m.d().offset.load(SeqCst);
    if append || m.has(flags::APPEND) {
        // Only the kernel knows where the bytes went: its own offset tells.
        let _ = sys::lseek(m.fd, before as i64, libc::SEEK_SET);
        let flags = if append { RWF_APPEND } else { 0 };
        let result = each_piece(from, |part, _| sys::pwritev_here(m.fd, &[part], flags));
        if let (Ok(_), Ok(after)) = (result, sys::lseek(m.fd, 0, libc::SEEK_CUR)) {
            m.pool.move_offset(m.description, before, after);
        }
        return result;
    }
    let result = write_at(m, from, before as off_t, false);
    if let Ok(n) = result {
        m.pool.move_offset(m.description, before, before + n as u64);
    }
    result
}

const RWF_APPEND: i32 = 0x10;
