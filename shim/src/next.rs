//! The function that a row lets a call by to.
//!
//! Each row has two: for the exported symbol, the next function of that name in the order of libraries (another preloaded library's, or
//! libc's); for the patched entry, the trampoline. Where libc's own is next and its entry is patched, the symbol goes to the trampoline too, so
//! that no call is looked at twice.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The two functions behind a row.
pub struct Next {
    name: &'static CStr,
    symbol: AtomicUsize,
    original: AtomicUsize,
}

impl Next {
    /// Not resolved yet.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, symbol: AtomicUsize::new(0), original: AtomicUsize::new(0) }
    }

    /// The symbol's name.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// Address of the next function by symbol; looked up now if a call comes before the constructor. 0 when there is none.
    #[inline]
    pub fn symbol(&self) -> usize {
        match self.symbol.load(Relaxed) {
            0 => self.resolve(),
            address => address,
        }
    }

    /// Address of the function that the patched entry replaces.
    #[inline]
    pub fn original(&self) -> usize {
        match self.original.load(Relaxed) {
            0 => self.symbol(),
            address => address,
        }
    }

    /// Looks the symbol up.
    #[cold]
    pub fn resolve(&self) -> usize {
        // SAFETY: the name is a C string; RTLD_NEXT looks behind this library.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        self.symbol.store(address, Relaxed);
        address
    }

    /// Takes over what patching gave: `trampoline` runs the original; `is_libc` says whether an address is libc's.
    pub fn patched(&self, trampoline: usize, is_libc: impl Fn(usize) -> bool) {
        self.original.store(trampoline, Relaxed);
        if is_libc(self.symbol()) {
            self.symbol.store(trampoline, Relaxed);
        }
    }
}
