//! The shared memory of a node: its layout, its mapping, and the locks, lists and tables in it.
//!
//! This crate is the fence around unsafe code for everything that several processes see at once. Above
//! it, a segment is a set of typed tables of atomics, reached by index, and of buffers, reached by copying in and out through
//! [`Segment`]. Nothing above this crate holds a reference to bytes that another process may write.

pub mod account;
pub mod client;
pub mod copy;
pub mod create;
pub mod description;
pub mod file;
pub mod freelist;
pub mod header;
pub mod index;
pub mod layout;
pub mod lock;
pub mod map;
pub mod nesting;
pub mod page;
pub mod program;
pub mod ranges;
pub mod slab;
pub mod stats;
pub mod sys;
pub mod text;
pub mod user;
pub mod wire;
pub mod word;

pub use account::{Account, Escape, Sums};
pub use client::Client;
pub use description::Description;
pub use file::File;
pub use header::Header;
pub use layout::{Layout, Sizes};
pub use lock::{FutexLock, Held, Holder, Whose};
pub use map::{AttachError, Segment};
pub use page::Page;
pub use program::{Program, Run};
pub use sys::Errno;
pub use user::{Flat, UserMemory, Vectored};

/// Says that a type may live in the segment: it holds nothing but atomics, has a fixed layout, and all-zero bytes are a
/// valid value of it.
///
/// # Safety
/// The type must be `repr(C)`, consist only of atomic integers or types that are [`Shared`] themselves, and hold no pointer.
pub unsafe trait Shared: Sync {}

// SAFETY: an atomic integer is one word without pointers, and zero is a value of it.
unsafe impl Shared for std::sync::atomic::AtomicU32 {}
// SAFETY: as above.
unsafe impl Shared for std::sync::atomic::AtomicU64 {}

/// Asserts beside a struct that it may live in the segment and how large it is, so that a change of layout is seen.
#[macro_export]
macro_rules! assert_shared {
    ($type:ty, $size:expr) => {
        // SAFETY: the struct beside this line is `repr(C)` and made of atomics only.
        unsafe impl $crate::Shared for $type {}
        const _: () = assert!(std::mem::size_of::<$type>() == $size, "layout of a shared struct changed");
    };
}
