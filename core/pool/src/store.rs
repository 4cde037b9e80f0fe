//! The real file behind a file of the pool.

use millpond_segment::sys::{self, IoPart};
use millpond_segment::Errno;
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads and writes a real file.
pub trait Store {
    /// Whether it can be read from.
    fn readable(&self) -> bool;

    /// Whether bytes can be written at a given offset.
    fn writable(&self) -> bool;

    /// Reads into `parts` from `offset`; fewer bytes than asked for mean the end of the file.
    ///
    /// # Errors
    /// The kernel's.
    fn read(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno>;

    /// Writes `parts` at `offset`; may write fewer bytes.
    ///
    /// # Errors
    /// The kernel's.
    fn write(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno>;

    /// The file's stamp of now.
    ///
    /// # Errors
    /// The kernel's.
    fn stamp(&self) -> Result<millpond_model::Stamp, Errno>;
}

/// A store over an open descriptor. It does not own it.
#[derive(Clone, Copy, Debug)]
pub struct FdStore {
    fd: i32,
    readable: bool,
    writable: bool,
}

/// Makes a write at an offset go there although the descriptor appends (Linux 6.9).
const RWF_NOAPPEND: i32 = 0x20;

/// Whether the kernel has `RWF_NOAPPEND`, asked once.
pub fn noappend_supported() -> bool {
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        1 => true,
        2 => false,
        _ => {
            let yes = sys::kernel_release() >= (6, 9);
            KNOWN.store(if yes { 1 } else { 2 }, Ordering::Relaxed);
            yes
        }
    }
}

impl FdStore {
    /// The file behind `fd`, which was opened with the given rights and appends if `append`.
    #[inline]
    pub fn new(fd: i32, readable: bool, writable: bool, append: bool) -> Self {
        let writable = writable && (!append || noappend_supported());
        Self { fd, readable, writable }
    }

    /// The descriptor.
    pub fn fd(&self) -> i32 {
        self.fd
    }
}

impl Store for FdStore {
    fn readable(&self) -> bool {
        self.readable
    }

    fn writable(&self) -> bool {
        self.writable
    }

    fn read(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        loop {
            match sys::preadv(self.fd, parts, offset) {
                Err(Errno(EINTR)) => {}
                other => return other,
            }
        }
    }

    fn write(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        loop {
            match sys::pwritev(self.fd, parts, offset, if noappend_supported() { RWF_NOAPPEND } else { 0 }) {
                Err(Errno(EINTR)) => {}
                other => return other,
            }
        }
    }

    fn stamp(&self) -> Result<millpond_model::Stamp, Errno> {
        sys::stat_fd(self.fd).map(|s| s.stamp)
    }
}

const EINTR: i32 = 4;
