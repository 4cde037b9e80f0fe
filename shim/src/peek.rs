//! Looks at memory of the program that need not be there: what the kernel would answer with `EFAULT` is left to it.

use libc::c_char;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{copy, Errno};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Bytes of text that are looked at together.
const STEP: usize = 64;
/// Longest text that the kernel takes as a path, with its zero.
const LONGEST: usize = libc::PATH_MAX as usize;

/// A plain structure of the program's, copied; `None` if it is not there.
///
/// # Safety
/// Any bytes must be a value of `T`.
pub unsafe fn value<T: Copy>(address: usize) -> Option<T> {
    let mut there = MaybeUninit::<T>::uninit();
    // SAFETY: the room is ours; the program's memory may be invalid, which the copy finds out. All bytes are written when none is left.
    unsafe {
        let left = copy::copy(there.as_mut_ptr() as usize, address, size_of::<T>());
        (left == 0).then(|| there.assume_init())
    }
}

/// The program's text, if it is there down to its zero and no longer than a path.
pub fn text(at: *const c_char) -> Option<&'static CStr> {
    if at.is_null() {
        return None;
    }
    let mut seen = 0;
    let mut bytes = [0u8; STEP];
    while seen < LONGEST {
        // Never across a boundary that the text itself does not cross.
        let from = at as usize + seen;
        let step = STEP - from % STEP;
        // SAFETY: the room is ours; the program's memory may be invalid, which the copy finds out.
        let left = unsafe { copy::copy(bytes.as_mut_ptr() as usize, from, step) };
        if bytes[..step - left].contains(&0) {
            // SAFETY: a zero was found, and all before it can be read.
            return Some(unsafe { CStr::from_ptr(at) });
        }
        if left > 0 {
            return None;
        }
        seen += step;
    }
    None
}

/// Whether the program's text is there and empty.
pub fn is_empty_text(at: *const c_char) -> bool {
    // SAFETY: a byte has any value.
    !at.is_null() && unsafe { value::<u8>(at as usize) } == Some(0)
}

/// Pointers of a list that are looked at together: a line of the processor's, so that nothing beyond the list is touched that could be missing.
const BATCH: usize = 8;
/// Longest list that is looked at, in pointers; the kernel takes less than that in bytes.
const LONGEST_LIST: usize = 1 << 20;

/// Whether a list of texts that a null ends is there, and the first byte of each text. No list at all counts as an empty one.
pub fn is_list_there(list: *const usize) -> bool {
    const WORD: usize = size_of::<usize>();
    if list.is_null() || !list.is_aligned() {
        return list.is_null();
    }
    let mut at = 0;
    while at < LONGEST_LIST {
        let from = list.wrapping_add(at) as usize;
        let step = BATCH - from / WORD % BATCH;
        let mut pointers = [0usize; BATCH];
        // SAFETY: the room is ours; the program's memory may be invalid, which the copy finds out.
        if unsafe { copy::copy(pointers.as_mut_ptr() as usize, from, step * WORD) } > 0 {
            return false;
        }
        let count = pointers[..step].iter().position(|&text| text == 0);
        let mut parts = [IoPart::default(); BATCH];
        for (part, text) in parts.iter_mut().zip(pointers) {
            // SAFETY: nothing of ours refers to the program's memory.
            *part = unsafe { IoPart::of_program(text, 1) };
        }
        if !are_there(&parts[..count.unwrap_or(step)]) {
            return false;
        }
        if count.is_some() {
            return true;
        }
        at += step;
    }
    true
}

/// Whether all of the pieces, at most [`BATCH`] of one byte each, are there; a kernel that does not say is believed.
fn are_there(parts: &[IoPart]) -> bool {
    let mut bytes = [0u8; BATCH];
    // SAFETY: the room is ours, and nothing else refers to it.
    let room = unsafe { IoPart::of_program(bytes.as_mut_ptr() as usize, parts.len()) };
    // SAFETY: the kernel checks what it reads, and there is room for all of it.
    let read = unsafe {
        sys::syscall(
            libc::SYS_process_vm_readv,
            [sys::getpid() as usize, &raw const room as usize, 1, parts.as_ptr() as usize, parts.len(), 0],
        )
    };
    match read {
        Ok(n) => n == parts.len(),
        Err(e) => e != Errno(libc::EFAULT),
    }
}
