//! Metadata: sizes as programs see them, truncation, times, attributes, space.

use crate::errno::{fail, preserving, returned};
use crate::managed::{self, Managed};
use crate::{attach, peek, stores};
use libc::{c_char, c_int, off_t};
use millpond_model::Stamp;
use millpond_pool::{Caller, Pool};
use millpond_segment::stats::Reason;
use millpond_segment::sys::{self, FileStat};
use millpond_segment::wire::{Kind, Message};
use millpond_segment::Errno;
use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};

/// A file that the pool knows, met by a path or by a descriptor that is not in the table.
struct Known {
    pool: &'static Pool,
    who: Caller,
    file: u32,
}

fn known(stat: &FileStat) -> Option<Known> {
    if !stat.is_regular() || !stores::on_device(stat.dev) {
        return None;
    }
    let (pool, who) = attach::pool()?;
    let file = pool.segment().find_file(stat.dev, stat.ino)?;
    Some(Known { pool, who, file })
}

impl Known {
    fn is_dirty(&self) -> bool {
        self.pool.segment().file(self.file).dirty_pages.load(SeqCst) > 0
    }

    /// Whether somebody may have written the file's last dirty bytes after the kernel gave this answer, which then lacks them.
    fn was_flushed_since(&self, seen: &FileStat) -> bool {
        let f = self.pool.segment().file(self.file);
        f.direct.load(SeqCst) == 0
            && (f.flush_lock.holder().is_some()
                || f.stamp_size.load(SeqCst) != seen.stamp.size
                || f.stamp_mtime.load(SeqCst) as i64 != seen.stamp.mtime)
    }

    /// A descriptor of this process that is open on the file, one that can write if there is one.
    fn own(&self) -> Option<Managed> {
        let mut found: Option<Managed> = None;
        managed::for_each(|m| {
            if m.file == self.file && (found.is_none() || m.has(millpond_segment::description::flags::WRITE))
            {
                found = Some(m);
            }
        });
        found
    }

    /// Has the file's dirty bytes written, by whoever can.
    fn flush(&self) -> Result<(), Errno> {
        if !self.is_dirty() {
            return Ok(());
        }
        match self.own() {
            Some(m) => m.flush(),
            None => attach::ask(&Message::new(Kind::Flush, u64::from(self.file))).map(drop),
        }
    }
}

/// Before a kernel's `fstat` of a file with dirty bytes: written first by a descriptor of our own, so that sizes, blocks and times are the
/// kernel's, and stay so at the close.
pub fn before_fstat(fd: c_int) {
    if let Some(m) = managed::get(fd) {
        if m.is_dirty() && m.writer().is_some() {
            preserving(|| {
                m.pool.count_sync_down(m.who, Reason::Stat);
                let _ = m.flush();
            });
        }
    }
}

/// What another program's dirty bytes add to a file's answer.
#[derive(Clone, Copy)]
pub struct Ahead {
    pub size: i64,
    pub mtime: i64,
}

/// After a kernel's stat of the file (`dev`, `ino`): what the pool is ahead of it, if it is. A file that this process can write is written
/// first; `again` then asks the kernel once more.
fn after_stat(seen: &FileStat, again: impl FnOnce()) -> Option<Ahead> {
    if !seen.is_regular() || !attach::is_possible() {
        return None;
    }
    let k = preserving(|| known(seen))?;
    if !k.is_dirty() {
        if k.was_flushed_since(seen) {
            again();
        }
        return None;
    }
    if let Some(m) = k.own().filter(|m| m.writer().is_some()) {
        k.pool.count_sync_down(k.who, Reason::Stat);
        if preserving(|| m.flush()).is_ok() {
            again();
            return None;
        }
    }
    let f = k.pool.segment().file(k.file);
    Some(Ahead { size: f.size.load(Acquire) as i64, mtime: f.written_at.load(Relaxed) as i64 })
}

impl Ahead {
    /// Puts what is ahead into the kernel's answer.
    pub fn amend(self, st: &mut libc::stat) {
        if self.size > st.st_size {
            st.st_blocks += (self.size - st.st_size + 4095) / 4096 * 8;
        }
        st.st_size = self.size;
        let at = (st.st_mtime, st.st_mtime_nsec);
        let written = (self.mtime / 1_000_000_000, self.mtime % 1_000_000_000);
        if written > at {
            (st.st_mtime, st.st_mtime_nsec) = written;
            (st.st_ctime, st.st_ctime_nsec) = written;
        }
    }

    /// Puts what is ahead into the kernel's answer.
    pub fn amend_statx(self, st: &mut libc::statx) {
        let size = self.size as u64;
        if size > st.stx_size {
            st.stx_blocks += (size - st.stx_size).div_ceil(4096) * 8;
        }
        st.stx_size = size;
        let at = (st.stx_mtime.tv_sec, i64::from(st.stx_mtime.tv_nsec));
        let written = (self.mtime / 1_000_000_000, self.mtime % 1_000_000_000);
        if written > at {
            for time in [&mut st.stx_mtime, &mut st.stx_ctime] {
                time.tv_sec = written.0;
                time.tv_nsec = written.1 as u32;
            }
        }
    }
}

/// `fstat`, `stat` and `lstat` by any name: `ask` is the kernel's answer into `st`.
pub unsafe fn stat(fd: Option<c_int>, st: *mut libc::stat, ask: impl Fn() -> c_int) -> c_int {
    if let Some(fd) = fd {
        if attach::is_own(fd) {
            return fail(Errno(libc::EBADF)) as c_int;
        }
        before_fstat(fd);
    }
    let result = ask();
    if result == 0 && attach::is_possible() {
        // SAFETY: the kernel has just written there, wherever that is.
        let mut now = unsafe { st.read_unaligned() };
        let stamp = Stamp {
            size: now.st_size as u64,
            mtime: now.st_mtime * 1_000_000_000 + now.st_mtime_nsec,
            ..Stamp::default()
        };
        let seen =
            FileStat { dev: now.st_dev, ino: now.st_ino, mode: now.st_mode, stamp, ..FileStat::default() };
        if let Some(ahead) = after_stat(&seen, || {
            let _ = ask();
        }) {
            // SAFETY: as above; the second answer counts.
            unsafe {
                now = st.read_unaligned();
                ahead.amend(&mut now);
                st.write_unaligned(now);
            }
        }
    }
    result
}

/// `statx`.
pub unsafe fn statx(fd: Option<c_int>, st: *mut libc::statx, ask: impl Fn() -> c_int) -> c_int {
    if let Some(fd) = fd {
        if attach::is_own(fd) {
            return fail(Errno(libc::EBADF)) as c_int;
        }
        before_fstat(fd);
    }
    let result = ask();
    if result == 0 && attach::is_possible() {
        // SAFETY: the kernel has just written there, wherever that is.
        let mut now = unsafe { st.read_unaligned() };
        let stamp = Stamp {
            size: now.stx_size,
            mtime: now.stx_mtime.tv_sec * 1_000_000_000 + i64::from(now.stx_mtime.tv_nsec),
            ..Stamp::default()
        };
        let seen = FileStat {
            dev: libc::makedev(now.stx_dev_major, now.stx_dev_minor),
            ino: now.stx_ino,
            mode: u32::from(now.stx_mode),
            stamp,
            ..FileStat::default()
        };
        if let Some(ahead) = after_stat(&seen, || {
            let _ = ask();
        }) {
            // SAFETY: as above; the second answer counts.
            unsafe {
                now = st.read_unaligned();
                ahead.amend_statx(&mut now);
                st.write_unaligned(now);
            }
        }
    }
    result
}

/// `ftruncate`.
pub fn ftruncate(fd: c_int, len: off_t) -> Option<c_int> {
    let m = managed::get(fd)?;
    let result =
        m.pool.truncate(m.who, m.file, || sys::stat_fd(fd).ok().map(|s| s.stamp), || truncate_fd(fd, len));
    Some(returned(result.map(|()| 0)) as c_int)
}

fn truncate_fd(fd: c_int, len: off_t) -> Result<millpond_model::Stamp, Errno> {
    // SAFETY: no pointers.
    unsafe { sys::syscall(libc::SYS_ftruncate, [fd as usize, len as usize, 0, 0, 0, 0])? };
    sys::stat_fd(fd).map(|s| s.stamp)
}

/// `truncate`.
pub fn truncate(name: *const c_char, len: off_t) -> Option<c_int> {
    if !attach::is_possible() {
        return None;
    }
    let name = peek::text(name)?;
    let stat = sys::stat_at(libc::AT_FDCWD, name, 0).ok()?;
    let k = preserving(|| known(&stat))?;
    // Held, so that the slot stays this file's.
    let file = preserving(|| k.pool.hold_known(k.who, &stat))?;
    let stamp = || sys::stat_at(libc::AT_FDCWD, name, 0).map(|s| s.stamp);
    let cut = || {
        // SAFETY: name is a C string.
        unsafe { sys::syscall(libc::SYS_truncate, [name.as_ptr() as usize, len as usize, 0, 0, 0, 0])? };
        stamp()
    };
    let result = k.pool.truncate(k.who, file, || stamp().ok(), cut);
    k.pool.let_go(file);
    Some(returned(result.map(|()| 0)) as c_int)
}

/// `fallocate` and `posix_fallocate`: `call` is the kernel's.
pub fn allocate(fd: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let Some(m) = managed::get(fd) else { return call() };
    let mut call = Some(call);
    let done = m.around_kernel(Reason::Allocate, || call.take().map_or(-1, |c| c()));
    match done {
        Ok(result) => result,
        Err(e) => fail(e) as c_int,
    }
}

/// Before times, mode or owner of an open file change: its dirty bytes are written, so that no later flush undoes what the program sets.
pub fn before_change_fd(fd: c_int, reason: Reason) {
    if let Some(m) = managed::get(fd) {
        if m.is_dirty() {
            preserving(|| {
                m.pool.count_sync_down(m.who, reason);
                let _ = m.flush();
            });
        }
    }
}

/// Before times, mode or owner of a file change by path.
pub fn before_change_path(dirfd: c_int, name: *const c_char, flags: c_int, reason: Reason) {
    if !attach::is_possible() {
        return;
    }
    if name.is_null() || peek::is_empty_text(name) {
        return before_change_fd(dirfd, reason);
    }
    let Some(name) = peek::text(name) else { return };
    preserving(|| {
        let Ok(stat) = sys::stat_at(dirfd, name, flags & libc::AT_SYMLINK_NOFOLLOW) else { return };
        if let Some(k) = known(&stat).filter(Known::is_dirty) {
            k.pool.count_sync_down(k.who, reason);
            let _ = k.flush();
        }
    });
}
