//! `mmap` and its kin: a mapped file is the kernel's, for every process, until its last mapping has gone.

use crate::errno::{fail, preserving};
use crate::{managed, mapped};
use libc::{c_int, c_void, size_t};
use millpond_segment::stats::Reason;
use std::ops::Range;

/// Bytes of a page of memory. Larger ones would only make the table here less exact in ranges that nobody can map apart.
const PAGE: usize = 4096;

fn pages(address: *mut c_void, len: usize) -> Range<usize> {
    let start = address as usize;
    start..start.saturating_add(len.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX))
}

/// `mmap`: `call` is the real one.
#[inline]
pub fn mmap(
    call: impl FnOnce() -> *mut c_void,
    address: *mut c_void,
    len: size_t,
    map_flags: c_int,
    fd: c_int,
) -> *mut c_void {
    let of_file = fd >= 0 && map_flags & libc::MAP_ANONYMOUS == 0;
    let over = map_flags & libc::MAP_FIXED != 0 && mapped::any();
    if !of_file && !over {
        return call();
    }
    if over {
        preserving(|| mapped::before_removal(&pages(address, len)));
    }
    let m = if of_file { managed::entry(fd) } else { None };
    let Some(m) = m else {
        let result = call();
        if over && result != libc::MAP_FAILED {
            preserving(|| mapped::removed(&pages(result, len)));
        }
        return result;
    };
    let announced = mapped::announce(&m);
    if let Err(e) = preserving(|| m.make_direct(Reason::Mapping)) {
        mapped::retract(&announced);
        fail(e);
        return libc::MAP_FAILED;
    }
    let result = call();
    preserving(|| match result {
        libc::MAP_FAILED => mapped::retract(&announced),
        place => mapped::confirm(&announced, pages(place, len)),
    });
    result
}

/// `munmap`: `call` is the real one.
#[inline]
pub fn munmap(call: impl FnOnce() -> c_int, address: *mut c_void, len: size_t) -> c_int {
    if !mapped::any() {
        return call();
    }
    let place = pages(address, len);
    preserving(|| mapped::before_removal(&place));
    let result = call();
    if result == 0 {
        preserving(|| mapped::removed(&place));
    }
    result
}

/// `mremap`: `call` is the real one.
pub fn mremap(
    call: impl FnOnce() -> *mut c_void,
    old: (*mut c_void, size_t),
    new_len: size_t,
    flags: c_int,
    target: *mut c_void,
) -> *mut c_void {
    if !mapped::any() {
        return call();
    }
    let from = pages(old.0, old.1);
    preserving(|| {
        mapped::before_removal(&from);
        if flags & libc::MREMAP_FIXED != 0 {
            mapped::before_removal(&pages(target, new_len));
        }
    });
    let result = call();
    if result != libc::MAP_FAILED {
        // An old length of nothing makes a second mapping.
        let kept = old.1 == 0 || flags & libc::MREMAP_DONTUNMAP != 0;
        preserving(|| mapped::moved(&from, &pages(result, new_len), kept));
    }
    result
}
