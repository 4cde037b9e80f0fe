//! The one seam to the kernel for everything that shim and pool do on their own account.
//!
//! All calls here are raw system calls: no exported hook and no patched entry of libc can catch them, and none of them
//! touches `errno`.

mod calls;
mod mask;
mod output;
mod raw;
mod spaces;
pub mod text;

pub use calls::*;
pub use mask::{expect_handler, Masked};
pub use output::{has_room, without_signals, write};
pub use raw::{syscall, Errno};
pub use spaces::{own_space, set_elsewhere, Process, UNKNOWN as UNKNOWN_SPACE};
