//! The calls that pool and shim need, each a thin row over [`syscall`].

use super::raw::{syscall, Errno};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU32;

/// What `statx` tells of an open file, as far as Millpond looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// Device number, major and minor packed as the kernel's `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// File type and permission bits.
    pub mode: u32,
    /// Number of links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Whether the file may only be appended to (`chattr +a`).
    pub append_only: bool,
    /// Size and times.
    pub stamp: millpond_model::Stamp,
}

impl FileStat {
    /// Whether this is a regular file.
    pub fn is_regular(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }
}

fn nanos(t: libc::statx_timestamp) -> i64 {
    t.tv_sec.saturating_mul(1_000_000_000).saturating_add(i64::from(t.tv_nsec))
}

fn statx(dirfd: i32, path: &CStr, flags: i32) -> Result<FileStat, Errno> {
    let mut buf = MaybeUninit::<libc::statx>::zeroed();
    let mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    // SAFETY: path is a C string and buf has room for the kernel's answer.
    unsafe {
        syscall(
            libc::SYS_statx,
            [
                dirfd as usize,
                path.as_ptr() as usize,
                flags as usize,
                mask as usize,
                buf.as_mut_ptr() as usize,
                0,
            ],
        )?;
    }
    // SAFETY: zeroed before and filled by the kernel; every bit pattern is a value.
    let s = unsafe { buf.assume_init() };
    Ok(FileStat {
        dev: libc::makedev(s.stx_dev_major, s.stx_dev_minor),
        ino: s.stx_ino,
        mode: u32::from(s.stx_mode),
        nlink: s.stx_nlink,
        uid: s.stx_uid,
        append_only: s.stx_attributes & libc::STATX_ATTR_APPEND as u64 != 0,
        stamp: millpond_model::Stamp {
            size: s.stx_size,
            mtime: nanos(s.stx_mtime),
            ctime: nanos(s.stx_ctime),
            btime: if s.stx_mask & libc::STATX_BTIME != 0 { nanos(s.stx_btime) } else { 0 },
        },
    })
}

/// `statx` of an open descriptor.
///
/// # Errors
/// The kernel's.
pub fn stat_fd(fd: i32) -> Result<FileStat, Errno> {
    statx(fd, c"", libc::AT_EMPTY_PATH)
}

/// `statx` of a path; `flags` may have `AT_SYMLINK_NOFOLLOW`.
///
/// # Errors
/// The kernel's.
pub fn stat_at(dirfd: i32, path: &CStr, flags: i32) -> Result<FileStat, Errno> {
    statx(dirfd, path, flags & (libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH | libc::AT_NO_AUTOMOUNT))
}

/// `lseek`.
///
/// # Errors
/// The kernel's.
pub fn lseek(fd: i32, offset: i64, whence: i32) -> Result<u64, Errno> {
    // SAFETY: no pointers.
    unsafe {
        syscall(libc::SYS_lseek, [fd as usize, offset as usize, whence as usize, 0, 0, 0]).map(|n| n as u64)
    }
}

/// `close`.
pub fn close(fd: i32) {
    // SAFETY: no pointers. The result is ignored as the descriptor is gone in any case.
    let _ = unsafe { syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// `fsync`, or `fdatasync` when `data_only`.
///
/// # Errors
/// The kernel's.
pub fn fsync(fd: i32, data_only: bool) -> Result<(), Errno> {
    let call = if data_only { libc::SYS_fdatasync } else { libc::SYS_fsync };
    // SAFETY: no pointers.
    unsafe { syscall(call, [fd as usize, 0, 0, 0, 0, 0]).map(drop) }
}

/// `open` by path relative to `dirfd`.
///
/// # Errors
/// The kernel's.
pub fn openat(dirfd: i32, path: &CStr, flags: i32, mode: u32) -> Result<i32, Errno> {
    // SAFETY: path is a C string.
    unsafe {
        syscall(
            libc::SYS_openat,
            [dirfd as usize, path.as_ptr() as usize, flags as usize, mode as usize, 0, 0],
        )
        .map(|fd| fd as i32)
    }
}

/// `fcntl` with an integer argument.
///
/// # Errors
/// The kernel's.
pub fn fcntl(fd: i32, command: i32, argument: usize) -> Result<usize, Errno> {
    // SAFETY: callers here pass commands with integer arguments.
    unsafe { syscall(libc::SYS_fcntl, [fd as usize, command as usize, argument, 0, 0, 0]) }
}

/// The caller's process id, asked anew.
pub fn getpid() -> u32 {
    // SAFETY: no arguments.
    unsafe { syscall(libc::SYS_getpid, [0; 6]).unwrap_or(0) as u32 }
}

/// Number of the parent process, 0 when that is in another namespace of numbers.
pub fn getppid() -> u32 {
    // SAFETY: no arguments.
    unsafe { syscall(libc::SYS_getppid, [0; 6]).unwrap_or(0) as u32 }
}

/// Major and minor number of the running kernel, zeros when it does not say.
pub fn kernel_release() -> (u32, u32) {
    let mut name = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: there is room for the answer, and all-zero is a value of it.
    let release = unsafe {
        let _ = syscall(libc::SYS_uname, [name.as_mut_ptr() as usize, 0, 0, 0, 0, 0]);
        name.assume_init().release
    };
    let mut numbers = release.split(|c| !(*c as u8).is_ascii_digit()).map(|digits| {
        digits.iter().fold(0u32, |n, d| n.wrapping_mul(10).wrapping_add(u32::from(*d as u8 - b'0')))
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The caller's thread id.
pub fn gettid() -> u32 {
    // SAFETY: no arguments.
    unsafe { syscall(libc::SYS_gettid, [0; 6]).unwrap_or(0) as u32 }
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since the epoch.
pub fn realtime_ns() -> i64 {
    clock(libc::CLOCK_REALTIME) as i64
}

fn clock(which: i32) -> u64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: ts has room for the answer; clock_gettime is answered without libc's file calls.
    unsafe { libc::clock_gettime(which, &mut ts) };
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// Sleeps for `ns` nanoseconds or until a signal.
pub fn sleep_ns(ns: u64) {
    let ts = libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: ts is read only.
    let _ = unsafe { syscall(libc::SYS_nanosleep, [&ts as *const _ as usize, 0, 0, 0, 0, 0]) };
}

/// Waits on a futex word shared between processes while it holds `expected`, at most `timeout_ns`.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout_ns: u64) {
    let ts = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as i64,
        tv_nsec: (timeout_ns % 1_000_000_000) as i64,
    };
    // SAFETY: the word outlives the call and ts is read only. Whatever ends the wait, callers look at the word again.
    let _ = unsafe {
        syscall(
            libc::SYS_futex,
            [
                word.as_ptr() as usize,
                libc::FUTEX_WAIT as usize,
                expected as usize,
                &ts as *const _ as usize,
                0,
                0,
            ],
        )
    };
}

/// Wakes up to `count` waiters of a futex word.
pub fn futex_wake(word: &AtomicU32, count: u32) {
    // SAFETY: the word is only an address here.
    let _ = unsafe {
        syscall(libc::SYS_futex, [word.as_ptr() as usize, libc::FUTEX_WAKE as usize, count as usize, 0, 0, 0])
    };
}

/// One piece of memory for a vectored call: address and length, laid out as the kernel's `struct iovec`.
///
/// Only the fence makes one: from a buffer of the segment or from memory that a program handed in. Nobody holds references
/// to either, so that reading into a part is sound wherever it came from.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct IoPart {
    base: usize,
    len: usize,
}

impl IoPart {
    pub(crate) fn at(base: usize, len: usize) -> Self {
        Self { base, len }
    }

    /// Address of the first byte.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Length in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// A piece of memory that a program handed in; it need not be valid.
    ///
    /// # Safety
    /// Nobody may hold a Rust reference to these bytes while the part is used.
    pub unsafe fn of_program(base: usize, len: usize) -> Self {
        Self { base, len }
    }

    /// The part without its first `n` bytes.
    pub fn after(&self, n: usize) -> Self {
        let n = n.min(self.len);
        Self { base: self.base + n, len: self.len - n }
    }

    /// The bytes, copied out; for stores that are not files.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; self.len];
        // SAFETY: `out` is as long as the part; the part is the segment's or the program's.
        unsafe { crate::copy::copy(out.as_mut_ptr() as usize, self.base, self.len) };
        out
    }

    /// Copies `bytes` into the part, as many as fit; for stores that are not files.
    pub fn fill(&self, bytes: &[u8]) {
        // SAFETY: `bytes` is valid; the part is the segment's or the program's.
        unsafe { crate::copy::copy(self.base, bytes.as_ptr() as usize, bytes.len().min(self.len)) };
    }
}

/// `preadv` at `offset` into `parts`. Bad addresses come back as `EFAULT`.
///
/// # Errors
/// The kernel's.
pub fn preadv(fd: i32, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
    // SAFETY: parts name memory that nobody references (see IoPart).
    unsafe {
        syscall(libc::SYS_preadv, [fd as usize, parts.as_ptr() as usize, parts.len(), offset as usize, 0, 0])
    }
}

/// `pwritev2` at `offset` from `parts`, with `RWF_*` flags. Bad addresses come back as `EFAULT`.
///
/// # Errors
/// The kernel's.
pub fn pwritev(fd: i32, parts: &[IoPart], offset: u64, flags: i32) -> Result<usize, Errno> {
    let number = if flags == 0 { libc::SYS_pwritev } else { libc::SYS_pwritev2 };
    // SAFETY: the parts are only read.
    unsafe {
        syscall(
            number,
            [fd as usize, parts.as_ptr() as usize, parts.len(), offset as usize, 0, flags as usize],
        )
    }
}

/// `writev` at the descriptor's own offset, with `RWF_*` flags. Bad addresses come back as `EFAULT`.
///
/// # Errors
/// The kernel's.
pub fn pwritev_here(fd: i32, parts: &[IoPart], flags: i32) -> Result<usize, Errno> {
    // SAFETY: the parts are only read. An offset of -1 means the descriptor's own.
    unsafe {
        syscall(
            libc::SYS_pwritev2,
            [fd as usize, parts.as_ptr() as usize, parts.len(), usize::MAX, usize::MAX, flags as usize],
        )
    }
}

/// Writes a line to standard error without libc.
pub fn complain(line: &str) {
    // SAFETY: the bytes are valid for reading; a closed descriptor 2 is an error that is nobody's concern.
    let _ = unsafe { syscall(libc::SYS_write, [2, line.as_ptr() as usize, line.len(), 0, 0, 0]) };
}

/// Whether process `pid`, which started at `start` (clock ticks since boot, 0 when unknown), is gone or a zombie.
pub fn process_is_dead(pid: u32, start: u64) -> bool {
    match process_state(pid) {
        None => true,
        Some((b'Z' | b'X', _)) => true,
        Some((_, began)) => start != 0 && began != start,
    }
}

/// State letter and start time (clock ticks since boot) of a process from `/proc/PID/stat`, `None` when there is no such process.
pub fn process_state(pid: u32) -> Option<(u8, u64)> {
    let mut path = [0u8; 32];
    let text = {
        use std::io::Write;
        let mut at = &mut path[..];
        write!(at, "/proc/{pid}/stat").ok()?;
        CStr::from_bytes_until_nul(&path).ok()?
    };
    let fd = openat(libc::AT_FDCWD, text, libc::O_RDONLY | libc::O_CLOEXEC, 0).ok()?;
    let mut buf = [0u8; 512];
    // SAFETY: buf is ours and as long as said.
    let n = unsafe { syscall(libc::SYS_read, [fd as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0, 0]) };
    close(fd);
    let stat = &buf[..n.ok()?];
    let after = stat.iter().rposition(|&b| b == b')')? + 2;
    let state = *stat.get(after)?;
    let began = stat[after..].split(|&b| b == b' ').nth(19)?;
    let began =
        began.iter().take_while(|b| b.is_ascii_digit()).fold(0u64, |n, b| n * 10 + u64::from(b - b'0'));
    Some((state, began))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_a_number() {
        assert!(kernel_release() >= (3, 0), "{:?}", kernel_release());
    }

    #[test]
    fn the_own_process_is_alive_and_no_other_start_time_is_its() {
        let pid = getpid();
        let (_, began) = process_state(pid).unwrap();
        assert!(!process_is_dead(pid, began));
        assert!(process_is_dead(pid, began + 1));
        assert!(process_is_dead(4_194_303, 0));
    }
}
