//! Memory that the program handed in: one buffer, or several in a row.

use crate::sys::IoPart;
use std::marker::PhantomData;

/// A fault while copying: so many bytes had been copied before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes copied before the fault.
    pub done: usize,
}

/// Memory of the program, as one run of bytes. Any of it may turn out not to be there.
pub trait UserMemory {
    /// Length of the run in bytes.
    fn total(&self) -> usize;

    /// Calls `f` for each piece of memory of the `len` bytes from `at`, in order, until it fails.
    ///
    /// # Errors
    /// What `f` returns.
    fn parts<E>(&self, at: usize, len: usize, f: impl FnMut(IoPart) -> Result<(), E>) -> Result<(), E>;
}

/// One buffer.
#[derive(Clone, Copy)]
pub struct Flat<'a> {
    part: IoPart,
    life: PhantomData<&'a ()>,
}

impl<'a> Flat<'a> {
    /// The `len` bytes at `base`, an address that need not be valid.
    ///
    /// # Safety
    /// Nobody may hold a Rust reference to these bytes while this lives.
    #[inline]
    pub unsafe fn new(base: usize, len: usize) -> Self {
        Self { part: IoPart::at(base, len), life: PhantomData }
    }

    /// A buffer to read into.
    pub fn of_mut(bytes: &'a mut [u8]) -> Self {
        Self { part: IoPart::at(bytes.as_mut_ptr() as usize, bytes.len()), life: PhantomData }
    }

    /// A buffer to write from. It is only ever read when the operation is a write.
    ///
    /// # Safety
    /// The result must be used for writes only: it borrows `bytes` as shared.
    pub unsafe fn of(bytes: &'a [u8]) -> Self {
        Self { part: IoPart::at(bytes.as_ptr() as usize, bytes.len()), life: PhantomData }
    }
}

impl UserMemory for Flat<'_> {
    #[inline]
    fn total(&self) -> usize {
        self.part.len()
    }

    #[inline]
    fn parts<E>(&self, at: usize, len: usize, mut f: impl FnMut(IoPart) -> Result<(), E>) -> Result<(), E> {
        f(IoPart::at(self.part.base() + at, len))
    }
}

/// Several buffers in a row.
#[derive(Clone, Copy)]
pub struct Vectored<'a> {
    parts: &'a [IoPart],
    total: usize,
}

impl<'a> Vectored<'a> {
    /// The buffers `parts`, whose lengths sum up to `total`.
    pub fn new(parts: &'a [IoPart]) -> Self {
        Self { parts, total: parts.iter().map(IoPart::len).sum() }
    }
}

impl UserMemory for Vectored<'_> {
    fn total(&self) -> usize {
        self.total
    }

    fn parts<E>(&self, at: usize, len: usize, mut f: impl FnMut(IoPart) -> Result<(), E>) -> Result<(), E> {
        let (mut skip, mut left) = (at, len);
        for part in self.parts {
            if left == 0 {
                break;
            }
            if skip >= part.len() {
                skip -= part.len();
                continue;
            }
            let take = (part.len() - skip).min(left);
            f(IoPart::at(part.base() + skip, take))?;
            skip = 0;
            left -= take;
        }
        Ok(())
    }
}
