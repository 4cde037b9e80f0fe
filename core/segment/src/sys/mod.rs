//! The one seam to the kernel for everything that shim and pool do on their own account.
//!
//! All calls here are raw system calls: no exported hook and no patched entry of libc can catch them, and none of them
//! touches `errno`.

mod calls;
mod raw;

pub use calls::*;
pub use raw::{syscall, Errno};
