//! Calls that are the kernel's to judge: flags that the pool does not serve, and memory that the kernel refuses for where it lies, before it looks at
//! what is there.

use super::data::{check_end, MAX_COUNT};
use crate::errno::returned;
use crate::managed::Managed;
use libc::{c_int, c_long, iovec, off_t, ssize_t};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::{sys, Errno};
use std::sync::atomic::Ordering::SeqCst;

const RWF_APPEND: c_int = 16;

/// Where a program's memory ends with four levels of page tables. What lies beyond is refused at once by most kernels, and is memory to those with
/// five levels.
const MEMORY_END: usize = (1 << 47) - 4096;

/// Whether the kernel may refuse `len` bytes at `base` for where they lie.
#[inline]
pub fn is_far(base: usize, len: usize) -> bool {
    base.checked_add(len).is_none_or(|end| end > MEMORY_END)
}

/// Whether one call of `len` bytes at `base`, to be moved at `offset` of the file, is refused for its numbers alone. The kernel looks at the length
/// that it is given, before it cuts it to what one call moves.
#[inline]
pub fn is_odd(base: usize, len: usize, offset: u64) -> bool {
    is_far(base, len) || len > MAX_COUNT && check_end(offset, len as u64).is_err()
}

/// Where the description stands.
#[inline]
pub fn here(m: &Managed) -> u64 {
    m.d().offset.load(SeqCst)
}

/// Whether a call writes at the end of the file.
fn appends(m: &Managed, number: c_long, rwf: c_int) -> bool {
    matches!(number, libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_pwritev2)
        && (rwf & RWF_APPEND != 0 || m.has(flags::APPEND))
}

/// The call `number` at the description's own offset.
#[cold]
pub fn here_by_kernel(m: &Managed, number: c_long, rest: [usize; 2]) -> Option<ssize_t> {
    // SAFETY: the program's own arguments, which the kernel checks.
    let call = || unsafe { sys::syscall(number, [m.fd as usize, rest[0], rest[1], 0, 0, 0]) };
    let around = || m.with_kernel_offset(Reason::BadPointer, call).and_then(|r| r);
    Some(returned(m.around_append(appends(m, number, 0), around)))
}

/// The call `number` at an offset of the program's.
#[cold]
pub fn at_by_kernel(m: &Managed, number: c_long, rest: [usize; 2], offset: off_t) -> Option<ssize_t> {
    // SAFETY: the program's own arguments, which the kernel checks.
    let call = || unsafe { sys::syscall(number, [m.fd as usize, rest[0], rest[1], offset as usize, 0, 0]) };
    let around = || m.around_kernel(Reason::BadPointer, call).and_then(|r| r);
    Some(returned(m.around_append(appends(m, number, 0), around)))
}

/// `preadv2` or `pwritev2`; an offset of -1 is the description's own.
#[cold]
pub fn vector_by_kernel(
    m: &Managed,
    number: c_long,
    iov: *const iovec,
    count: c_int,
    offset: off_t,
    rwf: c_int,
) -> Result<usize, Errno> {
    let high = if offset == -1 { usize::MAX } else { 0 };
    // SAFETY: the program's own arguments, which the kernel checks.
    let call = || unsafe {
        sys::syscall(
            number,
            [m.fd as usize, iov as usize, count as usize, offset as usize, high, rwf as usize],
        )
    };
    let around = || {
        if offset == -1 {
            m.with_kernel_offset(Reason::Vector, call)
        } else {
            m.around_kernel(Reason::Vector, call)
        }
    };
    m.around_append(appends(m, number, rwf), around).and_then(|r| r)
}
