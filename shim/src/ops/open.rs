//! Opens: the kernel's own open runs first; then the descriptor is looked at.

use crate::managed;
use crate::{attach, errno, exec, process, report, stores};
use libc::c_int;
use millpond_pool::{Caller, FdStore, Pool};
use millpond_segment::account::Escape;
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::{sys, Errno};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Looks at a descriptor that an open has just returned, and puts it into the table if the pool is to serve it. Changes neither it nor `errno`.
#[inline]
pub fn opened(fd: c_int, oflag: c_int) {
    if fd < 0 || oflag & libc::O_PATH != 0 || !attach::is_possible() {
        return;
    }
    // O_TMPFILE holds the bit of O_DIRECTORY.
    if oflag & libc::O_DIRECTORY != 0 && oflag & libc::O_TMPFILE != libc::O_TMPFILE {
        return;
    }
    errno::preserving(|| consider(fd, oflag));
}

/// A descriptor that was opened by something that did not say how.
pub fn opened_somehow(fd: c_int) {
    if fd < 0 || !attach::is_possible() || managed::entry(fd).is_some() {
        return;
    }
    if let Ok(oflag) = sys::fcntl(fd, libc::F_GETFL, 0) {
        opened(fd, oflag as c_int & !libc::O_TRUNC);
    }
}

fn consider(fd: c_int, oflag: c_int) {
    let Ok(stat) = sys::stat_fd(fd) else { return };
    if !stat.is_regular() || !stores::on_device(stat.dev) {
        return;
    }
    let known =
        process::attached().is_some_and(|(pool, _)| pool.segment().find_file(stat.dev, stat.ino).is_some());
    let mut name = [0u8; 256];
    let mut len = 0;
    let keep_name = |path: &[u8]| {
        let tail = &path[path.len().saturating_sub(name.len())..];
        name[..tail.len()].copy_from_slice(tail);
        len = tail.len();
    };
    if !known && !stores::contain(fd, &stat, keep_name) {
        return;
    }
    let Some((pool, who)) = attach::pool() else { return attach::flush_without_room() };
    let store = FdStore::new(fd, readable(oflag), writable(oflag), oflag & libc::O_APPEND != 0);
    let Some(opened) = pool.open_file(who, &stat, &store) else {
        pool.count_sync_down(who, Reason::NoSlot);
        report::note(Escape::NoRoom);
        return;
    };
    if !opened.known {
        name_file(pool, opened.file, fd, &mut name, len);
    } else if oflag & libc::O_TRUNC != 0 {
        // The kernel has cut the file; the pool follows. What another program has flushed in between came before the open, so it goes again.
        let cut = || {
            // SAFETY: no pointers.
            let cut = unsafe { sys::syscall(libc::SYS_ftruncate, [fd as usize, 0, 0, 0, 0, 0]) };
            let _ = cut;
            sys::stat_fd(fd).map(|s| s.stamp)
        };
        let _ = pool.truncate(who, opened.file, || None, cut);
    }
    register(pool, who, fd, oflag, opened.file, stat.append_only);
}

fn readable(oflag: c_int) -> bool {
    matches!(oflag & libc::O_ACCMODE, libc::O_RDONLY | libc::O_RDWR)
}

fn writable(oflag: c_int) -> bool {
    matches!(oflag & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR)
}

fn name_file(pool: &Pool, file: u32, fd: c_int, name: &mut [u8; 256], len: usize) {
    let f = pool.segment().file(file);
    if len > 0 {
        f.name.set_end(&name[..len]);
    } else if let Some(path) = stores::path_of(fd, name) {
        f.name.set_end(path);
    }
}

/// The flags of a description that was opened with `oflag`.
pub fn description_flags(oflag: c_int) -> u32 {
    let bit = |on: bool, flag: u32| if on { flag } else { 0 };
    bit(readable(oflag), flags::READ)
        | bit(writable(oflag), flags::WRITE)
        | bit(oflag & libc::O_APPEND != 0, flags::APPEND)
        | bit(oflag & libc::O_DSYNC != 0, flags::SYNC)
        | bit(oflag & libc::O_DIRECT != 0, flags::DIRECT)
}

fn register(pool: &'static Pool, who: Caller, fd: c_int, oflag: c_int, file: u32, append_only: bool) {
    let Some(description) = pool.new_description(who, file, description_flags(oflag), 0) else {
        pool.count_sync_down(who, Reason::NoSlot);
        report::note(Escape::NoRoom);
        return;
    };
    if process::is_vfork_child() {
        // Not the parent's table: what the child opened is the next image's.
        exec::overlay_set(fd, Some(description));
        pool.settle_description(description);
        if let Some(m) = managed::of_description(pool, who, fd, description) {
            hand_to_kernel_if_need_be(&m, oflag, append_only);
        }
        return;
    }
    if !pool.set_entry(who.client(), fd as u32, description) {
        pool.count_sync_down(who, Reason::HighDescriptor);
        report::note(Escape::HighDescriptor);
        keep_out(pool, who, fd, oflag, file);
        pool.drop_description(description);
        return;
    }
    pool.settle_description(description);
    if let Some(m) = managed::entry(fd) {
        hand_to_kernel_if_need_be(&m, oflag, append_only);
    }
}

/// Makes the kernel serve what the pool cannot, for how it was opened or by whom.
fn hand_to_kernel_if_need_be(m: &managed::Managed, oflag: c_int, append_only: bool) {
    if let Some(why) = crate::aside::why() {
        return crate::aside::hand_over(m, why);
    }
    let reason = if oflag & libc::O_DIRECT != 0 {
        Some(Reason::OpenDirect)
    } else if m.has(flags::APPEND) && (append_only || !millpond_pool::noappend_supported()) {
        // Bytes can only be written at the end there, not at an offset.
        Some(Reason::OpenDirect)
    } else if super::watches::is_in_watched_directory(m) {
        Some(Reason::Watched)
    } else {
        None
    };
    if let Some(reason) = reason {
        let _ = m.make_direct(reason);
    }
}

/// A descriptor that has no place in the table is the kernel's: so must the file be, for everybody, while this process lives.
fn keep_out(pool: &Pool, who: Caller, fd: c_int, oflag: c_int, file: u32) {
    let store = FdStore::new(fd, readable(oflag), writable(oflag), oflag & libc::O_APPEND != 0);
    let _ = pool.make_direct(who, file, &store, Reason::HighDescriptor);
    pool.pin_file(who, file, false);
}

/// A descriptor that came from outside (inherited from a program without the shim, or received over a socket): the kernel's, and so is its file.
pub fn adopt_foreign(fd: c_int, reason: Reason) {
    let Ok(stat) = sys::stat_fd(fd) else { return };
    if !stat.is_regular() || !stores::on_device(stat.dev) || !stores::contain(fd, &stat, |_| {}) {
        return;
    }
    let Some((pool, who)) = attach::pool() else { return };
    let oflag = sys::fcntl(fd, libc::F_GETFL, 0).unwrap_or(0) as c_int;
    if oflag & libc::O_PATH != 0 {
        return;
    }
    let store = FdStore::new(fd, readable(oflag), writable(oflag), oflag & libc::O_APPEND != 0);
    let Some(opened) = pool.open_file(who, &stat, &store) else { return };
    let Some(description) =
        pool.new_description(who, opened.file, description_flags(oflag) | flags::RELEASED, 0)
    else {
        return;
    };
    if !pool.set_entry(who.client(), fd as u32, description) {
        pool.drop_description(description);
        return;
    }
    pool.settle_description(description);
    if let Some(m) = managed::entry(fd) {
        let _ = m.make_direct(reason);
    }
}

/// Before `fcntl(F_SETFL, oflag)`: a descriptor that is about to read and write past the page cache flushes nothing afterwards.
pub fn before_reflag(m: &managed::Managed, oflag: c_int) {
    if description_flags(oflag) & !m.flags & flags::DIRECT != 0 {
        let _ = m.make_direct(Reason::OpenDirect);
    }
}

/// The description's flags after `fcntl(F_SETFL, oflag)`.
pub fn reflag(m: &managed::Managed, oflag: c_int) {
    let changeable = flags::APPEND | flags::DIRECT;
    let wanted = description_flags(oflag) & changeable;
    let _ = m.d().flags.fetch_update(SeqCst, Relaxed, |now| Some(now & !changeable | wanted));
    if wanted & flags::DIRECT != 0 || wanted & flags::APPEND != 0 && !millpond_pool::noappend_supported() {
        let _ = m.make_direct(Reason::OpenDirect);
    }
}

/// Whether two descriptors are the same file, by what the kernel says.
pub fn is_file_of(fd: c_int, pool: &Pool, file: u32) -> Result<bool, Errno> {
    let f = pool.segment().file(file);
    sys::stat_fd(fd).map(|s| s.is_regular() && s.dev == f.dev.load(Relaxed) && s.ino == f.ino.load(Relaxed))
}
