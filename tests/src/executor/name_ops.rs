//! Names, modes, times and the stat family.

use super::aliases;
use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::script::op::StatCall;

/// Seconds since 1970 that no file written by a test can have by itself.
pub const LONG_AGO: i64 = 1_500_000_000;

/// What of a file's metadata is the same in every run.
pub fn show_metadata(mode: u32, nlink: u64, size: i64, mtime: i64) -> String {
    // The size of directories and the times of what was written in the run are the file system's affair.
    let size = if mode & libc::S_IFMT == libc::S_IFREG { size.to_string() } else { "-".into() };
    let mtime = if mtime <= LONG_AGO { mtime.to_string() } else { "recent".into() };
    format!("mode {mode:o} nlink {nlink} size {size} mtime {mtime}")
}

fn show_stat(outcome: Outcome, stat: &libc::stat64) -> String {
    if outcome.is_ok() {
        let known = show_metadata(stat.st_mode, stat.st_nlink, stat.st_size, stat.st_mtime);
        format!("{outcome} {known}")
    } else {
        outcome.to_string()
    }
}

fn show_statx(outcome: Outcome, stat: &libc::statx) -> String {
    if outcome.is_ok() {
        let known = show_metadata(
            u32::from(stat.stx_mode),
            u64::from(stat.stx_nlink),
            stat.stx_size as i64,
            stat.stx_mtime.tv_sec,
        );
        format!("{outcome} {known}")
    } else {
        outcome.to_string()
    }
}

impl Process {
    pub(super) fn stat(&self, path: &str, call: StatCall) -> String {
        let path = self.path(path);
        let path = path.as_ptr();
        if call == StatCall::Statx {
            return self.statx(libc::AT_FDCWD, path, 0);
        }
        // SAFETY: all fields are integers, for which zero is a value.
        let mut stat: libc::stat64 = unsafe { std::mem::zeroed() };
        let out = &raw mut stat;
        // SAFETY: the path is a live C string; `stat` and `stat64` are one layout here.
        let outcome = Outcome::of(|| unsafe {
            match call {
                StatCall::Stat => libc::stat(path, out.cast()),
                StatCall::Stat64 | StatCall::Statx => libc::stat64(path, out),
                StatCall::Old => aliases::xstat("__xstat", path, out),
                StatCall::Old64 => aliases::xstat("__xstat64", path, out),
                StatCall::OldLinkSmall => aliases::xstat("__lxstat", path, out),
                StatCall::Lstat64 => libc::lstat64(path, out),
                StatCall::OldAt => aliases::fxstatat("__fxstatat", libc::AT_FDCWD, path, out, 0),
                StatCall::OldAt64 => aliases::fxstatat("__fxstatat64", libc::AT_FDCWD, path, out, 0),
                StatCall::OldLink => aliases::xstat("__lxstat64", path, out),
                StatCall::Lstat => libc::lstat(path, out.cast()),
                StatCall::Fstatat => calls::fstatat(libc::AT_FDCWD, path, out.cast(), 0),
                StatCall::FstatatNoFollow => {
                    libc::fstatat64(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
                }
            }
        });
        show_stat(outcome, &stat)
    }

    pub(super) fn fstat(&self, slot: u8, call: StatCall) -> String {
        let fd = self.fd(slot);
        if call == StatCall::Statx {
            return self.statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH);
        }
        // SAFETY: all fields are integers, for which zero is a value.
        let mut stat: libc::stat64 = unsafe { std::mem::zeroed() };
        let out = &raw mut stat;
        // SAFETY: `stat` and `stat64` are one layout here.
        let outcome = Outcome::of(|| unsafe {
            match call {
                StatCall::Stat | StatCall::Lstat => calls::fstat(fd, out.cast()),
                StatCall::Fstatat | StatCall::FstatatNoFollow => {
                    calls::fstatat(fd, c"".as_ptr(), out.cast(), libc::AT_EMPTY_PATH)
                }
                StatCall::Old | StatCall::OldLinkSmall => aliases::fxstat("__fxstat", fd, out),
                StatCall::OldAt => {
                    aliases::fxstatat("__fxstatat", fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
                }
                StatCall::OldAt64 => {
                    aliases::fxstatat("__fxstatat64", fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH)
                }
                StatCall::Lstat64 => {
                    libc::fstatat64(fd, c"".as_ptr(), out, libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW)
                }
                StatCall::OldLink | StatCall::Old64 => aliases::fxstat("__fxstat64", fd, out),
                StatCall::Stat64 | StatCall::Statx => libc::fstat64(fd, out),
            }
        });
        show_stat(outcome, &stat)
    }

    fn statx(&self, fd: i32, path: *const libc::c_char, flags: i32) -> String {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut stat: libc::statx = unsafe { std::mem::zeroed() };
        // SAFETY: the path is a live C string, the result outlives the call.
        let outcome =
            Outcome::of(|| unsafe { calls::statx(fd, path, flags, libc::STATX_BASIC_STATS, &raw mut stat) });
        show_statx(outcome, &stat)
    }

    pub(super) fn rename(&self, from: &str, to: &str, flags: u32) -> String {
        let (from, to) = (self.path(from), self.path(to));
        // SAFETY: the paths are live C strings.
        Outcome::of(|| unsafe {
            match flags {
                0 => libc::rename(from.as_ptr(), to.as_ptr()),
                _ => calls::renameat2(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags),
            }
        })
        .to_string()
    }

    pub(super) fn unlink(&self, path: &str) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe { libc::unlink(path.as_ptr()) }).to_string()
    }

    pub(super) fn link(&self, from: &str, to: &str) -> String {
        let (from, to) = (self.path(from), self.path(to));
        // SAFETY: the paths are live C strings.
        Outcome::of(|| unsafe { libc::link(from.as_ptr(), to.as_ptr()) }).to_string()
    }

    pub(super) fn link_slot(&self, slot: u8, to: &str) -> String {
        let (from, to) = (self.path(&format!("fd:{slot}")), self.path(to));
        // SAFETY: the paths are live C strings.
        Outcome::of(|| unsafe {
            calls::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW)
        })
        .to_string()
    }

    pub(super) fn symlink(&self, target: &str, path: &str) -> String {
        let (target, path) = (self.path(target), self.path(path));
        // SAFETY: the paths are live C strings.
        Outcome::of(|| unsafe { libc::symlink(target.as_ptr(), path.as_ptr()) }).to_string()
    }

    pub(super) fn mkdir(&self, path: &str) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe { libc::mkdir(path.as_ptr(), 0o755) }).to_string()
    }

    pub(super) fn rmdir(&self, path: &str) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe { libc::rmdir(path.as_ptr()) }).to_string()
    }

    pub(super) fn access(&self, path: &str, mode: i32) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe { libc::access(path.as_ptr(), mode) }).to_string()
    }

    pub(super) fn chmod(&self, path: &str, mode: u32) -> String {
        let path = self.path(path);
        // SAFETY: the path is a live C string.
        Outcome::of(|| unsafe { libc::chmod(path.as_ptr(), mode) }).to_string()
    }

    pub(super) fn fchmod(&self, slot: u8, mode: u32) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe { calls::fchmod(fd, mode) }).to_string()
    }

    pub(super) fn utimens(&self, path: &str, seconds: i64) -> String {
        let path = self.path(path);
        let times = [libc::timespec { tv_sec: seconds, tv_nsec: 0 }; 2];
        // SAFETY: the path is a live C string, the times outlive the call.
        Outcome::of(|| unsafe { calls::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0) })
            .to_string()
    }

    pub(super) fn futimens(&self, slot: u8, seconds: i64) -> String {
        let fd = self.fd(slot);
        let times = [libc::timespec { tv_sec: seconds, tv_nsec: 0 }; 2];
        // SAFETY: the times outlive the call.
        Outcome::of(|| unsafe { libc::futimens(fd, times.as_ptr()) }).to_string()
    }
}
