//! A pool over a memory file and a store with faults, for the tests of this crate.

use crate::{Caller, Pool, Store};
use millpond_segment::sys::IoPart;
use millpond_segment::{Errno, Segment, Sizes};
use std::cell::{Cell, RefCell};
use std::os::fd::AsFd;

/// A pool with the given slabs over a fresh memory file.
pub(crate) fn pool(page_bytes: u32, slabs: &[(u32, u32)]) -> Pool {
    let mut all = [(0, 0); millpond_model::placement::MAX_SLABS];
    all[..slabs.len()].copy_from_slice(slabs);
    let sizes = Sizes { page_bytes, clients: 8, descriptions: 64, files: 32, slabs: all };
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(millpond_segment::Layout::new(sizes).length).expect("room for a segment");
    let segment = Segment::create(file.as_fd(), sizes).expect("a segment");
    Pool::new(segment)
}

pub(crate) fn caller() -> Caller {
    Caller::new(1, 1)
}

/// A file in memory whose writes can be made to fail.
#[derive(Default)]
pub(crate) struct MemoryStore {
    pub(crate) bytes: RefCell<Vec<u8>>,
    pub(crate) fail: Cell<Option<i32>>,
    pub(crate) reads: Cell<u32>,
    pub(crate) writes: Cell<u32>,
    pub(crate) changed: Cell<i64>,
}

impl Store for MemoryStore {
    fn readable(&self) -> bool {
        true
    }

    fn writable(&self) -> bool {
        true
    }

    fn read(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        self.reads.set(self.reads.get() + 1);
        let bytes = self.bytes.borrow();
        let mut at = (offset as usize).min(bytes.len());
        let start = at;
        for part in parts {
            let end = (at + part.len()).min(bytes.len());
            part.fill(&bytes[at..end]);
            at = end;
        }
        Ok(at - start)
    }

    fn write(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        if let Some(errno) = self.fail.get() {
            return Err(Errno(errno));
        }
        self.writes.set(self.writes.get() + 1);
        self.changed.set(self.changed.get() + 1);
        let mut bytes = self.bytes.borrow_mut();
        let mut at = offset as usize;
        for part in parts {
            let data = part.to_vec();
            if bytes.len() < at + data.len() {
                bytes.resize(at + data.len(), 0);
            }
            bytes[at..at + data.len()].copy_from_slice(&data);
            at += data.len();
        }
        Ok(at - offset as usize)
    }

    fn stamp(&self) -> Result<millpond_model::Stamp, Errno> {
        Ok(millpond_model::Stamp {
            size: self.bytes.borrow().len() as u64,
            mtime: self.changed.get(),
            ctime: self.changed.get(),
            btime: 1,
        })
    }
}
