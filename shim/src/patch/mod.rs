//! Patches the entries of libc's own functions, so that libc's internal callers reach our handlers too.
//!
//! A preloaded symbol catches what programs and libraries call by name. It does not catch `fopen`, `printf` or
//! `getline`, which reach the kernel through libc's internal aliases. For those, the first instructions of the
//! function are moved into a *trampoline* near libc and replaced by a jump to the handler; calling the
//! trampoline runs the original.
//!
//! What holds here: nothing is changed unless every preparation has succeeded; libc's text is made writable
//! once and given back once, however many functions are patched; no heap is used, and no libc function that
//! could itself be patched is called (system calls go through `rustix`'s raw backend). A function that cannot be
//! moved with certainty is refused, never guessed at.
//!
//! The instruction decoder is our own and small: building the tables of a general one costs most of a
//! millisecond in every process, ten times what all the patching may take. The tests hold it against `iced-x86`
//! over all of libc.
//!
//! What is left to others: which functions to patch, and what the handlers do.

#[cfg(target_arch = "x86_64")]
mod apply;
#[cfg(target_arch = "x86_64")]
mod arena;
#[cfg(target_arch = "x86_64")]
mod decode;
#[cfg(target_arch = "x86_64")]
mod head;
#[cfg(target_arch = "x86_64")]
mod image;
#[cfg(target_arch = "x86_64")]
mod inner;
pub mod outcome;
#[cfg(target_arch = "x86_64")]
mod relocate;

/// `__libc_message`, by which libc says why it aborts a program. Its own symbol is local; this name stands for it.
pub const LAST_WORDS: &std::ffi::CStr = c"__libc_message";

pub use outcome::{Outcome, PatchError, Request, Stats};

/// The most requests that one call takes: plans live on the stack.
pub const MAX_REQUESTS: usize = 128;

/// Patches the entry of every requested libc function with a jump to its handler.
///
/// `outcomes[i]` says what became of `requests[i]`. On an error nothing has been changed, and no outcome is
/// `Patched`.
///
/// # Safety
///
/// As for [`patch_all_with`]; and a handler may be entered before the caller has seen any outcome.
#[allow(dead_code, reason = "for callers whose handlers can do without the original at first")]
pub unsafe fn patch_all(requests: &[Request], outcomes: &mut [Outcome]) -> Result<Stats, PatchError> {
    // SAFETY: the caller's promises are the ones that are asked for.
    unsafe { patch_all_with(requests, outcomes, |_| {}) }
}

/// Patches as [`patch_all`] does, and calls `ready` with the outcomes when the trampolines can be called and
/// no entry has been changed yet: the moment to store the originals where the handlers find them. An entry that turns out
/// to have changed meanwhile becomes `Refused` after that; its trampoline stays callable.
///
/// # Safety
///
/// Every handler must be a function with the C signature of the symbol it stands for, valid for the rest of the
/// process, and must be ready to be entered when `ready` returns. No other thread may be executing the first
/// instructions of a requested function meanwhile: call it from the constructor. `ready` must not unwind.
#[cfg(target_arch = "x86_64")]
pub unsafe fn patch_all_with(
    requests: &[Request],
    outcomes: &mut [Outcome],
    ready: impl FnOnce(&[Outcome]),
) -> Result<Stats, PatchError> {
    if requests.len() != outcomes.len() || requests.len() > MAX_REQUESTS {
        return Err(PatchError::TooMany);
    }
    let libc = image::Image::libc()?;
    // SAFETY: the caller's promises are the ones that are asked for.
    unsafe { apply::apply(&libc, requests, outcomes, ready) }
}

/// Patching is written for x86-64 only; elsewhere the symbol layer works alone.
///
/// # Safety
///
/// None is needed; the signature is that of the real one.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn patch_all_with(
    _requests: &[Request],
    _outcomes: &mut [Outcome],
    _ready: impl FnOnce(&[Outcome]),
) -> Result<Stats, PatchError> {
    Err(PatchError::Unsupported)
}

/// Patches functions that are given by address and size instead of by name, for tests on crafted code.
///
/// # Safety
///
/// As [`patch_all`]; `text` must be a readable and executable mapping that holds all of `entries`.
#[cfg(all(target_arch = "x86_64", test))]
pub unsafe fn patch_entries(
    text: std::ops::Range<usize>,
    entries: &[(usize, usize, *const ())],
    outcomes: &mut [Outcome],
) -> Result<Stats, PatchError> {
    // SAFETY: as promised by the caller.
    unsafe { apply::apply_entries(text, entries, outcomes) }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

/// The addresses of libc's code, from its first to behind its last, to tell libc's own functions from a preloaded library's.
#[cfg(target_arch = "x86_64")]
pub fn libc_text() -> Option<(usize, usize)> {
    image::Image::libc().ok().map(|libc| (libc.text.start, libc.text.end))
}

/// The addresses of libc's code.
#[cfg(not(target_arch = "x86_64"))]
pub fn libc_text() -> Option<(usize, usize)> {
    None
}
