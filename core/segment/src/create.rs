//! Laying a fresh segment out.

use crate::header::VERSION;
use crate::page::PageSlots;
use crate::program;
use crate::slab::BufferSlots;
use crate::Segment;
use std::sync::atomic::Ordering::Relaxed;

/// Writes sizes, slabs, free lists and headers into a zeroed segment. The magic comes last, by the caller.
pub(crate) fn lay_out(segment: &Segment) {
    let (layout, header) = (segment.layout(), segment.header());
    let sizes = &layout.sizes;
    header.version.store(VERSION, Relaxed);
    header.layout_hash.store(layout.hash(), Relaxed);
    header.length.store(layout.length, Relaxed);
    header.page_bytes.store(sizes.page_bytes, Relaxed);
    header.clients.store(sizes.clients, Relaxed);
    header.chunks.store(sizes.chunks(), Relaxed);
    header.descriptions.store(sizes.descriptions, Relaxed);
    header.files.store(sizes.files, Relaxed);
    header.pages.store(sizes.pages(), Relaxed);
    header.page_buckets.store(sizes.page_buckets(), Relaxed);
    header.file_buckets.store(sizes.file_buckets(), Relaxed);
    header.buffers.store(sizes.buffers(), Relaxed);
    header.device[0].capacity.store(sizes.data_bytes(), Relaxed);
    let (mut first, mut data, mut used) = (0, layout.data, 0);
    // Largest buffers first in the data, so that each is aligned to its own size; the headers are numbered by ascending size.
    for (slab, &(bytes, count)) in header.slab.iter().zip(&sizes.slabs) {
        if count == 0 {
            break;
        }
        slab.buffer_bytes.store(bytes, Relaxed);
        slab.first.store(first, Relaxed);
        for index in first..first + count {
            segment.buffer(index).capacity.store(bytes, Relaxed);
        }
        slab.list.fill(&BufferSlots::new(segment, first), count);
        first += count;
        used += 1;
    }
    header.slabs.store(used, Relaxed);
    for (slab, &(bytes, count)) in header.slab.iter().zip(&sizes.slabs).rev() {
        slab.data.store(data, Relaxed);
        data += u64::from(bytes) * u64::from(count);
    }
    segment.program(program::OTHERS).state.store(program::state::LIVE, Relaxed);
    header.program_top.store(program::OTHERS + 1, Relaxed);
    header.page_list.fill(&PageSlots(segment), sizes.pages());
}
