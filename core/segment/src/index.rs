//! The two indexes of a segment: files by device and inode, pages by file and number.
//!
//! Each bucket is a chain of slots with a lock for changes. A chain is walked without the lock: a slot names what it holds, so a walk that a
//! change led astray finds nothing, or finds a slot that the caller's own check of its identity refuses; it never finds a wrong one.

use crate::{FutexLock, Segment};
use std::sync::atomic::{AtomicU32, Ordering};

/// Head of a chain.
#[repr(C)]
#[derive(Default)]
pub struct Bucket {
    /// Taken for changes of the chain.
    pub lock: FutexLock,
    /// First slot plus 1, 0 when the chain is empty.
    pub head: AtomicU32,
}
crate::assert_shared!(Bucket, 12);

/// Longest walk: a chain that is longer has been changed underneath, and the walk is given up.
const MAX_WALK: u32 = 4096;

#[inline]
fn mix(a: u64, b: u64) -> u64 {
    // Multiplication by a 64-bit odd constant, high bits folded down (Fibonacci hashing).
    let x = (a.rotate_left(32) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ (x >> 32)
}

impl Segment {
    /// The bucket of page `index` of file slot `file`.
    #[inline]
    pub fn page_bucket_of(&self, file: u32, index: u64) -> &Bucket {
        self.page_bucket(mix(u64::from(file) + 1, index) as u32 & self.page_bucket_mask())
    }

    /// The bucket of a file.
    pub fn file_bucket_of(&self, dev: u64, ino: u64) -> &Bucket {
        self.file_bucket(mix(dev, ino) as u32 & (self.layout().sizes.file_buckets() - 1))
    }

    /// The slot of page `index` of file slot `file`, if the pool has it. To be checked again under the page's lock or by its sequence.
    #[inline]
    pub fn find_page(&self, file: u32, index: u64) -> Option<u32> {
        let mut at = self.page_bucket_of(file, index).head.load(Ordering::Acquire);
        for _ in 0..MAX_WALK {
            let slot = at.checked_sub(1)?;
            if slot >= self.pages() {
                return None;
            }
            let page = self.page(slot);
            if page.is(file, index) {
                return Some(slot);
            }
            at = page.next_in_bucket.load(Ordering::Acquire);
        }
        None
    }

    /// The slot of file `ino` on device `dev`, if the pool knows it.
    pub fn find_file(&self, dev: u64, ino: u64) -> Option<u32> {
        let mut at = self.file_bucket_of(dev, ino).head.load(Ordering::Acquire);
        for _ in 0..MAX_WALK {
            let slot = at.checked_sub(1)?;
            if slot >= self.layout().sizes.files {
                return None;
            }
            if self.file(slot).is(dev, ino) {
                return Some(slot);
            }
            at = self.file(slot).next_in_bucket.load(Ordering::Acquire);
        }
        None
    }
}

/// Puts `slot` at the head of the chain. Under the bucket's lock.
pub fn link(bucket: &Bucket, slot: u32, next: &AtomicU32) {
    next.store(bucket.head.load(Ordering::Relaxed), Ordering::Relaxed);
    bucket.head.store(slot + 1, Ordering::Release);
}

/// Takes `slot` out of the chain; `next_of` gives the link of a slot. Under the bucket's lock.
pub fn unlink<'a>(bucket: &'a Bucket, slot: u32, next_of: impl Fn(u32) -> &'a AtomicU32) {
    let mut link = &bucket.head;
    for _ in 0..MAX_WALK {
        match link.load(Ordering::Relaxed).checked_sub(1) {
            None => return,
            Some(at) if at == slot => {
                link.store(next_of(slot).load(Ordering::Relaxed), Ordering::Release);
                return;
            }
            Some(at) => link = next_of(at),
        }
    }
}
