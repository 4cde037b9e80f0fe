//! Process numbers in other pid namespaces than the coordinator's.
//!
//! A process in a container knows itself by another number than the coordinator does. A number is therefore kept with its namespace, and found in
//! `/proc` by both; where that cannot be told, nobody is taken for dead.

use super::calls::{close, openat, process_is_dead, stat_at};
use super::syscall;
use std::ffi::CStr;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A namespace that cannot be named, for want of a `/proc`.
pub const UNKNOWN: u32 = 1;

/// Who a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its number; 0 for a child that has not said its own.
    pub pid: u32,
    /// The namespace that the number belongs to: 0 for the coordinator's, else its inode, or [`UNKNOWN`].
    pub space: u32,
}

impl Process {
    /// Process `pid` of the coordinator's namespace.
    pub fn here(pid: u32) -> Self {
        Self { pid, space: 0 }
    }

    /// As one word.
    pub fn to_word(self) -> u64 {
        u64::from(self.space) << 32 | u64::from(self.pid)
    }

    /// From one word.
    pub fn from_word(word: u64) -> Self {
        Self { pid: word as u32, space: (word >> 32) as u32 }
    }

    /// Whether it is gone for certain. `start` is its start time, 0 when unknown.
    pub fn is_dead(self, start: u64) -> bool {
        match self.locate() {
            Place::Here(pid) => process_is_dead(pid, start),
            Place::Nowhere => true,
            Place::Unsure => false,
        }
    }

    /// Its number here, if it can be told.
    pub fn pid_here(self) -> Option<u32> {
        match self.locate() {
            Place::Here(pid) => Some(pid),
            _ => None,
        }
    }

    fn locate(self) -> Place {
        if ELSEWHERE.load(Relaxed) || self.space == UNKNOWN {
            return Place::Unsure;
        }
        if self.space == 0 {
            return Place::Here(self.pid);
        }
        let mut place = Place::Nowhere;
        let looked = each_process(|pid| {
            if last_number(pid) != Some(self.pid) || matches!(place, Place::Here(_)) {
                return;
            }
            match space_of(pid) {
                Some(space) if space == self.space => place = Place::Here(pid),
                Some(_) => {}
                // Another user's, or one that hides itself.
                None => place = Place::Unsure,
            }
        });
        if looked {
            place
        } else {
            Place::Unsure
        }
    }
}

enum Place {
    Here(u32),
    Nowhere,
    Unsure,
}

/// Set in a process of another namespace than the coordinator's, which sees other numbers.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Says whether this process is in another namespace than the coordinator's.
pub fn set_elsewhere(elsewhere: bool) {
    ELSEWHERE.store(elsewhere, Relaxed);
}

/// The namespace that this process is in, 0 when there is no `/proc`.
pub fn own_space() -> u32 {
    stat_at(libc::AT_FDCWD, c"/proc/self/ns/pid", 0).map_or(0, |s| s.ino as u32)
}

fn path<'a>(buf: &'a mut [u8; 40], pid: u32, file: &str) -> Option<&'a CStr> {
    let mut at = &mut buf[..39];
    write!(at, "/proc/{pid}/{file}").ok()?;
    CStr::from_bytes_until_nul(buf).ok()
}

fn space_of(pid: u32) -> Option<u32> {
    let mut buf = [0; 40];
    stat_at(libc::AT_FDCWD, path(&mut buf, pid, "ns/pid")?, 0).ok().map(|s| s.ino as u32)
}

/// The number of process `pid` in its own namespace, if that is another one than this process's.
fn last_number(pid: u32) -> Option<u32> {
    let mut buf = [0; 40];
    let fd =
        openat(libc::AT_FDCWD, path(&mut buf, pid, "status")?, libc::O_RDONLY | libc::O_CLOEXEC, 0).ok()?;
    let mut text = [0u8; 2048];
    // SAFETY: the buffer is ours and as long as said.
    let n =
        unsafe { syscall(libc::SYS_read, [fd as usize, text.as_mut_ptr() as usize, text.len(), 0, 0, 0]) };
    close(fd);
    let line = text[..n.ok()?].split(|&b| b == b'\n').find_map(|l| l.strip_prefix(b"NSpid:"))?;
    let mut numbers = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
    numbers.next()?;
    std::str::from_utf8(numbers.next_back()?).ok()?.parse().ok()
}

/// Calls `f` with each process number in `/proc`. `false` when it cannot be listed.
fn each_process(mut f: impl FnMut(u32)) -> bool {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let Ok(dir) = openat(libc::AT_FDCWD, c"/proc", flags, 0) else { return false };
    let mut buf = [0u8; 2048];
    loop {
        // SAFETY: the buffer is ours and as long as said.
        let n = unsafe {
            syscall(libc::SYS_getdents64, [dir as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0, 0])
        };
        let Ok(n @ 1..) = n else { break };
        let mut at = 0;
        while at + 19 < n {
            let len = usize::from(u16::from_le_bytes([buf[at + 16], buf[at + 17]]));
            let name = buf[at + 19..].split(|&b| b == 0).next().unwrap_or(&[]);
            if let Some(pid) = std::str::from_utf8(name).ok().and_then(|n| n.parse().ok()) {
                f(pid);
            }
            at += len.max(1);
        }
    }
    close(dir);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_a_word() {
        let process = Process { pid: 7, space: 0xf000_0001 };
        assert_eq!(Process::from_word(process.to_word()), process);
        assert_eq!(Process::here(7).to_word(), 7);
    }

    #[test]
    fn nobody_unknown_is_taken_for_dead() {
        assert!(!Process::here(std::process::id()).is_dead(0));
        assert!(!Process { pid: 1 << 30, space: UNKNOWN }.is_dead(0));
        assert!(Process::here(1 << 30).is_dead(0));
        // In no namespace of that name.
        assert!(Process { pid: 1 << 30, space: 77 }.is_dead(0));
        assert_ne!(own_space(), 0);
    }
}
