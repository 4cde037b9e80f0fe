//! `readv`, `writev` and their kin.

use super::data::{self, MAX_COUNT};
use super::judged;
use crate::errno::returned;
use crate::managed::{self, Managed};
use libc::{c_int, iovec, off_t, ssize_t};
use millpond_segment::description::flags;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{Errno, UserMemory, Vectored};
use std::sync::atomic::Ordering::Acquire;

/// Pieces that one call may have, as in the kernel.
const MAX_PIECES: usize = 1024;
/// Pieces that are looked at together; calls with more go piece by piece, in runs of this many.
const RUN: usize = super::direct::MAX_PIECES;

/// Stands for a call that the kernel has to judge.
const FAR: Errno = Errno(4094);

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
    start: u64,
    mut step: impl FnMut(&Vectored<'_>, usize) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    if count < 0 || count as usize > MAX_PIECES {
        return Err(Errno(libc::EINVAL));
    }
    let count = count as usize;
    let total = total_of(iov, count)?;
    data::check_end(start, total as u64)?;
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

/// Bytes of all pieces together, as many as one call moves.
///
/// # Errors
/// What the kernel refuses; [`FAR`] for what it has to judge.
fn total_of(iov: *const iovec, count: usize) -> Result<usize, Errno> {
    let (mut at, mut total, mut far) = (0, 0usize, false);
    while at < count {
        let mut parts = [IoPart::default(); RUN];
        let n = pieces(iov, at, &mut parts, count)?;
        for part in &parts[..n] {
            total = total.saturating_add(part.len());
            far |= judged::is_far(part.base(), part.len());
        }
        at += n;
    }
    if far {
        Err(FAR)
    } else {
        Ok(total.min(MAX_COUNT))
    }
}

/// Whether a call on a file that the kernel serves has more pieces than go along in one call of ours.
fn is_long(m: &Managed, count: c_int) -> bool {
    m.is_direct() && count as usize > RUN && count as usize <= MAX_PIECES
}

/// What is asked for: the pieces, and where in the file; `None` is the description's own offset.
#[derive(Clone, Copy)]
struct Asked {
    iov: *const iovec,
    count: c_int,
    offset: Option<off_t>,
    rwf: c_int,
}

impl Asked {
    /// Has the kernel do it.
    #[cold]
    fn by_kernel(self, m: &Managed, number: i64) -> Result<usize, Errno> {
        judged::vector_by_kernel(m, number, self.iov, self.count, self.offset.unwrap_or(-1), self.rwf)
    }

    /// Whether it moves the description's offset and goes in several steps, between which somebody else could move it too.
    fn is_stepwise(self) -> bool {
        self.offset.is_none() && self.count > RUN as c_int && self.count as usize <= MAX_PIECES
    }

    fn read(self, fd: c_int) -> Option<ssize_t> {
        let m = managed::for_data(fd)?;
        let result = match self.is_stepwise() && m.has(flags::READ) && !m.has(flags::DIRECT) {
            true => self.at_claimed(
                &m,
                |total, here| size_of_file(&m).saturating_sub(here).min(total),
                Self::read_by,
            ),
            false => None,
        };
        Some(returned(result.unwrap_or_else(|| self.read_by(&m))))
    }

    fn read_by(self, m: &Managed) -> Result<usize, Errno> {
        match self.read_from_pool(m) {
            Err(FAR) => self.by_kernel(m, libc::SYS_preadv2),
            other => other,
        }
    }

    /// Claims the bytes that it will move, so that other threads and processes of the description go on behind them, and moves them. `None` when
    /// there is nothing to claim.
    fn at_claimed(
        self,
        m: &Managed,
        most: impl Fn(u64, u64) -> u64,
        by: impl Fn(Self, &Managed) -> Result<usize, Errno>,
    ) -> Option<Result<usize, Errno>> {
        let total = total_of(self.iov, self.count as usize).ok()? as u64;
        loop {
            let here = judged::here(m);
            let claimed = most(total, here);
            data::check_end(here, total).ok().filter(|()| claimed > 0)?;
            if !m.pool.move_offset(m.description, here, here + claimed) {
                continue;
            }
            let result = by(Self { offset: Some(here as off_t), ..self }, m);
            let done = result.unwrap_or(0) as u64;
            if done == claimed || m.pool.move_offset(m.description, here + claimed, here + done) {
                return Some(result);
            }
            // Somebody else goes on behind what was claimed: what has come since is his.
            return Some(result.map(|done| done.min(claimed as usize)));
        }
    }

    fn read_from_pool(self, m: &Managed) -> Result<usize, Errno> {
        if self.offset.is_some_and(|o| o < 0) {
            return Err(Errno(libc::EINVAL));
        }
        if self.rwf & !(RWF_HIPRI | RWF_NOWAIT) != 0 || is_long(m, self.count) {
            return Err(FAR);
        }
        if !m.has(flags::READ) {
            return Err(Errno(libc::EBADF));
        }
        match self.offset {
            Some(offset) => over_runs(self.iov, self.count, offset as u64, |run, done| {
                data::read_at(m, run, offset + done as off_t)
            }),
            None => over_runs(self.iov, self.count, judged::here(m), |run, _| data::read_here(m, run)),
        }
    }

    fn write(self, fd: c_int) -> Option<ssize_t> {
        let m = managed::for_data(fd)?;
        let appends = m.has(flags::APPEND) || self.rwf & RWF_APPEND != 0;
        let result = match self.is_stepwise() && m.has(flags::WRITE) && !appends {
            true => self.at_claimed(&m, |total, _| total, Self::write_by),
            false => None,
        };
        Some(returned(result.unwrap_or_else(|| self.write_by(&m))))
    }

    fn write_by(self, m: &Managed) -> Result<usize, Errno> {
        match self.write_to_pool(m) {
            Err(FAR) => self.by_kernel(m, libc::SYS_pwritev2),
            other => other,
        }
    }

    fn write_to_pool(self, m: &Managed) -> Result<usize, Errno> {
        if self.offset.is_some_and(|o| o < 0) {
            return Err(Errno(libc::EINVAL));
        }
        if self.rwf & !(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND) != 0 || is_long(m, self.count) {
            return Err(FAR);
        }
        if !m.has(flags::WRITE) {
            return Err(Errno(libc::EBADF));
        }
        let append = self.rwf & RWF_APPEND != 0;
        let sync = self.rwf & (RWF_DSYNC | RWF_SYNC) != 0;
        if self.count as usize > RUN && self.count as usize <= MAX_PIECES && (append || m.has(flags::APPEND))
        {
            // Several runs could be parted by another appender: the kernel keeps them together.
            return Err(FAR);
        }
        let start = self.offset.map_or_else(|| judged::here(m), |offset| offset as u64);
        over_runs(self.iov, self.count, start, |run, done| match self.offset {
            Some(offset) => data::write_at(m, run, offset + done as off_t, append, sync),
            None => data::write_here(m, run, append, sync),
        })
    }
}

/// Where the file ends now.
fn size_of_file(m: &Managed) -> u64 {
    if m.is_direct() {
        sys::stat_fd(m.fd).map_or(0, |s| s.stamp.size)
    } else {
        m.f().size.load(Acquire)
    }
}

/// `readv`.
pub fn readv(fd: c_int, iov: *const iovec, count: c_int) -> Option<ssize_t> {
    Asked { iov, count, offset: None, rwf: 0 }.read(fd)
}

/// `writev`.
pub fn writev(fd: c_int, iov: *const iovec, count: c_int) -> Option<ssize_t> {
    Asked { iov, count, offset: None, rwf: 0 }.write(fd)
}

/// `preadv`.
pub fn preadv(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> Option<ssize_t> {
    Asked { iov, count, offset: Some(offset), rwf: 0 }.read(fd)
}

/// `pwritev`.
pub fn pwritev(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> Option<ssize_t> {
    Asked { iov, count, offset: Some(offset), rwf: 0 }.write(fd)
}

/// `preadv2`. An offset of -1 is the descriptor's own.
pub fn preadv2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> Option<ssize_t> {
    Asked { iov, count, offset: (offset != -1).then_some(offset), rwf }.read(fd)
}

/// `pwritev2`. An offset of -1 is the descriptor's own.
pub fn pwritev2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> Option<ssize_t> {
    Asked { iov, count, offset: (offset != -1).then_some(offset), rwf }.write(fd)
}
