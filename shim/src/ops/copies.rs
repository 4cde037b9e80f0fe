//! Copies inside the kernel, and other calls that reach a file past the pool: everything is written first, and taken over afterwards.

use crate::errno::fail;
use crate::managed::{self, Managed};
use crate::peek::value;
use libc::c_int;
use millpond_segment::stats::Reason;
use millpond_segment::Errno;

/// A descriptor in such a call, and whether the call uses its own offset.
#[derive(Clone, Copy)]
pub struct End {
    pub fd: c_int,
    pub own_offset: bool,
}

fn with_end<T>(end: Option<End>, reason: Reason, call: impl FnOnce() -> T) -> Result<T, Errno> {
    let m: Option<Managed> = end.and_then(|e| managed::get(e.fd));
    match (m, end) {
        (Some(m), Some(End { own_offset: true, .. })) => m.with_kernel_offset(reason, call),
        (Some(m), _) => m.around_kernel(reason, call),
        _ => Ok(call()),
    }
}

/// Runs a copy between two ends. A source that is not the target is written first and may stay cached.
pub unsafe fn copy<T: From<i8>>(
    source: Option<End>,
    target: Option<End>,
    reason: Reason,
    call: impl FnOnce() -> T,
) -> T {
    let is_buffered = |end: &Option<End>| end.is_some_and(|e| managed::get(e.fd).is_some());
    if !is_buffered(&source) && !is_buffered(&target) {
        return call();
    }
    let same = match (source.and_then(|e| managed::get(e.fd)), target.and_then(|e| managed::get(e.fd))) {
        (Some(a), Some(b)) => a.file == b.file,
        _ => false,
    };
    // Locks of two files would be taken in either order by two copies: the source is only flushed, with its offset lent.
    let result =
        lend_source(source.filter(|_| !same || source.is_some_and(|s| s.own_offset)), reason, || {
            with_end(target, reason, call)
        });
    match result.and_then(|r| r) {
        Ok(value) => value,
        Err(e) => T::from(fail(e) as i8),
    }
}

/// Writes the source's dirty bytes, sets the kernel's offset for it and takes it over afterwards, without holding its locks over the call.
fn lend_source<T>(source: Option<End>, reason: Reason, call: impl FnOnce() -> T) -> Result<T, Errno> {
    let Some((m, end)) = source.and_then(|e| managed::get(e.fd).map(|m| (m, e))) else { return Ok(call()) };
    m.pool.count_sync_down(m.who, reason);
    m.flush()?;
    if !end.own_offset {
        return Ok(call());
    }
    use millpond_segment::sys::lseek;
    use std::sync::atomic::Ordering::SeqCst;
    let before = m.d().offset.load(SeqCst);
    let _ = lseek(m.fd, before as i64, libc::SEEK_SET);
    let result = call();
    crate::errno::preserving(|| {
        if let Ok(after) = lseek(m.fd, 0, libc::SEEK_CUR) {
            m.pool.move_offset(m.description, before, after);
        }
    });
    Ok(result)
}

const FICLONE: u64 = 0x4004_9409;
const FICLONERANGE: u64 = 0x4020_940d;
const FIDEDUPERANGE: u64 = 0xc018_9436;
const FIFREEZE: u64 = 0xc004_5877;
const FIGETBSZ: u64 = 2;
const FIONREAD: u64 = 0x541b;
const FIOQSIZE: u64 = 0x5460;
const LOOP_SET_FD: u64 = 0x4c00;
const LOOP_CHANGE_FD: u64 = 0x4c06;
const LOOP_CONFIGURE: u64 = 0x4c0a;

/// Whether a request is about a terminal or about the descriptor itself, and tells nothing of a file.
fn is_beside_the_file(request: u64) -> bool {
    request == FIGETBSZ || request >> 8 == u64::from(b'T') && !matches!(request, FIONREAD | FIOQSIZE)
}

/// `ioctl`. What is not known to leave the bytes, the size, the offset and the attributes of a file alone is done on what the kernel then has in full.
pub unsafe fn ioctl(fd: c_int, request: u64, argument: usize, call: impl FnOnce() -> c_int) -> c_int {
    // The kernel looks at 32 bits.
    let request = request & 0xffff_ffff;
    // SAFETY: a plain number, of which any bytes are a value.
    let named = || unsafe { value::<c_int>(argument) }.unwrap_or(-1);
    let target = End { fd, own_offset: false };
    match request {
        FICLONE | FICLONERANGE => {
            let source = if request == FICLONE { argument as c_int } else { named() };
            // SAFETY: as the caller's.
            unsafe { copy(Some(End { fd: source, own_offset: false }), Some(target), Reason::Ioctl, call) }
        }
        FIDEDUPERANGE => {
            // The other side stands in a structure of the program's: all that this process has open is written.
            managed::flush_all();
            // SAFETY: as the caller's.
            unsafe { copy(None, Some(target), Reason::Ioctl, call) }
        }
        FIFREEZE => {
            super::durability::before_sync();
            call()
        }
        LOOP_SET_FD | LOOP_CHANGE_FD | LOOP_CONFIGURE => {
            let backing = if request == LOOP_CONFIGURE { named() } else { argument as c_int };
            if let Some(m) = managed::get(backing) {
                m.release_quietly(Reason::Passed);
            }
            call()
        }
        _ if is_beside_the_file(request) => call(),
        // SAFETY: as the caller's.
        _ => unsafe { copy(None, Some(End { fd, own_offset: true }), Reason::Ioctl, call) },
    }
}
