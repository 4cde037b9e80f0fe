//! Mappings: made, read, written, and what becomes of the bytes.
//!
//! Holds: mapped memory is touched only before the end of its file.

use super::actor::{floor, outcome, Actor, Picked, PAGE};
use super::state::{Map, MAPS, MOST};

/// Longest mapping, in pages.
const PAGES: u64 = 40;

impl Actor {
    /// One of the role's mappings.
    pub(super) fn pick_map(&mut self) -> Option<(usize, Map)> {
        let maps = self.state.roles[self.role].maps;
        let there: Vec<usize> = (0..MAPS).filter(|&index| maps[index].is_some() && !self.heir).collect();
        if there.is_empty() {
            self.told(" nothing mapped");
            return None;
        }
        let index = self.random.pick(&there);
        let map = maps[index]?;
        self.told(&format!(
            " map {index} of file {} at {} len {} {}{}",
            map.file,
            map.offset,
            map.len,
            if map.shared { "shared" } else { "private" },
            if map.writable { "" } else { " read-only" }
        ));
        Some((index, map))
    }

    /// Bytes of a mapping that lie before the end of its file.
    pub(super) fn inside(&self, map: &Map) -> usize {
        self.state.files[map.file].size.saturating_sub(map.offset).min(map.len)
    }

    /// What a byte of a mapping must be; nothing if it may be either of two.
    fn expected(&self, index: usize, map: &Map, at: usize) -> Option<u8> {
        let place = map.offset + at;
        match self.copies[index].get(&(place / PAGE)).filter(|_| !map.shared) {
            Some(_) if map.stale => None,
            Some(copy) => Some(copy[place % PAGE]),
            None => Some(self.state.files[map.file].bytes[place]),
        }
    }

    /// A range inside a mapping.
    fn range(&mut self, map: &Map) -> (usize, usize) {
        let inside = self.inside(map) as u64;
        let at = self.random.below(inside);
        let len = (self.length() as u64).min(inside - at);
        (at as usize, len as usize)
    }

    /// Makes a mapping of a descriptor's file, at `place` if there is one.
    fn mapping_of(&mut self, picked: &Picked, place: Option<(usize, usize)>) -> Option<Map> {
        let size = self.state.files[picked.d.file].size;
        let offset = floor(self.offset(size) % MOST);
        let len = place.map_or_else(|| (1 + self.random.below(PAGES) as usize) * PAGE, |(_, len)| len);
        let (shared, writable) = (self.random.below(3) > 0, self.random.below(3) > 0);
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let flags = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE }
            | if place.is_some() { libc::MAP_FIXED } else { 0 };
        let hint = place.map_or(0, |(address, _)| address) as *mut libc::c_void;
        let (fd, way) = (picked.slot.fd, self.random.below(4));
        self.told(&format!(" at {offset} len {len} flags {flags:#x} protection {protection}"));
        // SAFETY: a place of the kernel's choice overlaps nothing, any other is a mapping of this run's.
        let got = unsafe {
            if way == 0 {
                libc::syscall(libc::SYS_mmap, hint, len, protection, flags, fd, offset)
            } else {
                libc::mmap64(hint, len, protection, flags, fd, offset as i64) as i64
            }
        };
        let got = if got == -1 { outcome(got) } else { Ok(got as usize) };
        let denied = !picked.reads() || shared && writable && !picked.writes();
        let want = if denied { Err(libc::EACCES) } else { Ok(0) };
        self.expect("mmap", got.map(|_| 0), want);
        let address = got.ok()?;
        Some(Map { address, len, file: picked.d.file, offset, shared, writable, stale: false })
    }

    pub(super) fn map(&mut self) {
        let index = self.random.below(MAPS as u64) as usize;
        let Some(picked) = self.pick_fit(|p| p.reads() && p.writes()) else { return };
        if let Some(old) = self.state.roles[self.role].maps[index] {
            self.unmap(index, old, 0, old.len);
        }
        let map = self.mapping_of(&picked, None);
        self.copies[index].clear();
        self.state.roles[self.role].maps[index] = map;
    }

    pub(super) fn map_read(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let (at, len) = self.range(&map);
        self.told(&format!(" reads {at} len {len}"));
        let mut bytes = vec![0u8; len];
        // SAFETY: inside the mapping and before the end of the file.
        unsafe { std::ptr::copy_nonoverlapping((map.address + at) as *const u8, bytes.as_mut_ptr(), len) };
        self.compare_map(index, &map, at, &bytes);
    }

    fn compare_map(&mut self, index: usize, map: &Map, at: usize, bytes: &[u8]) {
        let known = |i: usize| self.expected(index, map, at + i);
        if (0..bytes.len()).any(|i| known(i).is_some_and(|byte| byte != bytes[i])) {
            let want: Vec<u8> = (0..bytes.len()).map(|i| known(i).unwrap_or(bytes[i])).collect();
            self.differs("mapping", map.file, map.offset + at, bytes, &want);
        }
    }

    pub(super) fn map_write(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        if !map.writable {
            return;
        }
        let (at, len) = self.range(&map);
        let bytes = self.data(len);
        self.told(&format!(" writes {at} len {len}"));
        // SAFETY: inside the mapping, which can be written, and before the end of the file.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (map.address + at) as *mut u8, len) };
        self.map_written(index, &map, at, &bytes);
    }

    /// Follows bytes that were put into a mapping.
    fn map_written(&mut self, index: usize, map: &Map, at: usize, bytes: &[u8]) {
        let place = map.offset + at;
        if map.shared {
            return self.wrote(map.file, place, bytes);
        }
        for (i, &byte) in bytes.iter().enumerate() {
            let (page, within) = ((place + i) / PAGE, (place + i) % PAGE);
            let file = &self.state.files[map.file];
            let copy = self.copies[index].entry(page).or_insert_with(|| {
                (0..PAGE).map(|i| file.bytes.get(page * PAGE + i).map_or(0, |b| *b)).collect()
            });
            copy[within] = byte;
        }
    }

    pub(super) fn map_sync(&mut self) {
        let Some((_, map)) = self.pick_map() else { return };
        let how = self.random.pick(&[libc::MS_SYNC, libc::MS_ASYNC, libc::MS_SYNC | libc::MS_INVALIDATE]);
        // SAFETY: a mapping of this run's.
        let got = outcome(unsafe { libc::msync(map.address as *mut _, map.len, how) }.into());
        self.expect("msync", got, Ok(0));
    }

    pub(super) fn map_move(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let len = (1 + self.random.below(PAGES) as usize) * PAGE;
        self.told(&format!(" to len {len}"));
        // SAFETY: a mapping of this run's, of which no borrow is left.
        let got = unsafe { libc::mremap(map.address as *mut _, map.len, len, libc::MREMAP_MAYMOVE) };
        if got == libc::MAP_FAILED {
            self.fail("mremap failed");
        }
        let last = (map.offset + len) / PAGE;
        self.copies[index].retain(|&page, _| page < last);
        self.state.roles[self.role].maps[index] = Some(Map { address: got as usize, len, ..map });
    }

    /// A second mapping of what a shared one shows.
    pub(super) fn map_twice(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let free = self.state.roles[self.role].maps.iter().position(Option::is_none);
        let Some(free) = free.filter(|_| map.shared && index < MAPS) else {
            return self.told(" not this one");
        };
        // SAFETY: an old length of zero leaves the old mapping as it is.
        let got = unsafe { libc::mremap(map.address as *mut _, 0, map.len, libc::MREMAP_MAYMOVE) };
        if got == libc::MAP_FAILED {
            self.fail("mremap failed");
        }
        self.copies[free].clear();
        self.state.roles[self.role].maps[free] = Some(Map { address: got as usize, ..map });
    }

    pub(super) fn map_drop(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        self.unmap(index, map, 0, map.len);
    }

    /// Takes a part of a mapping away.
    pub(super) fn map_part(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let pages = (map.len / PAGE) as u64;
        let from = self.random.below(pages);
        let count = 1 + self.random.below(pages - from);
        self.unmap(index, map, from as usize * PAGE, count as usize * PAGE);
    }

    fn unmap(&mut self, index: usize, map: Map, from: usize, len: usize) {
        self.told(&format!(" unmaps {from} len {len}"));
        let address = (map.address + from) as *mut libc::c_void;
        // SAFETY: pages of a mapping of this run's, of which no borrow is left.
        let got = unsafe {
            if self.random.once_in(4) {
                // Something else in its place does as well.
                let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(address, len, libc::PROT_NONE, flags, -1, 0);
            }
            libc::munmap(address, len)
        };
        self.expect("munmap", outcome(got.into()), Ok(0));
        let head = Map { len: from, ..map };
        let behind = from + len;
        let tail =
            Map { address: map.address + behind, offset: map.offset + behind, len: map.len - behind, ..map };
        let maps = &mut self.state.roles[self.role].maps;
        maps[index] = Some(head).filter(|map| map.len > 0);
        if tail.len == 0 {
            return;
        }
        if maps[index].is_none() {
            maps[index] = Some(tail);
        } else if let Some(free) = maps.iter().position(Option::is_none) {
            maps[free] = Some(tail);
            self.copies[free] = self.copies[index].clone();
        } else {
            // SAFETY: as above.
            let got = unsafe { libc::munmap(tail.address as *mut _, tail.len) };
            self.expect("munmap", outcome(got.into()), Ok(0));
        }
    }

    /// A new mapping in the place of an old one.
    pub(super) fn map_over(&mut self) {
        let Some((index, old)) = self.pick_map() else { return };
        let Some(picked) = self.pick_any() else { return };
        // What is denied leaves the old mapping.
        if let Some(map) = self.mapping_of(&picked, Some((old.address, old.len))) {
            self.copies[index].clear();
            self.state.roles[self.role].maps[index] = Some(map);
        }
    }

    pub(super) fn map_advise(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let advice = self.random.pick(&[libc::MADV_DONTNEED, libc::MADV_WILLNEED, libc::MADV_RANDOM]);
        // SAFETY: a mapping of this run's; a private one loses its own pages, as the model's does.
        let got = outcome(unsafe { libc::madvise(map.address as *mut _, map.len, advice) }.into());
        self.expect(&format!("madvise {advice}"), got, Ok(0));
        if advice == libc::MADV_DONTNEED {
            let pages = map.offset / PAGE..(map.offset + map.len) / PAGE;
            self.copies[index].retain(|page, _| !pages.contains(page));
        }
    }

    /// Reads a file into a mapping, of the same file perhaps.
    pub(super) fn read_into_map(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let Some(picked) = self.pick_any() else { return };
        let (at, len) = self.range(&map);
        let (file, size) = (picked.d.file, self.state.files[picked.d.file].size);
        let from = self.offset(size);
        let len = len.min(size.saturating_sub(from));
        let place = map.offset + at;
        let meets = file == map.file && from < place + len && place < from + len;
        if len == 0 || !map.writable || !picked.reads() || picked.has(libc::O_DIRECT) || meets {
            return self.told(" not this one");
        }
        self.told(&format!(" from {from} len {len} into {at}"));
        // SAFETY: inside the mapping, which can be written, and before the end of its file.
        let got =
            outcome(unsafe { libc::pread64(picked.slot.fd, (map.address + at) as *mut _, len, from as i64) }
                as i64);
        self.expect("pread", got, Ok(len));
        let bytes = self.state.files[file].read(from, len).to_vec();
        self.map_written(index, &map, at, &bytes);
    }

    /// Writes a file out of a mapping, of the same file perhaps.
    pub(super) fn write_from_map(&mut self) {
        let Some((index, map)) = self.pick_map() else { return };
        let Some(picked) = self.pick_any() else { return };
        let (at, len) = self.range(&map);
        let (file, size) = (picked.d.file, self.state.files[picked.d.file].size);
        let to = if picked.has(libc::O_APPEND) { size } else { self.offset(size) };
        let len = len.min(MOST - to);
        let place = map.offset + at;
        let meets = file == map.file && to < place + len && place < to + len;
        let known: Option<Vec<u8>> = (0..len).map(|i| self.expected(index, &map, at + i)).collect();
        let Some(bytes) =
            known.filter(|_| len > 0 && picked.writes() && !picked.has(libc::O_DIRECT) && !meets)
        else {
            return self.told(" not this one");
        };
        self.told(&format!(" from {at} len {len} to {to}"));
        // SAFETY: inside the mapping and before the end of its file.
        let got =
            outcome(
                unsafe { libc::pwrite64(picked.slot.fd, (map.address + at) as *const _, len, to as i64) }
                    as i64,
            );
        self.expect("pwrite", got, Ok(len));
        self.wrote(file, to, &bytes);
    }
}
