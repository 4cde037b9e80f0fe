//! Slabs: buffers of one size on one device, with their headers.

use crate::freelist::{FreeList, Slots};
use crate::Segment;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Header of one buffer.
#[repr(C)]
pub struct BufferHeader {
    /// Link for the free list.
    pub next: AtomicU32,
    /// State: free, claimed by a client, or in use.
    pub state: AtomicU32,
    /// Page slot plus 1 that the buffer belongs to, 0 when none.
    pub page: AtomicU32,
    /// Capacity in bytes.
    pub capacity: AtomicU32,
}
crate::assert_shared!(BufferHeader, 16);

/// One slab: the buffers of one size on one device. Buffer ids are numbered through all slabs; the ones of a slab are a run.
#[repr(C)]
pub struct Slab {
    /// The free buffers, numbered within the slab.
    pub list: FreeList,
    /// Bytes in a buffer.
    pub buffer_bytes: AtomicU32,
    /// Number of the slab's first buffer.
    pub first: AtomicU32,
    /// Device number.
    pub device: AtomicU32,
    /// Offset in the segment of the first buffer's bytes.
    pub data: AtomicU64,
}
crate::assert_shared!(Slab, 40);

/// A device that buffers lie on.
#[repr(C)]
pub struct Device {
    /// 0: memory of the segment.
    pub kind: AtomicU32,
    pad: AtomicU32,
    /// Capacity in bytes.
    pub capacity: AtomicU64,
    /// Bandwidth in bytes per second, 0 when not known.
    pub bandwidth: AtomicU64,
    /// Latency in nanoseconds, 0 when not known.
    pub latency: AtomicU64,
}
crate::assert_shared!(Device, 32);

/// A slab's buffers as a free list's slots.
pub struct BufferSlots<'a> {
    segment: &'a Segment,
    first: u32,
}

impl<'a> BufferSlots<'a> {
    /// The buffers of a slab whose first one is number `first`.
    pub fn new(segment: &'a Segment, first: u32) -> Self {
        Self { segment, first }
    }
}

impl Slots for BufferSlots<'_> {
    fn link(&self, index: u32) -> &AtomicU32 {
        &self.segment.buffer(self.first + index).next
    }

    fn state(&self, index: u32) -> &AtomicU32 {
        &self.segment.buffer(self.first + index).state
    }
}
