//! Memory for data calls: page-aligned, so that results do not hang on the allocator, and with a page
//! behind it that cannot be touched.

use crate::script::op::Buffer;

/// Size of the processor's pages here; the executor only asks that it divides what it maps.
pub const PAGE: usize = 4096;

/// Where memory is wished for: so far from the end of all addresses that the greatest counts do not reach it, wherever
/// the kernel would have put it this time.
const WISHED: usize = 0x2000_0000_0000;

/// An anonymous mapping that ends in a page without access.
pub struct Memory {
    base: *mut u8,
    mapped: usize,
    start: *mut u8,
    usable: usize,
}

impl Memory {
    /// Memory for `len` bytes. With [`Buffer::Torn`], the last bytes of the `len` lie in the page that
    /// cannot be touched.
    pub fn new(len: usize, buffer: Buffer) -> Memory {
        let torn = match buffer {
            Buffer::Torn(bytes) => usize::from(bytes).min(len).min(PAGE),
            Buffer::Good | Buffer::Null => 0,
        };
        let usable = len - torn;
        let room = usable.div_ceil(PAGE).max(1) * PAGE;
        let mapped = room + PAGE;
        // SAFETY: a fresh anonymous mapping overlaps nothing; the address is a wish.
        let base = unsafe {
            libc::mmap(
                WISHED as *mut libc::c_void,
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED, "anonymous memory");
        let base = base.cast::<u8>();
        // SAFETY: the last page of the mapping just made.
        unsafe { libc::mprotect(base.add(room).cast(), PAGE, libc::PROT_NONE) };
        // SAFETY: within the mapping: `usable` is at most `room`.
        let start = if torn > 0 { unsafe { base.add(room - usable) } } else { base };
        Memory { base, mapped, start, usable }
    }

    /// Address of the first byte.
    pub fn pointer(&self) -> *mut u8 {
        self.start
    }

    /// The bytes that can be touched.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `usable` bytes from `start` are mapped for reading and writing and borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.usable) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made by `new`, to which no borrow is left.
        unsafe { libc::munmap(self.base.cast(), self.mapped) };
    }
}
