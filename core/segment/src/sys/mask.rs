//! The thread's signal mask: what must not be interrupted half-way holds signals back.

use super::raw::{syscall, Errno};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Signals in a set of the kernel's, one bit each.
pub(super) const SET_BYTES: usize = 8;
/// Signals that an instruction brings about: held back, they would end the process.
const SYNCHRONOUS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// Whether the program has installed a signal handler.
static HANDLERS: AtomicBool = AtomicBool::new(false);

/// Says that the program installs a handler for `signal`.
pub fn expect_handler(signal: i32) {
    if !SYNCHRONOUS.contains(&signal) {
        HANDLERS.store(true, Relaxed);
    }
}

/// Signals are held back until this goes out of scope; those that an instruction brings about are not.
///
/// A lock that many processes need, taken and given back inside, is never held by a thread that is in a signal handler. So this is declared before
/// the lock is taken.
#[must_use]
pub struct Masked {
    /// The mask before; `None` when nothing was changed.
    before: Option<u64>,
    /// It belongs to the thread.
    _thread: std::marker::PhantomData<*const ()>,
}

impl Masked {
    /// As [`Masked::begin`] in a program that has signal handlers; in another one there is nothing to hold back, and two system calls are saved.
    #[inline]
    pub fn if_handlers() -> Self {
        if HANDLERS.load(Relaxed) {
            Self::begin()
        } else {
            Self { before: None, _thread: std::marker::PhantomData }
        }
    }

    /// Holds signals back from now on. May be nested.
    pub fn begin() -> Self {
        let synchronous = SYNCHRONOUS.iter().fold(0, |set, signal| set | 1u64 << (signal - 1));
        Self { before: change_mask(libc::SIG_BLOCK, !synchronous).ok(), _thread: std::marker::PhantomData }
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
    change_mask(libc::SIG_SETMASK, mask)
}

fn change_mask(how: i32, mask: u64) -> Result<u64, Errno> {
    let mut before = 0u64;
    // SAFETY: both sets are as long as said.
    unsafe {
        syscall(
            libc::SYS_rt_sigprocmask,
            [how as usize, &raw const mask as usize, &raw mut before as usize, SET_BYTES, 0, 0],
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
            // One of them can only be held back by the program itself.
            let user = 1u64 << (libc::SIGUSR1 - 1) | 1u64 << (libc::SIGTRAP - 1);
            set_mask(user).expect("mask");
            expect_handler(libc::SIGSEGV);
            {
                let _nothing = Masked::if_handlers();
                assert_eq!(now(), user);
            }
            expect_handler(libc::SIGALRM);
            drop(Masked::if_handlers());
            {
                let _outer = Masked::begin();
                drop(Masked::begin());
                assert_ne!(now() & (1 << (libc::SIGALRM - 1)), 0);
                assert_eq!(now() & (1 << (libc::SIGSEGV - 1)), 0);
                assert_eq!(now() & user, user);
            }
            assert_eq!(now(), user);
        })
        .join()
        .expect("thread");
    }
}
