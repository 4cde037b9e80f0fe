//! `errno`, touched only where the kernel would have touched it.

use millpond_segment::Errno;

/// Sets `errno` and returns -1.
#[cold]
pub fn fail(e: Errno) -> isize {
    // SAFETY: libc gives the address of this thread's errno.
    unsafe { *libc::__errno_location() = e.0 };
    -1
}

/// A result as libc's calls return it.
#[inline]
pub fn returned(result: Result<usize, Errno>) -> isize {
    match result {
        Ok(n) => n as isize,
        Err(e) => fail(e),
    }
}

/// The current `errno`.
pub fn current() -> Errno {
    // SAFETY: as above.
    Errno(unsafe { *libc::__errno_location() })
}

/// Runs `f` and puts `errno` back as it was.
pub fn preserving<T>(f: impl FnOnce() -> T) -> T {
    let before = current();
    let result = f();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before.0 };
    result
}
