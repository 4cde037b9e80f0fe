//! Memory shared between forked ranks: a barrier between phases, and a flag by which a rank that failed frees the
//! others.
//!
//! Waiting yields the processor instead of sleeping: a wake across processors costs tens of microseconds, which
//! would be measured as the file system's.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::context::failure;

struct Shared {
    arrived: AtomicU32,
    generation: AtomicU32,
    broken: AtomicBool,
}

/// A barrier for a fixed number of processes, in an anonymous shared mapping that `fork` hands down.
pub struct Barrier {
    shared: NonNull<Shared>,
    parties: u32,
}

impl Barrier {
    /// A barrier that opens when `parties` processes have arrived. Make it before forking.
    pub fn new(parties: u32) -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping; no existing memory is touched.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Shared>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let shared = NonNull::new(at.cast::<Shared>()).ok_or_else(|| failure("mmap returned null"))?;
        Ok(Self { shared, parties })
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the mapping is page-aligned, zeroed (a valid `Shared`), lives until drop, and all access to it
        // is by atomics.
        unsafe { self.shared.as_ref() }
    }

    /// Waits until all parties have arrived; an error when a party broke the barrier.
    pub fn wait(&self) -> io::Result<()> {
        let shared = self.shared();
        let generation = shared.generation.load(Ordering::Acquire);
        if shared.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            shared.arrived.store(0, Ordering::Relaxed);
            shared.generation.fetch_add(1, Ordering::Release);
        }
        while shared.generation.load(Ordering::Acquire) == generation {
            if shared.broken.load(Ordering::Acquire) {
                return Err(failure("another rank failed"));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Frees everybody who waits, now or later: this rank will not come.
    pub fn break_up(&self) {
        self.shared().broken.store(true, Ordering::Release);
    }
}

impl Drop for Barrier {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this size, and no reference to it outlives `self`.
        unsafe { libc::munmap(self.shared.as_ptr().cast(), size_of::<Shared>()) };
    }
}
