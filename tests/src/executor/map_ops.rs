//! Mappings of files. Mapped memory is only ever touched by the kernel, through a pipe, so that a page
//! beyond the end of the file is an errno in the transcript and not a signal.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use nix::errno::Errno;

use super::memory::PAGE;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::MapUse;
use crate::script::MAPS;

/// Lowest number of the descriptors that remember the size of mapped files.
const MEASURE_FD_MIN: i32 = 700;

/// A mapping that is held.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    address: *mut u8,
    len: usize,
    /// An `O_PATH` descriptor of the file, out of sight of preloaded libraries.
    measure: i32,
}

impl Mapping {
    /// How many of the mapping's bytes lie before the end of the file.
    fn inside(&self) -> usize {
        // SAFETY: the descriptor is this mapping's own.
        let fd = unsafe { rustix::fd::BorrowedFd::borrow_raw(self.measure) };
        let size = rustix::fs::fstat(fd).map_or(0, |stat| stat.st_size);
        self.len.min(usize::try_from(size).unwrap_or(0))
    }
}

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
        let chunk = (PAGE - at % PAGE).min(len - at);
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

impl Process {
    pub(super) fn mmap(&self, slot: u8, usage: MapUse, page: u32, len: u32, seed: u32) -> String {
        let fd = self.fd(slot);
        let offset = i64::from(page) * PAGE as i64;
        let (protection, flags) = match usage {
            MapUse::Read => (libc::PROT_READ, libc::MAP_PRIVATE),
            MapUse::PrivateWrite => (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE),
            _ => (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED),
        };
        let len = len as usize;
        // SAFETY: an address of the kernel's choice overlaps nothing.
        let outcome = Outcome::of(|| unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, flags, fd, offset) as i64
        });
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
            let synced = Outcome::of(|| unsafe { libc::msync(address.cast(), len, libc::MS_SYNC) });
            text += &format!(" msync {synced}");
        }
        // SAFETY: the mapping made above, to which no borrow is left.
        text + &format!(" {}", Outcome::of(|| unsafe { libc::munmap(address.cast(), len) }))
    }

    pub(super) fn map_hold(&mut self, slot: u8, map: u8, writable: bool, pages: u32) -> String {
        let dropped = self.map_drop(map);
        let fd = self.fd(slot);
        let len = pages.clamp(1, 64) as usize * PAGE;
        let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: an address of the kernel's choice overlaps nothing.
        let outcome = Outcome::of(|| unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, fd, 0) as i64
        });
        if outcome.value == -1 {
            return format!("{dropped} {outcome}");
        }
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let measure = rustix::fs::open(format!("/proc/self/fd/{fd}"), flags, rustix::fs::Mode::empty())
            .and_then(|low| rustix::io::fcntl_dupfd_cloexec(&low, MEASURE_FD_MIN))
            .expect("a descriptor of a mapped file");
        let mapping = Mapping { address: outcome.value as *mut u8, len, measure: measure.into_raw_fd() };
        self.maps[usize::from(map) % MAPS] = Some(mapping);
        format!("{dropped} mapped")
    }

    pub(super) fn map_read(&self, map: u8) -> String {
        let Some(mapping) = self.maps[usize::from(map) % MAPS] else { return "none".into() };
        let (bytes, errno) = peek(mapping.address, mapping.inside());
        format!("[{}] {errno:?}", data::show(&bytes))
    }

    pub(super) fn map_write(&self, map: u8, at: u32, len: u32, seed: u32) -> String {
        let Some(mapping) = self.maps[usize::from(map) % MAPS] else { return "none".into() };
        let inside = mapping.inside();
        let at = (at as usize).min(inside);
        let bytes = data::pattern(seed, (len as usize).min(inside - at));
        // SAFETY: `at` lies within the mapping.
        let (count, errno) = poke(unsafe { mapping.address.add(at) }, &bytes);
        format!("wrote {count} {errno:?}")
    }

    pub(super) fn map_drop(&mut self, map: u8) -> String {
        let Some(mapping) = self.maps[usize::from(map) % MAPS].take() else { return "none".into() };
        // SAFETY: the mapping was made by `map_hold` and is given up with this.
        let outcome = Outcome::of(|| unsafe { libc::munmap(mapping.address.cast(), mapping.len) });
        // SAFETY: the descriptor is the mapping's own.
        unsafe { rustix::io::close(mapping.measure) };
        outcome.to_string()
    }
}
