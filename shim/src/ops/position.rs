//! `lseek`.

use crate::errno::returned;
use crate::managed::{self, Managed};
use libc::{c_int, off_t};
use millpond_segment::stats::Reason;
use millpond_segment::{sys, Errno};
use std::sync::atomic::{Ordering::Acquire, Ordering::SeqCst};

/// Offsets below this are valid on every file system that files are buffered on; others are the kernel's to judge.
const SAFE: i64 = 1 << 42;

/// `lseek` and `lseek64`.
#[inline]
pub fn lseek(fd: c_int, offset: off_t, whence: c_int) -> Option<off_t> {
    let m = managed::get(fd)?;
    Some(returned(seek(&m, offset, whence)) as off_t)
}

fn seek(m: &Managed, offset: off_t, whence: c_int) -> Result<usize, Errno> {
    let d = m.d();
    loop {
        let before = d.offset.load(SeqCst);
        let base = match whence {
            libc::SEEK_SET => 0,
            libc::SEEK_CUR => before as i64,
            libc::SEEK_END => end_of(m)?,
            libc::SEEK_DATA | libc::SEEK_HOLE => return holes(m, offset, whence),
            _ => return Err(Errno(libc::EINVAL)),
        };
        let target = base.checked_add(offset).ok_or(Errno(libc::EINVAL))?;
        if target < 0 {
            return Err(Errno(libc::EINVAL));
        }
        if target >= SAFE {
            sys::lseek(m.fd, target, libc::SEEK_SET)?;
        }
        if target as u64 == before || m.pool.move_offset(m.description, before, target as u64) {
            return Ok(target as usize);
        }
    }
}

/// The end of the file, after a look whether somebody outside has moved it.
pub fn end_of(m: &Managed) -> Result<i64, Errno> {
    if m.is_direct() {
        return sys::stat_fd(m.fd).map(|s| s.stamp.size as i64);
    }
    if !m.is_dirty() {
        m.pool.revalidate(m.who, m.file, &m.store());
    }
    Ok(m.f().size.load(Acquire) as i64)
}

/// The map of holes is the kernel's, once it has all bytes.
fn holes(m: &Managed, offset: off_t, whence: c_int) -> Result<usize, Errno> {
    let found = m.around_kernel(Reason::Holes, || sys::lseek(m.fd, offset, whence))??;
    m.d().offset.store(found, SeqCst);
    Ok(found as usize)
}
