//! Memory for trampolines within reach of libc's text.
//!
//! What holds here: one mapping, writable until it is sealed and executable from then on, never both.

use std::ffi::c_void;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{mmap_anonymous, mprotect, munmap, MapFlags, MprotectFlags, ProtFlags};

use super::image::Span;
use super::outcome::PatchError;

/// The page size of x86-64.
pub const PAGE: usize = 4096;

/// How far a 32-bit displacement reaches, less what the last bytes of a slot and of the text may need.
const REACH: usize = (1 << 31) - (1 << 20);

/// The distance between the places that are tried when the kernel's own choice is too far away.
const STRIDE: usize = 32 << 20;

/// A mapping near the text; unmapped when dropped unless it was kept.
pub struct Arena {
    start: usize,
    len: usize,
}

impl Arena {
    /// Maps `len` bytes such that every byte of them and of `text` reach each other.
    pub fn near(text: Span, len: usize) -> Result<Self, PatchError> {
        let len = len.next_multiple_of(PAGE).max(PAGE);
        let mut refused = match Self::map(0, len, MapFlags::PRIVATE) {
            // The kernel maps next to what it mapped before, which is next to libc but for huge programs.
            Ok(arena) if arena.reaches(text) => return Ok(arena),
            Ok(_) => Errno::NOMEM,
            Err(errno) => errno,
        };
        let page = text.start & !(PAGE - 1);
        for step in 1..REACH / STRIDE {
            for place in
                [page.checked_sub(step * STRIDE), page.checked_add(step * STRIDE)].into_iter().flatten()
            {
                match Self::map(place, len, MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE) {
                    // Kernels before 4.17 take the address as a hint only.
                    Ok(arena) if arena.reaches(text) => return Ok(arena),
                    Ok(_) => {}
                    Err(errno) => refused = errno,
                }
            }
        }
        Err(PatchError::NoRoom(refused.raw_os_error()))
    }

    fn map(at: usize, len: usize, flags: MapFlags) -> Result<Self, Errno> {
        let hint = ptr::without_provenance_mut::<c_void>(at);
        // SAFETY: a new private mapping that replaces nothing.
        let start = unsafe { mmap_anonymous(hint, len, ProtFlags::READ | ProtFlags::WRITE, flags)? };
        Ok(Self { start: start as usize, len })
    }

    fn reaches(&self, text: Span) -> bool {
        let far_end = text.end.max(self.start + self.len);
        far_end - text.start.min(self.start) < REACH
    }

    /// Its first address.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Copies `bytes` to `at`, an address in the arena.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(self.start <= at && at + bytes.len() <= self.start + self.len);
        // SAFETY: the target lies in the mapping, which is writable until `seal` and used by nobody else.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    }

    /// Makes the arena executable and no longer writable.
    pub fn seal(&mut self) -> Result<(), PatchError> {
        let flags = MprotectFlags::READ | MprotectFlags::EXEC;
        // SAFETY: the mapping is ours.
        unsafe { mprotect(self.start as *mut c_void, self.len, flags) }
            .map_err(|errno| PatchError::Protect(errno.raw_os_error()))
    }

    /// Leaves it mapped for the rest of the process.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing jumps there yet. A failure only leaves it mapped.
        let _ = unsafe { munmap(self.start as *mut c_void, self.len) };
    }
}
