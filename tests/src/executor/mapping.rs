//! A mapping that is held: the areas of files that it consists of.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use super::memory::PAGE;

/// Lowest number of the descriptors that remember the size of mapped files.
const MEASURE_FD_MIN: i32 = 700;

/// An `O_PATH` descriptor of a mapped file, out of sight of preloaded libraries.
#[derive(Debug)]
pub struct Measure(OwnedFd);

impl Measure {
    /// Of the file that `fd` is open to, if there is a way to it.
    pub fn of(fd: i32) -> Option<Rc<Measure>> {
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let low = rustix::fs::open(format!("/proc/self/fd/{fd}"), flags, rustix::fs::Mode::empty()).ok()?;
        Some(Rc::new(Measure(rustix::io::fcntl_dupfd_cloexec(&low, MEASURE_FD_MIN).ok()?)))
    }

    /// Size of the file.
    pub fn size(&self) -> u64 {
        rustix::fs::fstat(&self.0).map_or(0, |stat| stat.st_size as u64)
    }
}

/// A part of a mapping that shows one stretch of one file.
#[derive(Clone, Debug)]
pub struct Area {
    /// First byte within the mapping.
    pub start: usize,
    /// First byte behind it.
    pub end: usize,
    /// Place of the first byte in the file.
    pub offset: u64,
    /// The file.
    pub measure: Rc<Measure>,
    /// Whether it may be written.
    pub writable: bool,
}

impl Area {
    /// The part that lies before the end of the file: bytes behind it belong to nobody.
    pub fn inside(&self) -> std::ops::Range<usize> {
        let left = self.measure.size().saturating_sub(self.offset);
        self.start..self.end.min(self.start.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)))
    }
}

/// A range of addresses that is held, with what is mapped in it.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First address.
    pub address: *mut u8,
    /// Length in bytes, whole pages.
    pub len: usize,
    /// In ascending order; what lies between belongs to no file.
    pub areas: Vec<Area>,
}

impl Mapping {
    /// Whole pages within the mapping, as near to what was asked as there are.
    pub fn pages(&self, page: u32, pages: u32) -> std::ops::Range<usize> {
        let all = self.len / PAGE;
        let start = (page as usize).min(all.saturating_sub(1));
        let end = (start + pages.max(1) as usize).min(all);
        start * PAGE..end * PAGE
    }

    /// How many bytes from `at` on a transfer may reach: bytes of a file's last page behind its end belong to
    /// nobody, while a whole page behind it must be found missing.
    pub fn room(&self, at: usize) -> usize {
        let Some(area) = self.areas.iter().find(|area| area.start <= at && at < area.end) else {
            let next = self.areas.iter().find(|area| area.start >= at);
            return next.map_or(self.len, |area| area.start) - at;
        };
        let end = area.inside().end;
        (if end % PAGE == 0 { area.end } else { end }).saturating_sub(at)
    }

    /// Takes a range out of the areas.
    pub fn carve(&mut self, range: &std::ops::Range<usize>) {
        let mut areas = Vec::new();
        for area in self.areas.drain(..) {
            if area.end <= range.start || area.start >= range.end {
                areas.push(area);
                continue;
            }
            if area.start < range.start {
                areas.push(Area { end: range.start, ..area.clone() });
            }
            if area.end > range.end {
                let offset = area.offset + (range.end - area.start) as u64;
                areas.push(Area { start: range.end, offset, ..area });
            }
        }
        self.areas = areas;
    }

    /// Puts an area where none is.
    pub fn insert(&mut self, area: Area) {
        self.areas.push(area);
        self.areas.sort_by_key(|area| area.start);
    }
}
