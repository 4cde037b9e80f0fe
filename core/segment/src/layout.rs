//! Where each table of a segment lies, worked out from how many slots it has.

use crate::account::ESCAPES;
use crate::client::{Chunk, Client};
use crate::description::Description;
use crate::file::File;
use crate::header::{Header, VERSION};
use crate::index::Bucket;
use crate::page::Page;
use crate::program::{Program, PROGRAMS};
use crate::slab::BufferHeader;
use crate::stats::REASONS;
use millpond_model::placement::MAX_SLABS;
use std::mem::size_of;

/// Buffers start at a multiple of this, so that huge pages can hold them.
pub const DATA_ALIGN: u64 = 2 << 20;

/// How many slots each table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes in a page.
    pub page_bytes: u32,
    /// Client slots.
    pub clients: u32,
    /// Open file descriptions.
    pub descriptions: u32,
    /// File slots.
    pub files: u32,
    /// Slabs: bytes in a buffer and number of buffers, in ascending order of size; unused ones are zero.
    pub slabs: [(u32, u32); MAX_SLABS],
}

impl Sizes {
    /// Chunks of descriptor tables: one a client and some for those with many descriptors.
    pub fn chunks(&self) -> u32 {
        self.clients + self.clients / 4 + 64
    }

    /// Buffers in all slabs.
    pub fn buffers(&self) -> u32 {
        self.slabs.iter().map(|s| s.1).sum()
    }

    /// Page slots: each page has at least one buffer.
    pub fn pages(&self) -> u32 {
        self.buffers()
    }

    /// Buckets of the index of pages.
    pub fn page_buckets(&self) -> u32 {
        (self.pages().max(1) * 2).next_power_of_two()
    }

    /// Buckets of the index of files.
    pub fn file_buckets(&self) -> u32 {
        (self.files.max(1) * 2).next_power_of_two()
    }

    /// Bytes of all buffers.
    pub fn data_bytes(&self) -> u64 {
        self.slabs.iter().map(|s| u64::from(s.0) * u64::from(s.1)).sum()
    }
}

/// Offsets of the tables in the segment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What it was worked out from.
    pub sizes: Sizes,
    /// Clients.
    pub clients: u64,
    /// Programs.
    pub programs: u64,
    /// Owners of chunks.
    pub chunk_owners: u64,
    /// Chunks.
    pub chunks: u64,
    /// Descriptions.
    pub descriptions: u64,
    /// Files.
    pub files: u64,
    /// Index of files.
    pub file_buckets: u64,
    /// Pages.
    pub pages: u64,
    /// Index of pages.
    pub page_buckets: u64,
    /// Headers of buffers.
    pub buffers: u64,
    /// The buffers' bytes.
    pub data: u64,
    /// Length of the segment.
    pub length: u64,
}

impl Layout {
    /// The layout of a segment with these sizes.
    pub fn new(sizes: Sizes) -> Self {
        let mut at = size_of::<Header>() as u64;
        let mut table = |count: u32, each: usize| {
            let start = at.next_multiple_of(4096);
            at = start + u64::from(count) * each as u64;
            start
        };
        let clients = table(sizes.clients, size_of::<Client>());
        let programs = table(PROGRAMS, size_of::<Program>());
        let chunk_owners = table(sizes.chunks(), 4);
        let chunks = table(sizes.chunks(), size_of::<Chunk>());
        let descriptions = table(sizes.descriptions, size_of::<Description>());
        let files = table(sizes.files, size_of::<File>());
        let file_buckets = table(sizes.file_buckets(), size_of::<Bucket>());
        let pages = table(sizes.pages(), size_of::<Page>());
        let page_buckets = table(sizes.page_buckets(), size_of::<Bucket>());
        let buffers = table(sizes.buffers(), size_of::<BufferHeader>());
        let data = at.next_multiple_of(DATA_ALIGN);
        let length = (data + sizes.data_bytes()).next_multiple_of(DATA_ALIGN);
        Self {
            sizes,
            clients,
            programs,
            chunk_owners,
            chunks,
            descriptions,
            files,
            file_buckets,
            pages,
            page_buckets,
            buffers,
            data,
            length,
        }
    }

    /// A number that differs between builds whose tables differ in size or place.
    pub fn hash(&self) -> u64 {
        let parts = [
            u64::from(VERSION),
            REASONS as u64,
            ESCAPES as u64,
            size_of::<Header>() as u64,
            size_of::<Client>() as u64,
            size_of::<Program>() as u64,
            size_of::<Description>() as u64,
            size_of::<File>() as u64,
            size_of::<Page>() as u64,
            self.clients,
            self.programs,
            self.chunks,
            self.descriptions,
            self.files,
            self.pages,
            self.page_buckets,
            self.buffers,
            self.data,
            self.length,
        ];
        // FNV-1a over the words.
        parts
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, part| (hash ^ part).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_follow_each_other_without_overlap() {
        let mut slabs = [(0, 0); MAX_SLABS];
        slabs[0] = (4096, 100);
        slabs[1] = (65_536, 33);
        let sizes = Sizes { page_bytes: 65_536, clients: 10, descriptions: 20, files: 30, slabs };
        let l = Layout::new(sizes);
        let starts = [
            0,
            l.clients,
            l.programs,
            l.chunk_owners,
            l.chunks,
            l.descriptions,
            l.files,
            l.file_buckets,
            l.pages,
            l.page_buckets,
            l.buffers,
            l.data,
            l.length,
        ];
        assert!(starts.windows(2).all(|w| w[0] < w[1]), "{starts:?}");
        assert_eq!(l.data % DATA_ALIGN, 0);
        assert!(l.length >= l.data + sizes.data_bytes());
        let other = Layout::new(Sizes { files: 31, ..sizes });
        assert!(l.hash() != other.hash() || l.length == other.length && l.files == other.files);
    }
}
