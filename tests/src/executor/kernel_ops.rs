//! Copies inside the kernel, hints, and transfers with odd counts and addresses.

use std::os::fd::AsRawFd;

use super::calls;
use super::memory::{Memory, PAGE};
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::{Buffer, KernelOp};
use crate::script::MAPS;

const FICLONERANGE: libc::c_ulong = 0x4020_940d;
const FIDEDUPERANGE: libc::c_ulong = 0xc018_9436;

/// What one empty pipe takes for certain, so that nothing waits.
const PIPE_ROOM: usize = 4096;
/// Most pieces of a vectored transfer that have memory behind them.
const PIECES_MAX: usize = 1100;

impl Process {
    pub(super) fn kernel_op(&self, op: &KernelOp) -> String {
        match *op {
            KernelOp::Tee { from_slot, to_slot, len } => self.tee(from_slot, to_slot, len as usize),
            KernelOp::Vmsplice { to_slot, map, offset, len, seed } => {
                self.vmsplice(to_slot, map, offset, len as usize, seed)
            }
            KernelOp::CloneRange { from_slot, to_slot, from, to, len } => {
                let range = [self.fd(from_slot) as u64, from, len, to];
                let target = self.fd(to_slot);
                // SAFETY: the structure of four words outlives the call.
                Outcome::of(|| unsafe { calls::ioctl(target, FICLONERANGE, range.as_ptr() as usize) })
                    .to_string()
            }
            KernelOp::Dedupe { from_slot, to_slot, from, to, len } => {
                let source = self.fd(from_slot);
                // The header, one target, and in that what came of it.
                let mut words = [from, len, 1, self.fd(to_slot) as u64, to, 0, 0];
                // SAFETY: the structure outlives the call.
                let outcome = Outcome::of(|| unsafe {
                    calls::ioctl(source, FIDEDUPERANGE, words.as_mut_ptr() as usize)
                });
                format!("{outcome} {} {}", words[5], words[6] as u32 as i32)
            }
            KernelOp::Syncfs { slot } => {
                let fd = self.fd(slot);
                // SAFETY: takes no memory.
                Outcome::of(|| unsafe { calls::syncfs(fd) }).to_string()
            }
            KernelOp::Sync => {
                // SAFETY: takes nothing.
                unsafe { libc::sync() };
                String::new()
            }
            KernelOp::SyncFileRange { slot, offset, len, flags } => {
                let fd = self.fd(slot);
                // SAFETY: takes no memory.
                Outcome::of(|| unsafe { calls::sync_file_range(fd, offset, len, flags) }).to_string()
            }
            KernelOp::Fadvise { slot, offset, len, advice } => {
                let fd = self.fd(slot);
                // SAFETY: takes no memory.
                let value = unsafe {
                    if calls::by_number() {
                        libc::syscall(libc::SYS_fadvise64, fd, offset, len, advice) as i32
                    } else if len % 2 == 0 {
                        libc::posix_fadvise(fd, offset, len, advice)
                    } else {
                        libc::posix_fadvise64(fd, offset, len, advice)
                    }
                };
                format!("= {value}{}", self.position(fd))
            }
            KernelOp::Readahead { slot, offset, len } => {
                let fd = self.fd(slot);
                // SAFETY: takes no memory.
                Outcome::of(|| unsafe { calls::readahead(fd, offset, len as usize) as i64 }).to_string()
            }
            KernelOp::Huge { slot, write, at, count, memory, seed } => {
                self.huge(slot, write, at, count as usize, memory as usize, seed)
            }
            KernelOp::Pieces { slot, write, at, count, len, seed } => {
                self.pieces(slot, write, at, count, len as usize, seed)
            }
            KernelOp::BadPointer { slot, which } => self.bad_pointer(slot, which),
        }
    }

    fn tee(&self, from_slot: u8, to_slot: u8, len: usize) -> String {
        let (source, target) = (self.fd(from_slot), self.fd(to_slot));
        let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        let ((reader, writer), (second_reader, second_writer)) = (pipe(), pipe());
        let null = std::ptr::null_mut();
        let len = len.min(PIPE_ROOM);
        // SAFETY: takes no memory but null offsets.
        let into =
            Outcome::of(|| unsafe { calls::splice(source, null, writer.as_raw_fd(), null, len, 0) as i64 });
        let mut text = format!("in {into}");
        if into.value > 0 {
            // SAFETY: takes no memory.
            let doubled = Outcome::of(|| unsafe {
                calls::tee(reader.as_raw_fd(), second_writer.as_raw_fd(), into.value as usize, 0) as i64
            });
            text += &format!(" tee {doubled}");
            for (end, count) in [(&reader, into.value), (&second_reader, doubled.value)] {
                if count <= 0 {
                    continue;
                }
                // SAFETY: takes no memory but null offsets.
                let out = Outcome::of(|| unsafe {
                    calls::splice(end.as_raw_fd(), null, target, null, count as usize, 0) as i64
                });
                text += &format!(" out {out}");
            }
        }
        text + &self.position(source) + &self.position(target)
    }

    fn vmsplice(&self, to_slot: u8, map: Option<u8>, offset: Option<i64>, len: usize, seed: u32) -> String {
        let target = self.fd(to_slot);
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        let mut memory = Memory::new(len.min(PIPE_ROOM), Buffer::Good);
        data::fill(seed, memory.bytes());
        let mut vector = libc::iovec { iov_base: memory.pointer().cast(), iov_len: memory.bytes().len() };
        if let Some(mapping) = map.and_then(|map| self.maps[usize::from(map) % MAPS].as_ref()) {
            let room = mapping.room(0).min(vector.iov_len);
            vector = libc::iovec { iov_base: mapping.address.cast(), iov_len: room };
        }
        // SAFETY: the kernel checks the addresses.
        let into = Outcome::of(|| unsafe { calls::vmsplice(writer.as_raw_fd(), &vector, 1, 0) as i64 });
        let mut offset = offset;
        let pointer = offset.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        let mut text = format!("in {into}");
        if into.value > 0 {
            // SAFETY: the offset outlives the call.
            let out = Outcome::of(|| unsafe {
                let null = std::ptr::null_mut();
                calls::splice(reader.as_raw_fd(), null, target, pointer, into.value as usize, 0) as i64
            });
            text += &format!(" out {out} offset {offset:?}");
        }
        text + &self.position(target)
    }

    fn huge(&self, slot: u8, write: bool, at: Option<i64>, count: usize, memory: usize, seed: u32) -> String {
        let fd = self.fd(slot);
        let len = memory.max(1).next_multiple_of(PAGE);
        let mut memory = Memory::new(len, Buffer::Good);
        if write {
            data::fill(seed, memory.bytes());
        }
        let pointer: *mut libc::c_void = memory.pointer().cast();
        // SAFETY: the kernel checks every address; behind the memory lies a page that cannot be touched.
        let outcome = Outcome::of(|| unsafe {
            match (write, at) {
                (true, Some(at)) => calls::pwrite(fd, pointer, count, at) as i64,
                (true, None) => calls::write(fd, pointer, count) as i64,
                (false, Some(at)) => calls::pread(fd, pointer, count, at) as i64,
                (false, None) => calls::read(fd, pointer, count) as i64,
            }
        });
        let seen = if write { 0 } else { outcome.count().unwrap_or(0).min(len) };
        format!("{outcome} [{}]{}", data::show(&memory.bytes()[..seen]), self.position(fd))
    }

    fn pieces(&self, slot: u8, write: bool, at: Option<i64>, count: i32, len: usize, seed: u32) -> String {
        let fd = self.fd(slot);
        let room = len.min(300);
        let pieces = usize::try_from(count).unwrap_or(0).min(PIECES_MAX);
        let mut memory = Memory::new((room * pieces).max(1), Buffer::Good);
        if write {
            data::fill(seed, memory.bytes());
        }
        let base = memory.pointer();
        // The vector ends where memory ends, so that a greater count runs into nothing.
        let bytes = pieces * size_of::<libc::iovec>();
        let place = Memory::new(bytes.max(1), Buffer::Torn(0));
        let tail = bytes.max(1).next_multiple_of(PAGE) - bytes;
        let vector: *mut libc::iovec = place.pointer().wrapping_add(tail).cast();
        for index in 0..pieces {
            let piece = libc::iovec { iov_base: base.wrapping_add(index * room).cast(), iov_len: len };
            // SAFETY: the memory reaches to the end of its last page.
            unsafe { vector.add(index).write(piece) };
        }
        // SAFETY: the kernel checks every address.
        let outcome = Outcome::of(|| unsafe {
            match (write, at) {
                (true, Some(at)) => calls::pwritev(fd, vector, count, at) as i64,
                (true, None) => calls::writev(fd, vector, count) as i64,
                (false, Some(at)) => calls::preadv(fd, vector, count, at) as i64,
                (false, None) => calls::readv(fd, vector, count) as i64,
            }
        });
        let held = memory.bytes();
        let seen = if write { 0 } else { outcome.count().unwrap_or(0).min(held.len()) };
        format!("{outcome} [{}]{}", data::show(&held[..seen]), self.position(fd))
    }

    fn bad_pointer(&self, slot: u8, which: u8) -> String {
        let fd = self.fd(slot);
        // An address that no process has anything at.
        let bad = 16 as *mut libc::c_void;
        let path = bad as *const libc::c_char;
        // SAFETY: the kernel checks the addresses, none of which is good.
        let outcome = Outcome::of(|| unsafe {
            match which % 14 {
                0 => i64::from(libc::fstat(fd, bad.cast())),
                1 => libc::syscall(libc::SYS_newfstatat, fd, c"".as_ptr(), bad, libc::AT_EMPTY_PATH),
                2 => {
                    i64::from(libc::statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_ALL, bad.cast()))
                }
                3 => i64::from(libc::open(path, libc::O_RDWR)),
                4 => i64::from(libc::truncate(path, 10)),
                5 => libc::readv(fd, bad.cast(), 2) as i64,
                6 => libc::pwritev(fd, bad.cast(), 2, 0) as i64,
                7 => libc::sendfile(fd, fd, bad.cast(), 10) as i64,
                8 => i64::from(libc::stat(path, bad.cast())),
                9 => libc::copy_file_range(fd, bad.cast(), fd, std::ptr::null_mut(), 10, 0) as i64,
                10 => i64::from(libc::fcntl(fd, libc::F_GETLK, bad)),
                11 => libc::read(fd, usize::MAX as *mut _, 10) as i64,
                12 => libc::write(fd, (usize::MAX / 2 + 1) as *const _, 10) as i64,
                _ => libc::syscall(libc::SYS_utimensat, fd, std::ptr::null::<u8>(), bad, 0),
            }
        });
        format!("{outcome}{}", self.position(fd))
    }
}
