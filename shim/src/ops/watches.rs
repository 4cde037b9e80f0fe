//! Watches (inotify, dnotify, fanotify): only what the kernel does itself is seen by a watcher, so reads and writes of watched files are the kernel's.
//!
//! A watched file is direct while the watcher lives; so are the files in a watched directory that the pool knows, and those that anybody opens there
//! later. Watches for other events than reads and writes change nothing: opens, closes, renames are the kernel's own.

use crate::errno::preserving;
use crate::managed::Managed;
use crate::{attach, peek, stores};
use libc::{c_char, c_int};
use millpond_pool::{FdStore, Watched};
use millpond_segment::file::{state, NAME_BYTES};
use millpond_segment::stats::Reason;
use millpond_segment::sys::{self, FileStat};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Reads and writes, in the masks of inotify, dnotify and fanotify alike.
const ACCESS_OR_MODIFY: u64 = 1 | 2;
/// fanotify: the watcher is asked before a read.
const ACCESS_PERMISSION: u64 = 0x2_0000;
/// fanotify: a mark is added.
const MARK_ADD: u32 = 1;
/// fanotify: the mark is of a whole mount or file system.
const MARK_EVERYTHING: u32 = 0x10 | 0x100;
/// Longest path of a directory that is looked at.
const LONGEST: usize = 1024;

/// Before `inotify_add_watch`.
pub fn before_inotify(path: *const c_char, mask: u32) {
    if mask & ACCESS_OR_MODIFY as u32 != 0 {
        before_watch(libc::AT_FDCWD, path);
    }
}

/// Before `fanotify_mark`.
pub fn before_fanotify(how: u32, mask: u64, dirfd: c_int, path: *const c_char) {
    if how & MARK_ADD == 0 || mask & (ACCESS_OR_MODIFY | ACCESS_PERMISSION) == 0 {
        return;
    }
    if how & MARK_EVERYTHING == 0 {
        return before_watch(dirfd, path);
    }
    if attach::is_possible() {
        preserving(|| {
            if let Some((pool, who)) = attach::pool() {
                pool.watch(who, Watched::Everything);
                take_known(|_| true);
            }
        });
    }
}

/// Before `fcntl(fd, F_NOTIFY, mask)`, which watches a directory.
pub fn before_dnotify(fd: c_int, mask: usize) {
    if mask as u64 & ACCESS_OR_MODIFY != 0 && attach::is_possible() {
        preserving(|| watch(fd));
    }
}

/// Before the kernel is told to use a file by itself, by its path (`swapon`).
pub fn before_kernel_use(path: *const c_char) {
    if path.is_null() {
        return;
    }
    before(libc::AT_FDCWD, path, |fd| {
        if let Ok(stat) = sys::stat_fd(fd) {
            if stat.is_regular() && stores::on_device(stat.dev) {
                take_file(fd, &stat, Reason::Foreign);
            }
        }
    });
}

fn before_watch(dirfd: c_int, path: *const c_char) {
    before(dirfd, path, watch);
}

/// Looks at the file behind a path, or at `dirfd` itself without one.
fn before(dirfd: c_int, path: *const c_char, look: impl Fn(c_int)) {
    if !attach::is_possible() {
        return;
    }
    preserving(|| {
        if path.is_null() {
            return look(dirfd);
        }
        let Some(name) = peek::text(path) else { return };
        // Closing such a descriptor drops none of the program's locks.
        if let Ok(fd) = sys::openat(dirfd, name, libc::O_PATH | libc::O_CLOEXEC, 0) {
            look(fd);
            sys::close(fd);
        }
    });
}

/// The file or directory behind a descriptor is about to be watched.
fn watch(fd: c_int) {
    let Ok(stat) = sys::stat_fd(fd) else { return };
    if !stores::on_device(stat.dev) {
        return;
    }
    if stat.is_regular() {
        return take_file(fd, &stat, Reason::Watched);
    }
    let mut path = [0u8; LONGEST];
    let (Some((pool, who)), Some(path)) = (attach::pool(), stores::path_of(fd, &mut path)) else { return };
    if stat.mode & libc::S_IFMT == libc::S_IFDIR {
        pool.watch(who, Watched::Directory(stat.dev, stat.ino));
        take_known(|name| parent_of(name).is_some_and(|parent| is_tail_of(path, parent, name.len())));
    }
}

fn take_file(fd: c_int, stat: &FileStat, reason: Reason) {
    if !stores::contain(fd, stat, |_| {}) {
        return;
    }
    let Some((pool, who)) = attach::pool() else { return };
    let Some(opened) = pool.open_file(who, stat, &FdStore::new(fd, false, false, false)) else { return };
    take(opened.file, reason);
    pool.let_go(opened.file);
}

/// Takes the files that the pool knows by such names.
fn take_known(is_watched: impl Fn(&[u8]) -> bool) {
    let Some((pool, _)) = attach::pool() else { return };
    let top = pool.segment().header().file_top.load(Relaxed).min(pool.segment().layout().sizes.files);
    for file in 0..top {
        let f = pool.segment().file(file);
        let mut name = [0u8; NAME_BYTES];
        if f.state.load(Acquire) == state::LIVE
            && f.opens.load(Relaxed) > 0
            && is_watched(f.name.get(&mut name))
        {
            take(file, Reason::Watched);
        }
    }
}

/// Makes a file the kernel's while this process lives.
fn take(file: u32, reason: Reason) {
    let Some((pool, who)) = attach::pool() else { return };
    if pool.pin_file(who, file, false) {
        let none = Managed { pool, who, fd: -1, description: 0, file, flags: 0 };
        let _ = none.make_direct(reason);
    }
}

/// After an open: whether somebody watches the directory that the file is in.
pub fn is_in_watched_directory(m: &Managed) -> bool {
    if !m.pool.any_watch() {
        return false;
    }
    let mut path = [0u8; LONGEST];
    let Some(len) = stores::path_of(m.fd, &mut path[..LONGEST - 1]).map(<[u8]>::len) else { return true };
    let Some(end) = parent_of(&path[..len]).map(<[u8]>::len) else { return true };
    path[end.max(1)..].fill(0);
    let parent = std::ffi::CStr::from_bytes_until_nul(&path).ok();
    let stat = parent.and_then(|parent| sys::stat_at(libc::AT_FDCWD, parent, 0).ok());
    // Removed, moved or too long: nobody can say.
    stat.is_none_or(|stat| m.pool.is_watched(stat.dev, stat.ino))
}

fn parent_of(path: &[u8]) -> Option<&[u8]> {
    path.iter().rposition(|&b| b == b'/').map(|at| &path[..at])
}

/// Whether `kept` is the path `whole`, or its end where the name that it is of was too long to keep.
fn is_tail_of(whole: &[u8], kept: &[u8], name_len: usize) -> bool {
    whole == kept || name_len == NAME_BYTES && whole.ends_with(kept)
}
