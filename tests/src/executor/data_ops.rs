//! Reads and writes of every form.

use super::aliases;
use super::calls;
use super::memory::Memory;
use super::outcome::Outcome;
use super::{Fault, Process};
use crate::data;
use crate::script::op::{Buffer, DataCall};
use crate::script::Data;

/// Arguments of a data call, made ready.
struct Prepared {
    memory: Memory,
    vector: Vec<libc::iovec>,
}

impl Prepared {
    fn new(data: &Data) -> Prepared {
        let vectored = data.call.is_vectored();
        let lens: Vec<usize> =
            data.lens.iter().take(if vectored { 8 } else { 1 }).map(|len| *len as usize).collect();
        let memory = Memory::new(lens.iter().sum(), data.buffer);
        let mut vector = Vec::new();
        let mut at = 0;
        for len in lens {
            let base = memory.pointer().wrapping_add(at);
            vector.push(libc::iovec { iov_base: base.cast(), iov_len: len });
            at += len;
        }
        if data.buffer == Buffer::Null {
            if let Some(last) = vector.last_mut() {
                last.iov_base = std::ptr::null_mut();
            }
        }
        Prepared { memory, vector }
    }

    fn single(&self) -> (*mut libc::c_void, usize) {
        self.vector.first().map_or((std::ptr::null_mut(), 0), |first| (first.iov_base, first.iov_len))
    }
}

impl Process {
    pub(super) fn read(&self, data: &Data) -> String {
        let mut prepared = Prepared::new(data);
        let fd = self.fd(data.slot);
        let (pointer, len) = prepared.single();
        let (vector, count) = (prepared.vector.as_ptr(), prepared.vector.len() as i32);
        // SAFETY: the kernel checks every address; what it may write to is memory of `prepared`.
        let outcome = Outcome::of(|| unsafe {
            match data.call {
                DataCall::Plain => calls::read(fd, pointer, len) as i64,
                DataCall::Checked => aliases::__read_chk(fd, pointer, len, len) as i64,
                DataCall::CheckedAt => aliases::__pread_chk(fd, pointer, len, data.offset, len) as i64,
                DataCall::CheckedAt64 => aliases::__pread64_chk(fd, pointer, len, data.offset, len) as i64,
                DataCall::Syscall => libc::syscall(libc::SYS_read, fd, pointer, len),
                DataCall::SyscallAt => libc::syscall(libc::SYS_pread64, fd, pointer, len, data.offset),
                DataCall::VectorAt64 => libc::preadv64(fd, vector, count, data.offset) as i64,
                DataCall::VectorAt264 => aliases::preadv64v2(fd, vector, count, data.offset, data.rwf) as i64,
                DataCall::At => calls::pread(fd, pointer, len, data.offset) as i64,
                DataCall::At64 => libc::pread64(fd, pointer, len, data.offset) as i64,
                DataCall::Vector => calls::readv(fd, vector, count) as i64,
                DataCall::VectorAt => calls::preadv(fd, vector, count, data.offset) as i64,
                DataCall::VectorAt2 => calls::preadv2(fd, vector, count, data.offset, data.rwf) as i64,
            }
        });
        let memory = prepared.memory.bytes();
        let seen = outcome.count().unwrap_or(0).min(memory.len());
        format!("{outcome} [{}]{}", data::show(&memory[..seen]), self.position(fd))
    }

    pub(super) fn write(&self, data: &Data) -> String {
        let mut prepared = Prepared::new(data);
        data::fill(data.seed, prepared.memory.bytes());
        let fd = self.fd(data.slot);
        let (pointer, mut len) = prepared.single();
        let (vector, count) = (prepared.vector.as_ptr(), prepared.vector.len() as i32);
        let struck = self.strike();
        match struck {
            Some(Fault::Flip) => {
                if let Some(byte) = prepared.memory.bytes().first_mut() {
                    *byte ^= 0x40;
                }
            }
            Some(Fault::Drop) => len = len.saturating_sub(1),
            None => {}
        }
        // SAFETY: the kernel checks every address and only reads.
        let outcome = Outcome::of(|| unsafe {
            match data.call {
                DataCall::Plain | DataCall::Checked => calls::write(fd, pointer, len) as i64,
                DataCall::Syscall => libc::syscall(libc::SYS_write, fd, pointer, len),
                DataCall::SyscallAt => libc::syscall(libc::SYS_pwrite64, fd, pointer, len, data.offset),
                DataCall::VectorAt64 => libc::pwritev64(fd, vector, count, data.offset) as i64,
                DataCall::VectorAt264 => {
                    aliases::pwritev64v2(fd, vector, count, data.offset, data.rwf) as i64
                }
                DataCall::At | DataCall::CheckedAt => calls::pwrite(fd, pointer, len, data.offset) as i64,
                DataCall::At64 | DataCall::CheckedAt64 => {
                    libc::pwrite64(fd, pointer, len, data.offset) as i64
                }
                DataCall::Vector => calls::writev(fd, vector, count) as i64,
                DataCall::VectorAt => calls::pwritev(fd, vector, count, data.offset) as i64,
                DataCall::VectorAt2 => calls::pwritev2(fd, vector, count, data.offset, data.rwf) as i64,
            }
        });
        if outcome.value <= 0 {
            // Nothing was written, so nothing was altered: the next write gets the fault.
            self.fault.set(struck.map(|fault| (0, fault)).or(self.fault.get()));
        }
        format!("{outcome}{}", self.position(fd))
    }

    /// The file offset, where there is one.
    pub(super) fn position(&self, fd: i32) -> String {
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::lseek(fd, 0, libc::SEEK_CUR) });
        if outcome.is_ok() {
            format!(" at {}", outcome.value)
        } else {
            String::new()
        }
    }
}
