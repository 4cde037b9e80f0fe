//! The thread's signal mask: what must not be interrupted half-way holds signals back.

use super::raw::{syscall, Errno};

/// Signals in a set of the kernel's, one bit each.
pub(super) const SET_BYTES: usize = 8;
/// Signals that an instruction brings about: held back, they would end the process.
const SYNCHRONOUS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// Signals are held back until this goes out of scope; those that an instruction brings about are not.
///
/// A lock that many processes need, taken inside, is never held by a thread that is in a signal handler.
#[must_use]
pub struct Masked {
    /// The mask before; `None` when the kernel refused.
    before: Option<u64>,
    /// It belongs to the thread.
    _thread: std::marker::PhantomData<*const ()>,
}

impl Masked {
    /// Holds signals back from now on. May be nested.
    pub fn begin() -> Self {
        let synchronous = SYNCHRONOUS.iter().fold(0, |set, signal| set | 1u64 << (signal - 1));
        Self { before: set_mask(!synchronous).ok(), _thread: std::marker::PhantomData }
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = set_mask(before);
        }
    }
}

/// Sets the mask of this thread and gives the one before.
///
/// # Errors
/// The kernel's.
pub(super) fn set_mask(mask: u64) -> Result<u64, Errno> {
    let mut before = 0u64;
    // SAFETY: both sets are as long as said.
    unsafe {
        syscall(
            libc::SYS_rt_sigprocmask,
            [libc::SIG_SETMASK as usize, &raw const mask as usize, &raw mut before as usize, SET_BYTES, 0, 0],
        )
    }
    .map(|_| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> u64 {
        let before = set_mask(0).expect("mask");
        set_mask(before).expect("mask");
        before
    }

    #[test]
    fn signals_are_held_back_for_as_long_as_it_lives() {
        std::thread::spawn(|| {
            let user = 1u64 << (libc::SIGUSR1 - 1);
            set_mask(user).expect("mask");
            {
                let _outer = Masked::begin();
                drop(Masked::begin());
                assert_ne!(now() & (1 << (libc::SIGALRM - 1)), 0);
                assert_eq!(now() & (1 << (libc::SIGSEGV - 1)), 0);
            }
            assert_eq!(now(), user);
        })
        .join()
        .expect("thread");
    }
}
