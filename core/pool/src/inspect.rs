//! Views of the pool for the inspector: plain values, read without locks, each number right at some moment.

use crate::{Pool, ProgramView, TotalsView};
use millpond_segment::client::state as client_state;
use millpond_segment::file::state as file_state;
use millpond_segment::stats::Reason;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// One slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlabView {
    /// Device number.
    pub device: u32,
    /// Bytes in a buffer.
    pub buffer_bytes: u32,
    /// Buffers.
    pub total: u32,
    /// Free buffers.
    pub free: u32,
}

/// One file that is open, dirty or cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileView {
    /// File slot.
    pub slot: u32,
    /// A path it was opened by.
    pub name: String,
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Pages in the pool.
    pub pages: u32,
    /// Pages with dirty bytes.
    pub dirty_pages: u32,
    /// Dirty bytes.
    pub dirty_bytes: u64,
    /// Open descriptions.
    pub opens: u32,
    /// Reasons for direct mode.
    pub direct: Vec<&'static str>,
    /// Processes that have the file mapped.
    pub mapped: u32,
    /// Number of flushes that failed.
    pub errors: u32,
    /// Error number of the last failed flush, 0 when none.
    pub error: i32,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientView {
    /// Client slot.
    pub slot: u32,
    /// Process id.
    pub pid: u32,
    /// Command.
    pub command: String,
    /// What it is doing.
    pub state: &'static str,
    /// Entries in its table of descriptors.
    pub descriptors: u32,
    /// The program's name.
    pub name: String,
    /// What it has counted, in all images that it ran.
    pub counts: TotalsView,
}

/// The whole pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolView {
    /// Bytes in a page.
    pub page_bytes: u32,
    /// Capacity in bytes.
    pub capacity: u64,
    /// Slabs.
    pub slabs: Vec<SlabView>,
    /// Files.
    pub files: Vec<FileView>,
    /// Processes.
    pub clients: Vec<ClientView>,
    /// Programs, those that have ended too.
    pub programs: Vec<ProgramView>,
    /// Totals.
    pub totals: TotalsView,
}

impl Pool {
    /// All there is to see.
    pub fn view(&self) -> PoolView {
        let header = self.segment.header();
        PoolView {
            page_bytes: self.segment.geometry().bytes(),
            capacity: self.segment.layout().sizes.data_bytes(),
            slabs: self.view_slabs(),
            files: self.view_files(),
            clients: (1..header.client_top.load(Relaxed)).filter_map(|slot| self.view_client(slot)).collect(),
            programs: self.view_programs(None),
            totals: self.view_totals(None),
        }
    }

    fn view_slabs(&self) -> Vec<SlabView> {
        self.segment
            .slabs()
            .iter()
            .map(|slab| SlabView {
                device: slab.device.load(Relaxed),
                buffer_bytes: slab.buffer_bytes.load(Relaxed),
                total: slab.list.total(),
                free: slab.list.free(),
            })
            .collect()
    }

    /// The files that the pool knows.
    pub fn view_files(&self) -> Vec<FileView> {
        let mut dirty = vec![0u64; self.segment.layout().sizes.files as usize];
        if self.segment.header().dirty_pages.load(Relaxed) > 0 {
            for slot in 0..self.segment.pages() {
                let page = self.segment.page(slot);
                if let Some(sum) =
                    page.file.load(Acquire).checked_sub(1).and_then(|f| dirty.get_mut(f as usize))
                {
                    *sum += page.dirty.load().bytes();
                }
            }
        }
        (0..self.segment.header().file_top.load(Relaxed))
            .filter(|&slot| self.segment.file(slot).state.load(Acquire) == file_state::LIVE)
            .map(|slot| {
                let f = self.segment.file(slot);
                FileView {
                    slot,
                    name: f.name.text(),
                    dev: f.dev.load(Relaxed),
                    ino: f.ino.load(Relaxed),
                    size: f.size.load(Relaxed),
                    pages: f.pages.load(Relaxed),
                    dirty_pages: f.dirty_pages.load(Relaxed),
                    dirty_bytes: dirty[slot as usize],
                    opens: f.opens.load(Relaxed),
                    direct: Reason::names_of(f.direct.load(Relaxed)),
                    mapped: f.mapped.load(Relaxed),
                    errors: f.errors.load(Relaxed),
                    error: f.error.load(Relaxed) as i32,
                }
            })
            .collect()
    }

    fn view_client(&self, slot: u32) -> Option<ClientView> {
        let c = self.segment.client(slot);
        let state = match c.state.load(Acquire) {
            client_state::LIVE => "running",
            client_state::FORKING => "forking",
            client_state::EXECING => "executing",
            client_state::FOREIGN => "foreign",
            client_state::DEAD => "dead",
            _ => return None,
        };
        let mut descriptors = 0;
        self.for_entries(slot, |_, _| descriptors += 1);
        Some(ClientView {
            slot,
            pid: c.process().pid,
            command: c.command.text(),
            state,
            descriptors,
            name: c.name.text(),
            counts: self.view_process(slot),
        })
    }
}
