//! `read`, `write` and their kin.

use super::{direct, judged};
use crate::errno::returned;
use crate::managed::{self, Managed};
use libc::{c_int, c_void, off_t, size_t, ssize_t};
use millpond_pool::{Failure, Store};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::{sys, Errno, Flat, UserMemory};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};

/// Most bytes that one call moves, as in the kernel: `INT_MAX` less a page.
pub const MAX_COUNT: usize = 0x7fff_f000;
/// Files end below this, so that no file system's own limit is met in the pool.
const SIZE_LIMIT: u64 = 1 << 42;

/// Longest first write that is flushed at once, in bytes.
const AT_ONCE: u64 = 64 << 10;

/// `RLIMIT_FSIZE` or [`SIZE_LIMIT`], whichever is lower.
static LIMIT: AtomicU64 = AtomicU64::new(SIZE_LIMIT);

/// Asks for the limit on file size again.
pub fn note_size_limit() {
    if crate::process::is_locked_in() {
        return;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: asks only, with room for the answer.
    let asked = unsafe {
        sys::syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, 0, &raw mut limit as usize, 0, 0])
    };
    if asked.is_ok() {
        LIMIT.store(limit.rlim_cur.min(SIZE_LIMIT), Relaxed);
    }
}

/// Whether a file of `size` bytes reaches beyond what this process may write: bytes that others wrote there, or it wrote itself under another limit,
/// are not its to flush.
#[inline]
pub fn is_over_limit(size: u64) -> bool {
    size > LIMIT.load(Relaxed)
}

/// The error number of a failure.
pub fn errno_of(failure: Failure) -> Errno {
    match failure {
        Failure::Fault => Errno(libc::EFAULT),
        Failure::Errno(e) => e,
        Failure::Limit => Errno(libc::EFBIG),
    }
}

/// Refuses what the kernel refuses: a range whose end is no offset.
#[inline]
pub fn check_end(offset: u64, len: u64) -> Result<(), Errno> {
    match offset.checked_add(len) {
        Some(end) if end <= i64::MAX as u64 => Ok(()),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// The first read of a description lets the kernel set the file's time of access, as it does itself unless the mount or the descriptor says otherwise.
/// A read at the end does that, and fetches nothing.
#[inline]
fn touch(m: &Managed, wanted: u64) {
    if !m.has(flags::TOUCHED) {
        touch_at_end(m, wanted > 0);
    }
}

#[cold]
fn touch_at_end(m: &Managed, moves: bool) {
    // Whether a read of nothing counts is the file system's to say, each time.
    if moves {
        m.d().flags.fetch_or(flags::TOUCHED, Relaxed);
    }
    let mut byte = 0u8;
    let arguments =
        [m.fd as usize, &raw mut byte as usize, moves.into(), m.f().size.load(Relaxed) as usize, 0, 0];
    // SAFETY: nothing refers to the byte while the kernel may write it.
    let _ = unsafe { sys::syscall(libc::SYS_pread64, arguments) };
}

/// Reads at the description's offset.
#[inline]
pub fn read_here(m: &Managed, to: &impl UserMemory) -> Result<usize, Errno> {
    if !m.has(flags::READ) {
        return Err(Errno(libc::EBADF));
    }
    if m.is_direct() {
        return direct::read_here(m, to);
    }
    let wanted = to.total() as u64;
    touch(m, wanted);
    let d = m.d();
    let mut asked = false;
    loop {
        let offset = d.offset.load(SeqCst);
        check_end(offset, wanted)?;
        let there = m.f().size.load(Acquire).saturating_sub(offset).min(wanted);
        if there == 0 {
            // At the end: somebody outside may have appended.
            if asked || wanted == 0 {
                return Ok(0);
            }
            asked = true;
            m.pool.revalidate(m.who, m.file, &m.store());
            continue;
        }
        // Claimed before the copy, so that no lock is held over it.
        if !m.pool.move_offset(m.description, offset, offset + there) {
            continue;
        }
        let result = m.pool.read(m.who, m.file, &m.store(), to, offset);
        let done = result.unwrap_or(0) as u64;
        if done < there {
            m.pool.move_offset(m.description, offset + there, offset + done);
        }
        return result.map_err(errno_of);
    }
}

/// Reads at `offset`.
#[inline]
pub fn read_at(m: &Managed, to: &impl UserMemory, offset: off_t) -> Result<usize, Errno> {
    if offset < 0 {
        return Err(Errno(libc::EINVAL));
    }
    if !m.has(flags::READ) {
        return Err(Errno(libc::EBADF));
    }
    check_end(offset as u64, to.total() as u64)?;
    if m.is_direct() {
        return direct::read_at(m, to, offset);
    }
    touch(m, to.total() as u64);
    let result = m.pool.read(m.who, m.file, &m.store(), to, offset as u64);
    if result == Ok(0) && to.total() > 0 {
        m.pool.revalidate(m.who, m.file, &m.store());
        return m.pool.read(m.who, m.file, &m.store(), to, offset as u64).map_err(errno_of);
    }
    result.map_err(errno_of)
}

/// Who takes a write.
enum Taker {
    /// The pool.
    Pool,
    /// The pool, with a flush right behind: the first write of a description. Most files are written once and closed; those need no
    /// descriptor at the coordinator, for nothing of them waits in memory when the call returns.
    PoolAtOnce,
    /// The kernel, as it serves the whole file.
    Direct,
    /// The kernel, for this call: a limit is in the way, and what happens there is its to say.
    Kernel,
}

/// What must be so before bytes are taken into the pool.
#[inline]
fn taker(m: &Managed, end: u64, len: u64) -> Result<Taker, Errno> {
    if !m.has(flags::WRITE) {
        return Err(Errno(libc::EBADF));
    }
    if m.is_direct() {
        return Ok(Taker::Direct);
    }
    if is_over_limit(end.max(m.f().size.load(Relaxed))) {
        return Ok(Taker::Kernel);
    }
    if !m.has(flags::WROTE) {
        m.d().flags.fetch_or(flags::WROTE, Relaxed);
        if len <= AT_ONCE && m.f().handed.load(SeqCst) == 0 && m.store().writable() {
            return Ok(Taker::PoolAtOnce);
        }
    }
    if !m.ensure_kept() {
        m.make_direct(Reason::NoCoordinator)?;
        return Ok(Taker::Direct);
    }
    Ok(Taker::Pool)
}

/// Why a write that the pool refused is the kernel's, if it is: what a bad pointer does beyond the end of a file differs between kernels, and what
/// happens at a limit is the kernel's to say. Another appender may have moved the end there after the look at it.
#[inline]
fn left_to_kernel<T>(result: &Result<T, Failure>) -> Option<Reason> {
    match result {
        Err(Failure::Fault) => Some(Reason::BadPointer),
        Err(Failure::Limit) => Some(Reason::Limit),
        _ => None,
    }
}

/// Says that a file of `before` bytes was written up to `end`, if anything was.
#[inline]
fn grown(m: &Managed, before: u64, end: u64, result: Result<usize, Errno>) -> Result<usize, Errno> {
    if result.is_ok() {
        m.push_behind(before, end);
    }
    result
}

/// Writes out what was written, if it was a first write; makes it durable, if the descriptor or the call says so.
fn settle(m: &Managed, at_once: bool, sync: bool, result: Result<usize, Errno>) -> Result<usize, Errno> {
    if at_once && result.is_ok_and(|n| n > 0) {
        // What cannot be written now waits in memory after all, latched, and needs its descriptor at the coordinator.
        if let Err(e) = m.flush() {
            if !m.ensure_kept() {
                return Err(e);
            }
        }
    }
    if sync && result.is_ok_and(|n| n > 0) {
        m.flush()?;
        if !m.has(flags::SYNC) {
            sys::fsync(m.fd, false)?;
        }
    }
    result
}

/// One write by the kernel at the description's offset, or at the end.
#[cold]
fn by_kernel_here(
    m: &Managed,
    reason: Reason,
    from: &impl UserMemory,
    append: bool,
    appends: bool,
) -> Result<usize, Errno> {
    m.around_append(appends, || m.around_kernel(reason, || direct::write_here(m, from, append)))?
}

/// One write by the kernel at `offset`, or at the end.
#[cold]
fn by_kernel_at(
    m: &Managed,
    reason: Reason,
    from: &impl UserMemory,
    offset: off_t,
    append: bool,
    appends: bool,
) -> Result<usize, Errno> {
    m.around_append(appends, || m.around_kernel(reason, || direct::write_at(m, from, offset, append)))?
}

/// Writes at the description's offset, or at the end if it appends or `append` is set.
#[inline]
pub fn write_here(m: &Managed, from: &impl UserMemory, append: bool, sync: bool) -> Result<usize, Errno> {
    let len = from.total() as u64;
    let appends = append || m.has(flags::APPEND);
    let d = m.d();
    loop {
        let offset = if appends { m.f().size.load(Acquire) } else { d.offset.load(SeqCst) };
        if len == 0 {
            return if m.has(flags::WRITE) { Ok(0) } else { Err(Errno(libc::EBADF)) };
        }
        let taker = taker(m, offset.saturating_add(len), len)?;
        let at_once = matches!(taker, Taker::PoolAtOnce);
        match taker {
            Taker::Pool | Taker::PoolAtOnce => {}
            Taker::Direct => match m.pool.begin_direct_write(m.who, m.file, appends) {
                Some(_write) => return direct::write_here(m, from, append),
                None => continue,
            },
            Taker::Kernel => return by_kernel_here(m, Reason::Limit, from, append, appends),
        }
        if appends {
            check_end(d.offset.load(SeqCst), len)?;
            let before = d.offset.load(SeqCst);
            let result = m.pool.append(m.who, m.file, &m.store(), from, LIMIT.load(Relaxed));
            if let Some(reason) = left_to_kernel(&result) {
                return by_kernel_here(m, reason, from, append, appends);
            }
            let result = result.map_err(errno_of);
            if let Ok((_, end)) = result {
                m.pool.move_offset(m.description, before, end);
                m.push_behind(offset, end);
            }
            return settle(m, at_once, sync || m.has(flags::SYNC), result.map(|(n, _)| n));
        }
        check_end(offset, len)?;
        if !m.pool.move_offset(m.description, offset, offset + len) {
            continue;
        }
        let size = m.f().size.load(Relaxed);
        let result = m.pool.write(m.who, m.file, &m.store(), from, offset);
        let done = result.unwrap_or(0) as u64;
        if done < len {
            m.pool.move_offset(m.description, offset + len, offset + done);
        }
        if let Some(reason) = left_to_kernel(&result) {
            return by_kernel_here(m, reason, from, append, appends);
        }
        let result = grown(m, size, offset + done, result.map_err(errno_of));
        return settle(m, at_once, sync || m.has(flags::SYNC), result);
    }
}

/// Writes at `offset`; at the end if the descriptor appends, as Linux does.
#[inline]
pub fn write_at(
    m: &Managed,
    from: &impl UserMemory,
    offset: off_t,
    append: bool,
    sync: bool,
) -> Result<usize, Errno> {
    if offset < 0 {
        return Err(Errno(libc::EINVAL));
    }
    let len = from.total() as u64;
    let appends = append || m.has(flags::APPEND);
    if len == 0 {
        return if m.has(flags::WRITE) { Ok(0) } else { Err(Errno(libc::EBADF)) };
    }
    if m.has(flags::WRITE) {
        check_end(offset as u64, len)?;
    }
    let (at, at_once) = loop {
        let at = if appends { m.f().size.load(Acquire) } else { offset as u64 };
        match taker(m, at.saturating_add(len), len)? {
            Taker::Pool => break (at, false),
            Taker::PoolAtOnce => break (at, true),
            Taker::Direct => {
                if let Some(_write) = m.pool.begin_direct_write(m.who, m.file, appends) {
                    return direct::write_at(m, from, offset, append);
                }
            }
            Taker::Kernel => return by_kernel_at(m, Reason::Limit, from, offset, append, appends),
        }
    };
    let size = m.f().size.load(Relaxed);
    let result = if appends {
        m.pool.append(m.who, m.file, &m.store(), from, LIMIT.load(Relaxed)).map(|(n, _)| n)
    } else {
        m.pool.write(m.who, m.file, &m.store(), from, offset as u64)
    };
    if let Some(reason) = left_to_kernel(&result) {
        return by_kernel_at(m, reason, from, offset, append, appends);
    }
    let result = grown(m, size, at + result.unwrap_or(0) as u64, result.map_err(errno_of));
    settle(m, at_once, sync || m.has(flags::SYNC), result)
}

/// One buffer of the program.
#[inline]
fn flat<'a>(buf: *const c_void, len: size_t) -> Flat<'a> {
    // SAFETY: the program's memory is referenced by nothing of ours; that it may be invalid is dealt with in the copy.
    unsafe { Flat::new(buf as usize, len.min(MAX_COUNT)) }
}

/// `read`.
#[inline]
pub fn read(fd: c_int, buf: *mut c_void, len: size_t) -> Option<ssize_t> {
    let m = managed::for_data(fd)?;
    if judged::is_odd(buf as usize, len, judged::here(&m)) {
        return judged::here_by_kernel(&m, libc::SYS_read, [buf as usize, len]);
    }
    Some(returned(read_here(&m, &flat(buf, len))))
}

/// `write`.
#[inline]
pub fn write(fd: c_int, buf: *const c_void, len: size_t) -> Option<ssize_t> {
    let m = managed::for_data(fd)?;
    if judged::is_odd(buf as usize, len, judged::here(&m)) {
        return judged::here_by_kernel(&m, libc::SYS_write, [buf as usize, len]);
    }
    Some(returned(write_here(&m, &flat(buf, len), false, false)))
}

/// `pread`.
#[inline]
pub fn pread(fd: c_int, buf: *mut c_void, len: size_t, offset: off_t) -> Option<ssize_t> {
    let m = managed::for_data(fd)?;
    if judged::is_odd(buf as usize, len, offset as u64) {
        return judged::at_by_kernel(&m, libc::SYS_pread64, [buf as usize, len], offset);
    }
    Some(returned(read_at(&m, &flat(buf, len), offset)))
}

/// `pwrite`.
#[inline]
pub fn pwrite(fd: c_int, buf: *const c_void, len: size_t, offset: off_t) -> Option<ssize_t> {
    let m = managed::for_data(fd)?;
    if judged::is_odd(buf as usize, len, offset as u64) {
        return judged::at_by_kernel(&m, libc::SYS_pwrite64, [buf as usize, len], offset);
    }
    Some(returned(write_at(&m, &flat(buf, len), offset, false, false)))
}

/// `__read_chk`: a length beyond the buffer is libc's to complain about.
pub fn read_checked(fd: c_int, buf: *mut c_void, len: size_t, room: size_t) -> Option<ssize_t> {
    if len > room {
        None
    } else {
        read(fd, buf, len)
    }
}

/// `__pread_chk`, likewise.
pub fn pread_checked(
    fd: c_int,
    buf: *mut c_void,
    len: size_t,
    offset: off_t,
    room: size_t,
) -> Option<ssize_t> {
    if len > room {
        None
    } else {
        pread(fd, buf, len, offset)
    }
}
