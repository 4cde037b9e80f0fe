//! What is asked of the patcher and what it answers.

use std::ffi::CStr;
use std::fmt;

/// One function to patch.
pub struct Request {
    /// The name in libc's dynamic symbol table; its default version is meant.
    pub symbol: &'static CStr,
    /// Where calls shall go: a function of the same C signature.
    pub handler: *const (),
}

/// What became of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Patched; calling this address runs the original.
    Patched(*const ()),
    /// The entry is the one of this earlier request (an alias), and was patched for that.
    SameAs(usize),
    /// libc has no such symbol.
    Missing,
    /// Left as it is, for this reason.
    Refused(Refusal),
}

/// Why a function was left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The symbol is data.
    NotAFunction,
    /// The symbol is resolved at run time (IFUNC): its address is that of the resolver.
    Indirect,
    /// The symbol does not lie in libc's executable segment.
    OutsideText,
    /// The function ends before a jump fits.
    TooShort,
    /// The symbol table does not say where the function ends.
    SizeUnknown,
    /// An instruction jumps back into what would be overwritten.
    BranchIntoHead,
    /// The bytes are not instructions that the decoder knows.
    Undecodable,
    /// An instruction cannot be moved elsewhere.
    Unmovable,
    /// What the moved instructions refer to is out of reach from the trampoline.
    OutOfReach,
    /// The bytes to be overwritten overlap those of an earlier request.
    Overlap,
    /// The bytes changed between planning and writing: somebody else patches too.
    Changed,
}

/// What was done by one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that were patched.
    pub patched: usize,
    /// Requests that name an entry already patched for an earlier one.
    pub aliases: usize,
    /// Requests whose symbol libc does not have.
    pub missing: usize,
    /// Requests that were refused.
    pub refused: usize,
    /// The kernel did not give the text its old protection back: it works, but stays writable.
    pub left_writable: bool,
}

/// Why nothing was patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// No patcher for this processor.
    #[cfg(not(target_arch = "x86_64"))]
    Unsupported,
    /// More requests than [`super::MAX_REQUESTS`], or not one outcome for each.
    TooMany,
    /// No loaded object is glibc.
    NoLibc,
    /// libc lacks the tables by which its symbols are found.
    NoSymbols,
    /// No memory for trampolines within reach of libc; the errno of the last attempt.
    NoRoom(i32),
    /// The kernel refused to change a protection (a hardened kernel does); its errno.
    Protect(i32),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(not(target_arch = "x86_64"))]
            Self::Unsupported => write!(f, "patching libc is not supported on this processor"),
            Self::TooMany => write!(f, "more functions than the patcher takes at once"),
            Self::NoLibc => write!(f, "no GNU libc is loaded in this process"),
            Self::NoSymbols => write!(f, "the loaded libc has no usable symbol table"),
            Self::NoRoom(errno) => write!(f, "no memory within reach of libc's text (errno {errno})"),
            Self::Protect(errno) => {
                write!(f, "the kernel does not let libc's text be changed (errno {errno})")
            }
        }
    }
}

impl std::error::Error for PatchError {}
