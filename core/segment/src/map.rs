//! A mapped segment: tables by index, bytes by offset.

use crate::client::{self, Chunk, Client};
use crate::description::Description;
use crate::file::File;
use crate::header::{Header, MAGIC, VERSION};
use crate::index::Bucket;
use crate::layout::{Layout, Sizes};
use crate::page::Page;
use crate::program::{Program, PROGRAMS};
use crate::slab::{BufferHeader, Slab};
use crate::sys::{self, IoPart};
use crate::user::{Fault, UserMemory};
use crate::{copy, FutexLock, Shared};
use memmap2::{MmapOptions, MmapRaw};
use millpond_model::placement::MAX_SLABS;
use millpond_model::PageGeometry;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Why a segment cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The mapping failed.
    #[error("the segment of {length} bytes cannot be mapped: {source}; free memory or address space, or make the pool smaller")]
    Map {
        /// Length asked for.
        length: u64,
        /// The kernel's reason.
        source: std::io::Error,
    },
    /// It is too short to be a segment.
    #[error("the segment is {length} bytes long, less than its header says: it is damaged; stop its coordinator and start a new one")]
    Short {
        /// Its length.
        length: u64,
    },
    /// It is something else.
    #[error("this is no segment of Millpond (its first bytes are {found:#018x})")]
    Foreign {
        /// What stands where the magic should.
        found: u64,
    },
    /// It was made by another version.
    #[error("the segment has layout version {version} (hash {found:#018x}), this program has version {VERSION} (hash {wanted:#018x}): stop the coordinator and start it again with the same version as the shim")]
    Version {
        /// Its version.
        version: u32,
        /// Its hash.
        found: u64,
        /// The hash that this program would have.
        wanted: u64,
    },
}

/// A segment in this process's memory.
pub struct Segment {
    base: *mut u8,
    length: u64,
    layout: Layout,
    geometry: PageGeometry,
    tables: Tables,
    _map: MmapRaw,
}

/// The tables by address and number of slots: worked out once, as each call of a program goes through several of them.
struct Tables {
    clients: Table<Client>,
    programs: Table<Program>,
    chunk_owners: Table<AtomicU32>,
    chunks: Table<Chunk>,
    descriptions: Table<Description>,
    files: Table<File>,
    pages: Table<Page>,
    page_buckets: Table<Bucket>,
    file_buckets: Table<Bucket>,
    buffers: Table<BufferHeader>,
}

struct Table<T> {
    start: *const T,
    count: u32,
}

impl<T: Shared> Table<T> {
    /// The `count` values at `offset` from `base`.
    fn new(base: *const u8, offset: u64, count: u32) -> Self {
        Self { start: base.wrapping_add(offset as usize).cast(), count }
    }

    #[inline]
    fn at(&self, index: u32) -> &T {
        assert!(index < self.count, "slot {index} of {}", self.count);
        // SAFETY: the layout puts `count` values of T there, aligned, within the mapping; T is made of atomics.
        unsafe { &*self.start.add(index as usize) }
    }
}

impl Tables {
    fn new(base: *const u8, layout: &Layout) -> Self {
        let sizes = &layout.sizes;
        Self {
            clients: Table::new(base, layout.clients, sizes.clients),
            programs: Table::new(base, layout.programs, PROGRAMS),
            chunk_owners: Table::new(base, layout.chunk_owners, sizes.chunks()),
            chunks: Table::new(base, layout.chunks, sizes.chunks()),
            descriptions: Table::new(base, layout.descriptions, sizes.descriptions),
            files: Table::new(base, layout.files, sizes.files),
            pages: Table::new(base, layout.pages, sizes.pages()),
            page_buckets: Table::new(base, layout.page_buckets, sizes.page_buckets()),
            file_buckets: Table::new(base, layout.file_buckets, sizes.file_buckets()),
            buffers: Table::new(base, layout.buffers, sizes.buffers()),
        }
    }
}

// SAFETY: all access goes through atomics or guarded copies; the mapping lives as long as the value.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

fn map(fd: BorrowedFd<'_>, length: u64) -> Result<MmapRaw, AttachError> {
    MmapOptions::new()
        .len(length as usize)
        .map_raw(fd.as_raw_fd())
        .map_err(|source| AttachError::Map { length, source })
}

impl Segment {
    /// Maps the fresh, zeroed memory behind `fd` as a segment with these sizes and lays it out.
    ///
    /// # Errors
    /// When it cannot be mapped or the page size is none.
    pub fn create(fd: BorrowedFd<'_>, sizes: Sizes) -> Result<Self, AttachError> {
        let layout = Layout::new(sizes);
        let segment = Self::over(map(fd, layout.length)?, layout)?;
        crate::create::lay_out(&segment);
        segment.header().magic.store(MAGIC, Ordering::Release);
        Ok(segment)
    }

    /// Maps the segment behind `fd`, after checking that it is one and that its layout is this program's.
    ///
    /// # Errors
    /// When it is not, or cannot be mapped.
    pub fn attach(fd: BorrowedFd<'_>) -> Result<Self, AttachError> {
        let length = sys::stat_fd(fd.as_raw_fd()).map_or(0, |s| s.stamp.size);
        if length < std::mem::size_of::<Header>() as u64 {
            return Err(AttachError::Short { length });
        }
        let map = map(fd, length)?;
        // SAFETY: the mapping is at least as long as a header, page-aligned, and a header is made of atomics.
        let header = unsafe { &*map.as_ptr().cast::<Header>() };
        let found = header.magic.load(Ordering::Acquire);
        if found != MAGIC {
            return Err(AttachError::Foreign { found });
        }
        let sizes = sizes_of(header);
        let (version, hash) =
            (header.version.load(Ordering::Relaxed), header.layout_hash.load(Ordering::Relaxed));
        let layout = Layout::new(sizes);
        if version != VERSION || hash != layout.hash() {
            return Err(AttachError::Version { version, found: hash, wanted: layout.hash() });
        }
        if length < layout.length {
            return Err(AttachError::Short { length });
        }
        Self::over(map, layout)
    }

    fn over(map: MmapRaw, layout: Layout) -> Result<Self, AttachError> {
        let geometry =
            PageGeometry::new(layout.sizes.page_bytes).ok_or(AttachError::Short { length: layout.length })?;
        let base = map.as_mut_ptr();
        Ok(Self {
            base,
            length: layout.length,
            tables: Tables::new(base, &layout),
            layout,
            geometry,
            _map: map,
        })
    }

    /// Where the tables lie.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The size of a page.
    #[inline]
    pub fn geometry(&self) -> PageGeometry {
        self.geometry
    }

    /// The header.
    #[inline]
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header, made of atomics.
        unsafe { &*self.base.cast::<Header>() }
    }

    /// Client slot `index`.
    #[inline]
    pub fn client(&self, index: u32) -> &Client {
        self.tables.clients.at(index)
    }

    /// The row `index` of a program.
    pub fn program(&self, index: u32) -> &Program {
        self.tables.programs.at(index)
    }

    /// Which client (slot plus 1) owns chunk `index`.
    pub fn chunk_owner(&self, index: u32) -> &AtomicU32 {
        self.tables.chunk_owners.at(index)
    }

    /// Chunk `index`.
    #[inline]
    pub fn chunk(&self, index: u32) -> &Chunk {
        self.tables.chunks.at(index)
    }

    /// Description `index`.
    #[inline]
    pub fn description(&self, index: u32) -> &Description {
        self.tables.descriptions.at(index)
    }

    /// File slot `index`.
    #[inline]
    pub fn file(&self, index: u32) -> &File {
        self.tables.files.at(index)
    }

    /// Page slot `index`.
    #[inline]
    pub fn page(&self, index: u32) -> &Page {
        self.tables.pages.at(index)
    }

    /// Bucket `index` of the index of pages.
    #[inline]
    pub fn page_bucket(&self, index: u32) -> &Bucket {
        self.tables.page_buckets.at(index)
    }

    /// Bucket `index` of the index of files.
    pub fn file_bucket(&self, index: u32) -> &Bucket {
        self.tables.file_buckets.at(index)
    }

    /// Header of buffer `index`, numbered through all slabs.
    pub fn buffer(&self, index: u32) -> &BufferHeader {
        self.tables.buffers.at(index)
    }

    /// The slabs in use, in ascending order of buffer size.
    pub fn slabs(&self) -> &[Slab] {
        let n = (self.header().slabs.load(Ordering::Relaxed) as usize).min(MAX_SLABS);
        &self.header().slab[..n]
    }

    /// The slab of buffer `index` and where the buffer's bytes start in the segment.
    pub fn locate(&self, index: u32) -> Option<(&Slab, u64)> {
        let slab = self.slabs().iter().rev().find(|s| s.first.load(Ordering::Relaxed) <= index)?;
        let within = u64::from(index - slab.first.load(Ordering::Relaxed));
        Some((
            slab,
            slab.data.load(Ordering::Relaxed) + within * u64::from(slab.buffer_bytes.load(Ordering::Relaxed)),
        ))
    }

    /// Whether the process of client slot `index` is gone.
    pub fn client_is_dead(&self, index: u32) -> bool {
        if index >= self.layout.sizes.clients {
            return true;
        }
        let slot = self.client(index);
        match slot.state.load(Ordering::Acquire) {
            client::state::FREE | client::state::DEAD => true,
            client::state::CLAIMED | client::state::FORKING => false,
            _ => slot.process().is_dead(slot.start.load(Ordering::Relaxed)),
        }
    }

    /// Whether there is a client slot of this number.
    pub fn is_client(&self, index: u32) -> bool {
        index < self.layout.sizes.clients
    }

    /// Tells the coordinator that a stopped process holds the lock whose word this is.
    pub(crate) fn tell_held_up(&self, word: &AtomicU32) {
        let offset = std::ptr::from_ref(word) as u64 - self.base as u64;
        self.header().held_up.store(offset, Ordering::Relaxed);
    }

    /// The lock that somebody has told of so, if any; it is told once.
    pub fn take_held_up(&self) -> Option<&FutexLock> {
        let offset = self.header().held_up.swap(0, Ordering::Relaxed);
        let fits = offset != 0 && offset % 4 == 0 && offset + 8 <= self.layout.data;
        // SAFETY: within the tables and aligned; a lock is two atomic words, of which every value is one.
        fits.then(|| unsafe { &*self.base.add(offset as usize).cast::<FutexLock>() })
    }

    #[inline]
    fn holds(&self, offset: u64, len: usize) -> bool {
        offset >= self.layout.data && offset + len as u64 <= self.length
    }

    #[inline]
    fn address(&self, offset: u64, len: usize) -> usize {
        assert!(self.holds(offset, len), "buffer bytes at {offset}+{len}");
        self.base as usize + offset as usize
    }

    /// Number of buckets of the index of pages less 1.
    #[inline]
    pub(crate) fn page_bucket_mask(&self) -> u32 {
        self.tables.page_buckets.count - 1
    }

    /// Number of page slots.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.tables.pages.count
    }

    /// Bytes of buffers as a part for a vectored call.
    pub fn part(&self, offset: u64, len: usize) -> IoPart {
        IoPart::at(self.address(offset, len), len)
    }

    /// Copies `len` bytes at `offset` to the program's memory, from its byte `at` on.
    ///
    /// # Errors
    /// [`Fault`] when the program's memory is not there.
    #[inline]
    pub fn copy_out(&self, offset: u64, to: &impl UserMemory, at: usize, len: usize) -> Result<(), Fault> {
        if !self.holds(offset, len) {
            // A reader without the lock has met a page in the middle of a change, and will look again.
            return Err(Fault { done: 0 });
        }
        let mut from = self.base as usize + offset as usize;
        let mut done = 0;
        to.parts(at, len, |part| {
            // SAFETY: `from` is mapped segment memory of that length; the program's side may fault.
            let left = unsafe { copy::copy(part.base(), from, part.len()) };
            done += part.len() - left;
            from += part.len();
            if left == 0 {
                Ok(())
            } else {
                Err(Fault { done })
            }
        })
    }

    /// Copies `len` bytes of the program's memory, from its byte `at` on, to `offset`.
    ///
    /// # Errors
    /// [`Fault`] when the program's memory is not there.
    #[inline]
    pub fn copy_in(&self, offset: u64, from: &impl UserMemory, at: usize, len: usize) -> Result<(), Fault> {
        let mut to = self.address(offset, len);
        let mut done = 0;
        from.parts(at, len, |part| {
            // SAFETY: `to` is mapped segment memory of that length; the program's side may fault.
            let left = unsafe { copy::copy(to, part.base(), part.len()) };
            done += part.len() - left;
            to += part.len();
            if left == 0 {
                Ok(())
            } else {
                Err(Fault { done })
            }
        })
    }

    /// Copies `len` bytes inside the segment between buffers that do not overlap.
    pub fn copy_within(&self, from: u64, to: u64, len: usize) {
        let (from, to) = (self.address(from, len), self.address(to, len));
        // SAFETY: both sides are mapped segment memory of that length.
        unsafe { copy::copy(to, from, len) };
    }

    /// Fills `len` bytes with zeros.
    pub fn zero(&self, offset: u64, len: usize) {
        let to = self.address(offset, len);
        // SAFETY: mapped segment memory of that length, referenced by nobody.
        unsafe { std::ptr::write_bytes(to as *mut u8, 0, len) };
    }

    /// A byte string of a buffer, copied out; for the inspector and for tests.
    pub fn bytes(&self, offset: u64, len: usize) -> Vec<u8> {
        self.part(offset, len).to_vec()
    }
}

/// Fills the program's memory with zeros, `len` bytes from its byte `at` on.
///
/// # Errors
/// [`Fault`] when the memory is not there.
pub fn zero_user(to: &impl UserMemory, at: usize, len: usize) -> Result<(), Fault> {
    static ZEROS: [u8; 4096] = [0; 4096];
    let mut done = 0;
    to.parts(at, len, |part| {
        let mut within = 0;
        while within < part.len() {
            let take = (part.len() - within).min(ZEROS.len());
            // SAFETY: ZEROS is valid; the program's side may fault.
            let left = unsafe { copy::copy(part.base() + within, ZEROS.as_ptr() as usize, take) };
            done += take - left;
            if left > 0 {
                return Err(Fault { done });
            }
            within += take;
        }
        Ok(())
    })
}

fn sizes_of(header: &Header) -> Sizes {
    let mut slabs = [(0, 0); MAX_SLABS];
    for (size, slab) in slabs.iter_mut().zip(&header.slab) {
        *size = (slab.buffer_bytes.load(Ordering::Relaxed), slab.list.total());
    }
    Sizes {
        page_bytes: header.page_bytes.load(Ordering::Relaxed),
        clients: header.clients.load(Ordering::Relaxed),
        descriptions: header.descriptions.load(Ordering::Relaxed),
        files: header.files.load(Ordering::Relaxed),
        slabs,
    }
}
