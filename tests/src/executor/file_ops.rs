//! Size, allocation, durability and copies inside the kernel.

use super::calls;
use super::outcome::Outcome;
use super::raw;
use super::Process;
use crate::data;

/// Furthest that a hole is checked for zeros.
const HOLE_CHECK_BOUND: i64 = 1 << 20;

impl Process {
    pub(super) fn fsync(&self, slot: u8, data_only: bool) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe {
            if data_only {
                calls::fdatasync(fd)
            } else {
                calls::fsync(fd)
            }
        })
        .to_string()
    }

    pub(super) fn truncate(&self, path: &str, len: i64) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe {
            if len % 2 == 0 {
                calls::truncate(path.as_ptr(), len)
            } else {
                libc::truncate64(path.as_ptr(), len)
            }
        })
        .to_string()
    }

    pub(super) fn ftruncate(&self, slot: u8, len: i64) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe {
            if len % 2 == 0 {
                calls::ftruncate(fd, len)
            } else {
                libc::ftruncate64(fd, len)
            }
        });
        format!("{outcome}{}", self.position(fd))
    }

    pub(super) fn fallocate(&self, slot: u8, mode: i32, offset: i64, len: i64) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe {
            if len % 2 == 0 {
                calls::fallocate(fd, mode, offset, len)
            } else {
                libc::fallocate64(fd, mode, offset, len)
            }
        })
        .to_string()
    }

    pub(super) fn posix_fallocate(&self, slot: u8, offset: i64, len: i64) -> String {
        let fd = self.fd(slot);
        // Reports its error as a value; whether `errno` is touched is left open by POSIX.
        // SAFETY: takes no memory.
        let value = unsafe {
            if len % 2 == 0 {
                libc::posix_fallocate(fd, offset, len)
            } else {
                libc::posix_fallocate64(fd, offset, len)
            }
        };
        format!("= {value}")
    }

    pub(super) fn copy_file_range(
        &self,
        from_slot: u8,
        to_slot: u8,
        from: Option<i64>,
        to: Option<i64>,
        len: u32,
    ) -> String {
        let (source, target) = (self.fd(from_slot), self.fd(to_slot));
        let (mut from, mut to) = (from, to);
        let from_pointer = from.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        let to_pointer = to.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        // SAFETY: the offsets outlive the call.
        let outcome = Outcome::of(|| unsafe {
            calls::copy_file_range(source, from_pointer, target, to_pointer, len as usize, 0) as i64
        });
        let (a, b) = (self.position(source), self.position(target));
        format!("{outcome} offsets {from:?} {to:?} from{a} to{b}")
    }

    pub(super) fn sendfile(&self, from_slot: u8, to_slot: u8, from: Option<i64>, len: u32) -> String {
        let (source, target) = (self.fd(from_slot), self.fd(to_slot));
        let mut from = from;
        let pointer = from.as_mut().map_or(std::ptr::null_mut(), |offset| offset as *mut i64);
        // SAFETY: the offset outlives the call.
        let outcome =
            Outcome::of(|| unsafe { calls::sendfile(target, source, pointer, len as usize) as i64 });
        let (a, b) = (self.position(source), self.position(target));
        format!("{outcome} offset {from:?} from{a} to{b}")
    }

    pub(super) fn seek_sparse(&self, slot: u8, offset: i64, hole: bool) -> String {
        let fd = self.fd(slot);
        let synced = self.fsync(slot, false);
        let whence = if hole { libc::SEEK_HOLE } else { libc::SEEK_DATA };
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::lseek(fd, offset, whence) });
        // SAFETY: takes no memory.
        let size = Outcome::of(|| unsafe { calls::lseek(fd, 0, libc::SEEK_END) }).value;
        // SAFETY: takes no memory.
        let back = Outcome::of(|| unsafe { calls::lseek(fd, 0, libc::SEEK_SET) });
        let claimed = match (outcome.is_ok(), outcome.errno) {
            (true, _) if hole => outcome.value..(outcome.value | 4095).saturating_add(1),
            (true, _) => offset..outcome.value,
            // No data up to the end.
            (false, libc::ENXIO) if !hole && (0..size).contains(&offset) => offset..size,
            (false, _) => return format!("{synced} {outcome} size {size} back {back}"),
        };
        let end = claimed.end.min(size).min(claimed.start.saturating_add(HOLE_CHECK_BOUND));
        let verdict = match (outcome.value, self.is_zero(fd, claimed.start, end)) {
            (value, _) if value > size || (0..offset).contains(&value) => "out of range",
            (_, true) => "consistent",
            (_, false) => "a hole where data is",
        };
        format!("{synced} {verdict} size {size} back {back}")
    }

    /// Whether a range reads as zeros; what cannot be read counts as such.
    fn is_zero(&self, fd: i32, start: i64, end: i64) -> bool {
        let mut bytes = vec![0_u8; 64 << 10];
        let mut at = start;
        while at < end {
            let want = bytes.len().min((end - at) as usize);
            // SAFETY: at most the length of the live buffer.
            let got = unsafe { calls::pread(fd, bytes.as_mut_ptr().cast(), want, at) };
            if got <= 0 {
                return true;
            }
            if bytes[..got as usize].iter().any(|byte| *byte != 0) {
                return false;
            }
            at += got as i64;
        }
        true
    }

    pub(super) fn raw_after_sync(&self, slot: u8) -> String {
        let fd = self.fd(slot);
        let synced = self.fsync(slot, false);
        // What was not synced (an `O_PATH` descriptor's file, say) promises nothing of the real file.
        let file = if synced.starts_with('0') {
            raw::describe(&format!("/proc/self/fd/{fd}"))
        } else {
            "not synced".into()
        };
        format!("{synced} {file}")
    }

    pub(super) fn raw_after_close(&mut self, path: &str) -> String {
        if !self.solo {
            return "not alone".into();
        }
        let streams: Vec<String> = (0..self.streams.len()).map(|index| self.fclose(index as u8)).collect();
        let maps: Vec<String> = (0..self.maps.len()).map(|index| self.map_drop(index as u8)).collect();
        self.mail = None;
        let slots: Vec<String> = (0..self.slots.len()).map(|index| self.close(index as u8)).collect();
        // Descriptors that a later open into the same slot has pushed out count as well.
        // SAFETY: takes no memory; nothing of this process lives behind these numbers any more.
        unsafe { calls::close_range(3, 900, 0) };
        let path = self.path(path);
        let file = if self.killed {
            // What a killed process wrote is flushed a little later by the coordinator.
            "after a kill".into()
        } else {
            raw::describe(&path.to_string_lossy())
        };
        data::show(format!("{streams:?}{maps:?}{slots:?}").as_bytes()) + " " + &file
    }
}
