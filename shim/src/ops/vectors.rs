//! `readv`, `writev` and their kin.

use super::data::{self, MAX_COUNT};
use crate::errno::returned;
use crate::managed::{self, Managed};
use libc::{c_int, iovec, off_t, ssize_t};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{Errno, UserMemory, Vectored};

/// Pieces that one call may have, as in the kernel.
const MAX_PIECES: usize = 1024;
/// Pieces that are looked at together; calls with more go piece by piece, in runs of this many.
const RUN: usize = super::direct::MAX_PIECES;

const RWF_HIPRI: c_int = 1;
const RWF_DSYNC: c_int = 2;
const RWF_SYNC: c_int = 4;
const RWF_NOWAIT: c_int = 8;
const RWF_APPEND: c_int = 16;

/// Copies up to [`RUN`] of the program's `iovec`s, from number `at`.
fn pieces(iov: *const iovec, at: usize, out: &mut [IoPart; RUN], count: usize) -> Result<usize, Errno> {
    let n = (count - at).min(RUN);
    let bytes = n * size_of::<iovec>();
    let mut raw = [[0usize; 2]; RUN];
    // SAFETY: `raw` has room; the program's array may be invalid, which the copy finds out.
    let left = unsafe {
        millpond_segment::copy::copy(raw.as_mut_ptr() as usize, iov as usize + at * size_of::<iovec>(), bytes)
    };
    if left > 0 {
        return Err(Errno(libc::EFAULT));
    }
    for (part, [base, len]) in out.iter_mut().zip(raw).take(n) {
        if len > isize::MAX as usize {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: the program's memory is referenced by nothing of ours.
        *part = unsafe { IoPart::of_program(base, len) };
    }
    Ok(n)
}

/// Runs `step` over the pieces, run by run, until one comes out short; it gets the memory and the bytes done before.
fn over_runs(
    iov: *const iovec,
    count: c_int,
    start: off_t,
    mut step: impl FnMut(&Vectored<'_>, usize) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    if count < 0 || count as usize > MAX_PIECES {
        return Err(Errno(libc::EINVAL));
    }
    let count = count as usize;
    let total = check_lengths(iov, count)?;
    data::check_end(start as u64, total as u64)?;
    let (mut at, mut done) = (0, 0);
    loop {
        let mut parts = [IoPart::default(); RUN];
        let n = pieces(iov, at, &mut parts, count)?;
        let mut room = MAX_COUNT - done;
        for part in &mut parts[..n] {
            let keep = part.len().min(room);
            // SAFETY: a part of the same memory.
            *part = unsafe { IoPart::of_program(part.base(), keep) };
            room -= keep;
        }
        let run = Vectored::new(&parts[..n]);
        match step(&run, done) {
            Ok(moved) => {
                done += moved;
                at += n;
                if moved < run.total() || at == count {
                    return Ok(done);
                }
            }
            Err(e) => return if done > 0 { Ok(done) } else { Err(e) },
        }
    }
}

/// Refuses what the kernel refuses: lengths whose sum overflows.
fn check_lengths(iov: *const iovec, count: usize) -> Result<usize, Errno> {
    let (mut at, mut total) = (0, 0usize);
    while at < count {
        let mut parts = [IoPart::default(); RUN];
        let n = pieces(iov, at, &mut parts, count)?;
        for part in &parts[..n] {
            total = total
                .checked_add(part.len())
                .filter(|&t| t <= isize::MAX as usize)
                .ok_or(Errno(libc::EINVAL))?;
        }
        at += n;
    }
    Ok(total)
}

/// Whether a call on a file that the kernel serves has more pieces than go along in one call of ours.
fn is_long(m: &Managed, count: c_int) -> bool {
    m.is_direct() && count as usize > RUN && count as usize <= MAX_PIECES
}

/// Where the description stands.
fn here(m: &Managed) -> off_t {
    m.d().offset.load(std::sync::atomic::Ordering::SeqCst) as off_t
}

/// `readv`.
pub fn readv(fd: c_int, iov: *const iovec, count: c_int) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if is_long(&m, count) {
        return by_kernel(&m, libc::SYS_preadv2, iov, count, -1, 0);
    }
    if !m.has(flags::READ) {
        return Some(returned(Err(Errno(libc::EBADF))));
    }
    Some(returned(over_runs(iov, count, here(&m), |run, _| data::read_here(&m, run))))
}

/// `writev`.
pub fn writev(fd: c_int, iov: *const iovec, count: c_int) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if is_long(&m, count) {
        return by_kernel(&m, libc::SYS_pwritev2, iov, count, -1, 0);
    }
    Some(returned(write_runs(&m, iov, count, None, false, false)))
}

/// `preadv`.
pub fn preadv(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if offset >= 0 && is_long(&m, count) {
        return by_kernel(&m, libc::SYS_preadv2, iov, count, offset, 0);
    }
    Some(returned(read_runs_at(&m, iov, count, offset)))
}

/// `pwritev`.
pub fn pwritev(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if offset >= 0 && is_long(&m, count) {
        return by_kernel(&m, libc::SYS_pwritev2, iov, count, offset, 0);
    }
    Some(returned(write_runs(&m, iov, count, Some(offset), false, false)))
}

fn read_runs_at(m: &Managed, iov: *const iovec, count: c_int, offset: off_t) -> Result<usize, Errno> {
    if offset < 0 {
        return Err(Errno(libc::EINVAL));
    }
    if !m.has(flags::READ) {
        return Err(Errno(libc::EBADF));
    }
    over_runs(iov, count, offset, |run, done| data::read_at(m, run, offset + done as off_t))
}

fn write_runs(
    m: &Managed,
    iov: *const iovec,
    count: c_int,
    offset: Option<off_t>,
    append: bool,
    sync: bool,
) -> Result<usize, Errno> {
    if offset.is_some_and(|o| o < 0) {
        return Err(Errno(libc::EINVAL));
    }
    if !m.has(flags::WRITE) {
        return Err(Errno(libc::EBADF));
    }
    if count as usize > RUN && (append || m.has(flags::APPEND)) && (count as usize) <= MAX_PIECES {
        // Several runs could be parted by another appender: the kernel keeps them together.
        let call = |offset: usize| {
            let rwf = if append { RWF_APPEND } else { 0 };
            // SAFETY: the program's own arguments, which the kernel checks.
            unsafe {
                sys::syscall(
                    libc::SYS_pwritev2,
                    [
                        m.fd as usize,
                        iov as usize,
                        count as usize,
                        offset,
                        if offset == usize::MAX { usize::MAX } else { 0 },
                        rwf as usize,
                    ],
                )
            }
        };
        return match offset {
            Some(offset) => m.around_kernel(Reason::Vector, || call(offset as usize))?,
            None => m.with_kernel_offset(Reason::Vector, || call(usize::MAX))?,
        };
    }
    over_runs(iov, count, offset.unwrap_or_else(|| here(m)), |run, done| match offset {
        Some(offset) => data::write_at(m, run, offset + done as off_t, append, sync),
        None => data::write_here(m, run, append, sync),
    })
}

/// `preadv2`. An offset of -1 is the descriptor's own.
pub fn preadv2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if rwf & !(RWF_HIPRI | RWF_NOWAIT) != 0 {
        return by_kernel(&m, libc::SYS_preadv2, iov, count, offset, rwf);
    }
    if offset == -1 {
        readv(fd, iov, count)
    } else {
        preadv(fd, iov, count, offset)
    }
}

/// `pwritev2`. An offset of -1 is the descriptor's own.
pub fn pwritev2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> Option<ssize_t> {
    let m = managed::get(fd)?;
    if rwf & !(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND) != 0 {
        return by_kernel(&m, libc::SYS_pwritev2, iov, count, offset, rwf);
    }
    let offset = (offset != -1).then_some(offset);
    Some(returned(write_runs(
        &m,
        iov,
        count,
        offset,
        rwf & RWF_APPEND != 0,
        rwf & (RWF_DSYNC | RWF_SYNC) != 0,
    )))
}

/// Flags that the pool does not serve are the kernel's to judge.
fn by_kernel(
    m: &Managed,
    number: i64,
    iov: *const iovec,
    count: c_int,
    offset: off_t,
    rwf: c_int,
) -> Option<ssize_t> {
    let high = if offset == -1 { usize::MAX } else { 0 };
    // SAFETY: the program's own arguments, which the kernel checks.
    let call = || unsafe {
        sys::syscall(
            number,
            [m.fd as usize, iov as usize, count as usize, offset as usize, high, rwf as usize],
        )
    };
    let result = if offset == -1 {
        m.with_kernel_offset(Reason::Vector, call)
    } else {
        m.around_kernel(Reason::Vector, call)
    };
    Some(returned(result.and_then(|r| r)))
}
