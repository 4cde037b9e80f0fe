//! Cancellation of threads: a call that the pool serves is a cancellation point as the kernel's is. What waits for a thread is looked at only once
//! the program has cancelled one.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

extern "C-unwind" {
    fn pthread_testcancel();
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// Before `pthread_cancel`.
pub fn asked() {
    ASKED.store(true, SeqCst);
}

/// A cancellation point. Where the calling thread is to end, it does, by unwinding: no frame above may hold anything.
#[inline]
pub fn point() {
    if ASKED.load(Relaxed) {
        test();
    }
}

#[cold]
fn test() {
    // SAFETY: the frames above are rows, which hold nothing and may be unwound through.
    unsafe { pthread_testcancel() }
}
