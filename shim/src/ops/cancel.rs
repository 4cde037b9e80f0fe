//! Cancellation of threads: a call that the pool serves is a cancellation point as the kernel's is. What waits for a thread is looked at only once
//! the program has cancelled one, or has a thread that may be cancelled anywhere.
//!
//! A thread that may be cancelled anywhere (`PTHREAD_CANCEL_ASYNCHRONOUS`) must not be in the middle of a page: it is cancelled before the call
//! or after it. The frames that it is unwound through on the way must have nothing to clean up, since a personality that is met at an instruction which
//! calls nothing ends the process: a row looks at [`is_special`] first and leaves everything to a function without clean-up.

use libc::c_int;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed, Ordering::SeqCst};

extern "C-unwind" {
    fn pthread_testcancel();
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DEFERRED` and `PTHREAD_CANCEL_ASYNCHRONOUS`, as glibc has them.
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

/// The program has cancelled a thread.
const ASKED: u8 = 1;
/// A thread has said that it may be cancelled anywhere.
const ANYWHERE: u8 = 2;

static MODE: AtomicU8 = AtomicU8::new(0);

/// Before `pthread_cancel`.
pub fn asked() {
    MODE.fetch_or(ASKED, SeqCst);
}

/// Before `pthread_setcanceltype`.
pub fn kind_is_set(kind: c_int) {
    if kind == ASYNCHRONOUS {
        MODE.fetch_or(ANYWHERE, SeqCst);
    }
}

/// Whether a row that is a cancellation point has something to look after.
#[inline(always)]
pub fn is_special() -> bool {
    MODE.load(Relaxed) != 0
}

/// Whether any other row has.
#[inline(always)]
pub fn is_anywhere() -> bool {
    MODE.load(Relaxed) & ANYWHERE != 0
}

/// Keeps the thread from being cancelled anywhere until [`allow`]. Where the thread is to end before, it does, by unwinding: no frame above may hold
/// anything.
#[inline(always)]
pub fn defer() -> c_int {
    let mut old = DEFERRED;
    if is_anywhere() {
        // SAFETY: room for the answer. The frames above are rows, which hold nothing and may be unwound through.
        unsafe { pthread_setcanceltype(DEFERRED, &raw mut old) };
    }
    old
}

/// A cancellation point. The thread may end here, as there.
#[inline(always)]
pub fn point() {
    // SAFETY: as above.
    unsafe { pthread_testcancel() }
}

/// Takes back what [`defer`] did. The thread may end here, as there.
#[inline(always)]
pub fn allow(old: c_int) {
    if old != DEFERRED {
        // SAFETY: no pointers; as above.
        unsafe { pthread_setcanceltype(old, std::ptr::null_mut()) };
    }
}
