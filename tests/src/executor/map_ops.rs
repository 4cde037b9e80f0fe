//! Mappings of files. By most operations mapped memory is only touched by the kernel, through a pipe, so that a
//! page beyond the end of the file is an errno in the transcript and not a signal.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;

use super::calls;
use super::mapping::{Area, Mapping, Measure};
use super::memory::PAGE;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::{DataCall, MapKind, MapOp, MapUse, Resize, Touch};
use crate::script::MAPS;

/// A pipe whose descriptors, in the way like any others, close at the end of the operation.
fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe")
}

/// Copies mapped bytes out; stops at the first page that is not there.
fn peek(address: *const u8, len: usize) -> (Vec<u8>, Option<Errno>) {
    let (reader, writer) = pipe();
    let mut out = vec![0; len];
    let mut at = 0;
    while at < len {
        let chunk = (PAGE - (address as usize + at) % PAGE).min(len - at);
        // SAFETY: the kernel checks the address; the pipe is empty and holds a page at least.
        let put = unsafe { libc::write(writer.as_raw_fd(), address.add(at).cast(), chunk) };
        if put < 0 {
            out.truncate(at);
            return (out, Some(Errno::last()));
        }
        // SAFETY: within the live buffer.
        unsafe { libc::read(reader.as_raw_fd(), out[at..].as_mut_ptr().cast(), put as usize) };
        at += put as usize;
    }
    (out, None)
}

/// Copies bytes into a mapping; says how far it came.
fn poke(address: *mut u8, bytes: &[u8]) -> (usize, Option<Errno>) {
    let (reader, writer) = pipe();
    let mut at = 0;
    while at < bytes.len() {
        let chunk = (PAGE - (address as usize + at) % PAGE).min(bytes.len() - at);
        // SAFETY: within the live slice.
        unsafe { libc::write(writer.as_raw_fd(), bytes[at..].as_ptr().cast(), chunk) };
        // SAFETY: the kernel checks the address, which lies in a mapping of ours.
        if unsafe { libc::read(reader.as_raw_fd(), address.add(at).cast(), chunk) } < 0 {
            return (at, Some(Errno::last()));
        }
        at += chunk;
    }
    (at, None)
}

/// Copies between this process and itself as a debugger would.
fn by_process_memory(address: *mut u8, bytes: &mut [u8], write: bool) -> (usize, Option<Errno>) {
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let theirs = libc::iovec { iov_base: address.cast(), iov_len: bytes.len() };
    // SAFETY: the one side is a live slice; the kernel checks the other.
    let count = unsafe {
        if write {
            libc::process_vm_writev(libc::getpid(), &ours, 1, &theirs, 1, 0)
        } else {
            libc::process_vm_readv(libc::getpid(), &ours, 1, &theirs, 1, 0)
        }
    };
    usize::try_from(count).map_or_else(|_| (0, Some(Errno::last())), |count| (count, None))
}

/// Reads `len` mapped bytes that lie before the end of their file.
fn load(address: *mut u8, len: usize, touch: Touch) -> (Vec<u8>, Option<Errno>) {
    match touch {
        Touch::Pipe => peek(address, len),
        Touch::Program => {
            // SAFETY: the bytes are mapped for reading and the file reaches as far.
            let bytes = (0..len).map(|at| unsafe { address.add(at).read_volatile() }).collect();
            (bytes, None)
        }
        Touch::ProcessMemory => {
            let mut bytes = vec![0; len];
            let (count, errno) = by_process_memory(address, &mut bytes, false);
            bytes.truncate(count);
            (bytes, errno)
        }
    }
}

fn store(address: *mut u8, bytes: &mut [u8], touch: Touch) -> (usize, Option<Errno>) {
    match touch {
        Touch::Pipe => poke(address, bytes),
        Touch::Program => {
            for (at, byte) in bytes.iter().enumerate() {
                // SAFETY: the bytes are mapped for writing and the file reaches as far.
                unsafe { address.add(at).write_volatile(*byte) };
            }
            (bytes.len(), None)
        }
        Touch::ProcessMemory => by_process_memory(address, bytes, true),
    }
}

fn protection(writable: bool) -> i32 {
    if writable {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    }
}

fn map_flags(kind: MapKind) -> i32 {
    match kind {
        MapKind::Shared => libc::MAP_SHARED,
        MapKind::Validated => libc::MAP_SHARED_VALIDATE,
        MapKind::Private => libc::MAP_PRIVATE,
    }
}

/// Maps; an address of the kernel's choice where none is given.
fn map(address: *mut u8, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> Outcome {
    // SAFETY: an address of the kernel's choice overlaps nothing; a given one lies in a mapping of ours.
    Outcome::of(|| unsafe { calls::mmap(address.cast(), len, protection, flags, fd, offset) as i64 })
}

/// Addresses that nothing is behind. Holds them against mappings of others, whose places are nobody's business.
fn reserve(address: *mut u8, len: usize) -> *mut u8 {
    let fixed = if address.is_null() { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    // SAFETY: overlaps nothing but what the caller has given up.
    let place = unsafe { libc::mmap(address.cast(), len, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(place, libc::MAP_FAILED, "addresses");
    place.cast()
}

impl Process {
    pub(super) fn map_op(&mut self, op: &MapOp) -> String {
        match *op {
            MapOp::Once { slot, usage, page, len, seed } => self.map_once(slot, usage, page, len, seed),
            MapOp::Hold { slot, map, kind, writable, page, pages } => {
                self.map_hold(slot, map, kind, writable, page, pages)
            }
            MapOp::Read { map, touch } => self.map_read(map, touch),
            MapOp::Write { map, at, len, seed, touch } => self.map_write(map, at, len, seed, touch),
            MapOp::Protect { map, writable } => self.map_protect(map, writable),
            MapOp::Resize { map, pages, how } => self.map_resize(map, pages, how),
            MapOp::Cut { map, page, pages } => self.map_cut(map, page, pages),
            MapOp::Over { map, at_page, slot, kind, writable, page, pages } => {
                self.map_over(map, at_page, slot, kind, writable, page, pages)
            }
            MapOp::Sync { map, flags } => self.with_map(map, |mapping| {
                // SAFETY: the mapping is held.
                Outcome::of(|| unsafe { calls::msync(mapping.address.cast(), mapping.len, flags) })
                    .to_string()
            }),
            MapOp::Advise { map, page, pages, advice } => self.with_map(map, |mapping| {
                let range = mapping.pages(page, pages);
                // SAFETY: within the mapping; what it throws away is a file's.
                let start = unsafe { mapping.address.add(range.start) };
                // SAFETY: as above.
                Outcome::of(|| unsafe { calls::madvise(start.cast(), range.len(), advice) }).to_string()
            }),
            MapOp::Data { map, at, slot, write, call, offset, len } => {
                self.map_data(map, at, slot, write, call, offset, len)
            }
            MapOp::Drop { map } => self.map_drop(map),
        }
    }

    fn with_map(&mut self, map: u8, act: impl FnOnce(&mut Mapping) -> String) -> String {
        self.maps[usize::from(map) % MAPS].as_mut().map_or_else(|| "none".into(), act)
    }

    fn map_once(&self, slot: u8, usage: MapUse, page: u32, len: u32, seed: u32) -> String {
        let fd = self.fd(slot);
        let offset = i64::from(page) * PAGE as i64;
        let flags = match usage {
            MapUse::Read | MapUse::PrivateWrite => libc::MAP_PRIVATE,
            MapUse::SharedWrite | MapUse::SharedWriteSync => libc::MAP_SHARED,
        };
        let len = len as usize;
        let outcome = map(std::ptr::null_mut(), len, protection(usage != MapUse::Read), flags, fd, offset);
        if outcome.value == -1 {
            return outcome.to_string();
        }
        let address = outcome.value as *mut u8;
        // SAFETY: all fields are integers, for which zero is a value.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the result outlives the call.
        unsafe { libc::fstat(fd, &mut stat) };
        // Bytes of the last page beyond the end of the file belong to nobody.
        let inside = usize::try_from(stat.st_size - offset).unwrap_or(0).min(len);
        let before = peek(address, inside);
        let mut text = format!("mapped [{}] {:?}", data::show(&before.0), before.1);
        if usage != MapUse::Read {
            let bytes = data::pattern(seed, inside);
            let (count, errno) = poke(address, &bytes);
            let after = peek(address, inside).0;
            text += &format!(" wrote {count} {errno:?} [{}]", data::show(&after));
        }
        if usage == MapUse::SharedWriteSync {
            // SAFETY: the mapping made above.
            let synced = Outcome::of(|| unsafe { calls::msync(address.cast(), len, libc::MS_SYNC) });
            text += &format!(" msync {synced}");
        }
        // SAFETY: the mapping made above, to which no borrow is left.
        text + &format!(" {}", Outcome::of(|| unsafe { calls::munmap(address.cast(), len) }))
    }

    fn map_hold(
        &mut self,
        slot: u8,
        number: u8,
        kind: MapKind,
        writable: bool,
        page: u32,
        pages: u32,
    ) -> String {
        let dropped = self.map_drop(number);
        let fd = self.fd(slot);
        let len = pages.clamp(1, 64) as usize * PAGE;
        let offset = u64::from(page) * PAGE as u64;
        let null = std::ptr::null_mut();
        let outcome = map(null, len, protection(writable), map_flags(kind), fd, offset as i64);
        if outcome.value == -1 {
            return format!("{dropped} {outcome}");
        }
        let address = outcome.value as *mut u8;
        let Some(measure) = Measure::of(fd) else {
            // SAFETY: the mapping made above.
            unsafe { libc::munmap(address.cast(), len) };
            return format!("{dropped} mapped for nothing");
        };
        let areas = vec![Area { start: 0, end: len, offset, measure, writable }];
        self.maps[usize::from(number) % MAPS] = Some(Mapping { address, len, areas });
        format!("{dropped} mapped")
    }

    fn map_read(&mut self, map: u8, touch: Touch) -> String {
        self.with_map(map, |mapping| {
            let mut text = String::new();
            for area in &mapping.areas {
                let range = area.inside();
                // SAFETY: within the mapping.
                let start = unsafe { mapping.address.add(range.start) };
                let (bytes, errno) = load(start, range.len(), touch);
                text += &format!("[{}] {errno:?} ", data::show(&bytes));
            }
            text
        })
    }

    fn map_write(&mut self, map: u8, at: u32, len: u32, seed: u32, touch: Touch) -> String {
        self.with_map(map, |mapping| {
            let range = at as usize..(at as usize).saturating_add(len as usize);
            let mut text = String::new();
            for area in &mapping.areas {
                let inside = area.inside();
                let (start, end) = (inside.start.max(range.start), inside.end.min(range.end));
                if start >= end {
                    continue;
                }
                let mut bytes = data::pattern(seed, end - start);
                let touch = if area.writable { touch } else { Touch::Pipe };
                // SAFETY: within the mapping.
                let (count, errno) = store(unsafe { mapping.address.add(start) }, &mut bytes, touch);
                text += &format!("wrote {count} {errno:?} ");
            }
            text
        })
    }

    fn map_protect(&mut self, map: u8, writable: bool) -> String {
        self.with_map(map, |mapping| {
            let mut text = String::new();
            for area in &mut mapping.areas {
                // SAFETY: within the mapping.
                let outcome = Outcome::of(|| unsafe {
                    let start = mapping.address.add(area.start);
                    calls::mprotect(start.cast(), area.end - area.start, protection(writable))
                });
                if outcome.is_ok() {
                    area.writable = writable;
                }
                text += &format!("{outcome} ");
            }
            text
        })
    }

    fn map_resize(&mut self, map: u8, pages: u32, how: Resize) -> String {
        let index = usize::from(map) % MAPS;
        let Some(mapping) = self.maps[index].clone() else { return "none".into() };
        let [area] = mapping.areas.as_slice() else { return "in pieces".into() };
        if area.start != 0 || area.end != mapping.len {
            return "in pieces".into();
        }
        let new_len = pages.clamp(1, 64) as usize * PAGE;
        let old_len = if how == Resize::Duplicate { 0 } else { mapping.len };
        let (flags, place) = match how {
            Resize::Fixed => {
                (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, reserve(std::ptr::null_mut(), new_len))
            }
            Resize::MayMove | Resize::Duplicate => (libc::MREMAP_MAYMOVE, std::ptr::null_mut()),
        };
        // SAFETY: the mapping is held and forgotten where it moves; the place is nobody else's.
        let outcome = Outcome::of(|| unsafe {
            calls::mremap(mapping.address.cast(), old_len, new_len, flags, place.cast()) as i64
        });
        if outcome.value == -1 {
            if !place.is_null() {
                // SAFETY: reserved above.
                unsafe { libc::munmap(place.cast(), new_len) };
            }
            return outcome.to_string();
        }
        let areas = vec![Area { end: new_len, ..area.clone() }];
        let moved = Mapping { address: outcome.value as *mut u8, len: new_len, areas };
        if how == Resize::Duplicate {
            let other = (index + 1) % MAPS;
            let dropped = self.map_drop(other as u8);
            self.maps[other] = Some(moved);
            return format!("{dropped} mapped again");
        }
        self.maps[index] = Some(moved);
        "resized".into()
    }

    fn map_cut(&mut self, map: u8, page: u32, pages: u32) -> String {
        self.with_map(map, |mapping| {
            let range = mapping.pages(page, pages);
            // SAFETY: within the mapping.
            let start = unsafe { mapping.address.add(range.start) };
            // SAFETY: as above.
            let outcome = Outcome::of(|| unsafe { calls::munmap(start.cast(), range.len()) });
            reserve(start, range.len());
            mapping.carve(&range);
            outcome.to_string()
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of mmap")]
    fn map_over(
        &mut self,
        number: u8,
        at_page: u32,
        slot: u8,
        kind: MapKind,
        writable: bool,
        page: u32,
        pages: u32,
    ) -> String {
        let fd = self.fd(slot);
        self.with_map(number, |mapping| {
            let range = mapping.pages(at_page, pages);
            let offset = u64::from(page) * PAGE as u64;
            // SAFETY: within the mapping.
            let start = unsafe { mapping.address.add(range.start) };
            let flags = map_flags(kind) | libc::MAP_FIXED;
            let Some(measure) = Measure::of(fd) else { return "no file".into() };
            let outcome = map(start, range.len(), protection(writable), flags, fd, offset as i64);
            if outcome.value == -1 {
                return outcome.to_string();
            }
            mapping.carve(&range);
            mapping.insert(Area { start: range.start, end: range.end, offset, measure, writable });
            "mapped over".into()
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of a read, and of where it goes")]
    fn map_data(
        &mut self,
        map: u8,
        at: u32,
        slot: u8,
        write: bool,
        call: DataCall,
        offset: i64,
        len: u32,
    ) -> String {
        let fd = self.fd(slot);
        let text = self.with_map(map, |mapping| {
            let at = (at as usize).min(mapping.len);
            let len = (len as usize).min(mapping.room(at));
            // SAFETY: within the mapping.
            let memory: *mut libc::c_void = unsafe { mapping.address.add(at).cast() };
            let vector = libc::iovec { iov_base: memory, iov_len: len };
            // SAFETY: the kernel checks what is behind the addresses, which are the mapping's.
            Outcome::of(|| unsafe {
                match (call, write) {
                    (DataCall::At, true) => calls::pwrite(fd, memory, len, offset) as i64,
                    (DataCall::At, false) => calls::pread(fd, memory, len, offset) as i64,
                    (DataCall::Vector, true) => calls::writev(fd, &vector, 1) as i64,
                    (DataCall::Vector, false) => calls::readv(fd, &vector, 1) as i64,
                    (_, true) => calls::write(fd, memory, len) as i64,
                    (_, false) => calls::read(fd, memory, len) as i64,
                }
            })
            .to_string()
        });
        text + &self.position(fd)
    }

    pub(super) fn map_drop(&mut self, map: u8) -> String {
        let Some(mapping) = self.maps[usize::from(map) % MAPS].take() else { return "none".into() };
        // SAFETY: the mapping was made by `map_hold` or `map_resize` and is given up with this.
        Outcome::of(|| unsafe { calls::munmap(mapping.address.cast(), mapping.len) }).to_string()
    }
}
