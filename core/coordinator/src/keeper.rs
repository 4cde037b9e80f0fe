//! The descriptors that programs handed over, and flushing through them.
//!
//! A kept descriptor is usually an `O_PATH` one: it is opened for writing only while a flush runs, because a writable descriptor that stays
//! would keep the file from being executed. **kept-is-the-file**: a kept descriptor names the inode that its slot names.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use millpond_model::Stamp;
use millpond_pool::{Caller, FdStore, Flushed, Pool, Store};
use millpond_segment::file::state;
use millpond_segment::sys::{self, IoPart};
use millpond_segment::{Errno, File};
use rustix::fs::{openat, Mode, OFlags, CWD};

use crate::process;

/// A file that cannot be opened: its flush fails with the reason, which is then latched as any other failure.
struct Unreachable(Errno);

impl Store for Unreachable {
    fn readable(&self) -> bool {
        false
    }

    fn writable(&self) -> bool {
        true
    }

    fn read(&self, _: &[IoPart], _: u64) -> Result<usize, Errno> {
        Err(self.0)
    }

    fn write(&self, _: &[IoPart], _: u64) -> Result<usize, Errno> {
        Err(self.0)
    }

    fn stamp(&self) -> Result<Stamp, Errno> {
        Err(self.0)
    }
}

fn slots(pool: &Pool) -> impl Iterator<Item = u32> + '_ {
    let top = pool.segment().header().file_top.load(Relaxed).min(pool.segment().layout().sizes.files);
    (0..top).filter(|&slot| pool.segment().file(slot).state.load(Acquire) == state::LIVE)
}

/// The live files for which `wanted` holds.
pub fn files(pool: &Pool, wanted: impl Fn(&File) -> bool) -> Vec<u32> {
    slots(pool).filter(|&slot| wanted(pool.segment().file(slot))).collect()
}

fn kept(file: &File) -> Option<i32> {
    file.keeper_fd.load(SeqCst).checked_sub(1).map(|fd| fd as i32)
}

fn names(file: &File, fd: i32) -> bool {
    sys::stat_fd(fd).is_ok_and(|stat| file.is(stat.dev, stat.ino))
}

/// Keeps `descriptor` for file `slot`, unless the file has one or is another.
pub fn keep(pool: &Pool, slot: u64, descriptor: OwnedFd) {
    let Some(slot) = u32::try_from(slot).ok().filter(|&slot| slot < pool.segment().layout().sizes.files)
    else {
        return;
    };
    let file = pool.segment().file(slot);
    if !names(file, descriptor.as_raw_fd()) {
        tracing::debug!("file slot {slot}: a descriptor of another file was handed over");
        return;
    }
    if kept(file).is_none() {
        file.keeper_fd.store(descriptor.into_raw_fd() as u32 + 1, SeqCst);
    }
    file.acknowledged.store(1, SeqCst);
    file.handed.store(1, SeqCst);
}

/// Whether file `slot` has dirty bytes and a descriptor of it has been sent, or is being sent, that has not been taken yet.
pub fn is_on_its_way(pool: &Pool, slot: u32) -> bool {
    let file = pool.segment().file(slot);
    file.dirty_pages.load(SeqCst) > 0 && file.handed.load(SeqCst) != 0 && kept(file).is_none()
}

/// The numbers of all kept descriptors. Those that the segment names and that are not there, or not the file, are forgotten, so that programs send them anew.
pub fn known(pool: &Pool) -> Vec<i32> {
    let mut found = Vec::new();
    for slot in slots(pool) {
        let file = pool.segment().file(slot);
        match kept(file) {
            Some(fd) if names(file, fd) => found.push(fd),
            _ => {
                file.keeper_fd.store(0, SeqCst);
                file.handed.store(0, SeqCst);
            }
        }
    }
    found
}

/// Gives the descriptor of file `slot` up. It is the caller's to close.
#[must_use]
pub fn release(pool: &Pool, slot: u32) -> Option<OwnedFd> {
    let file = pool.segment().file(slot);
    let fd = kept(file);
    file.keeper_fd.store(0, SeqCst);
    file.handed.store(0, SeqCst);
    fd.map(process::adopt)
}

/// Gives up the descriptors of files that nobody has open and that have nothing dirty. They are the caller's to close.
#[must_use]
pub fn give_up_idle(pool: &Pool) -> Vec<OwnedFd> {
    let mut given_up = Vec::new();
    let idle = |file: &File| {
        file.handed.load(SeqCst) == 1 && file.opens.load(SeqCst) == 0 && file.dirty_pages.load(SeqCst) == 0
    };
    for slot in files(pool, idle) {
        let file = pool.segment().file(slot);
        // First said, then looked again: who opens the file meanwhile either sees 0 and sends another descriptor, or is seen here.
        file.handed.store(0, SeqCst);
        if file.opens.load(SeqCst) > 0 {
            file.handed.store(1, SeqCst);
        } else {
            given_up.extend(release(pool, slot));
        }
    }
    given_up
}

/// Writes the dirty bytes of file `slot` to the real file, durably if asked.
///
/// # Errors
/// The kernel's; it is latched in the file and the bytes stay dirty. `EBUSY`, not latched, when a stopped process is at it, or when the
/// descriptor is still on its way: it was sent before the first byte became dirty, but nobody has looked at the connection since.
pub fn flush(pool: &Pool, who: Caller, slot: u32, durable: bool) -> Result<Flushed, Errno> {
    let file = pool.segment().file(slot);
    if file.dirty_pages.load(SeqCst) == 0 && file.flush_lock.holder().is_none() && !durable {
        return Ok(Flushed::default());
    }
    if file.flush_lock.has_stopped_holder(pool.segment()) {
        file.flush_lock.press(pool.segment());
    }
    // Whom a signal or a debugger holds could be waited for for ever.
    if file.flush_lock.has_stopped_holder(pool.segment()) {
        return Err(Errno(libc::EBUSY));
    }
    let fd = kept(file).map(Ok).unwrap_or_else(|| by_name(file).map(IntoRawFd::into_raw_fd));
    // On its way; or a first write, which its own process flushes before it returns, of a file whose name is another's by now.
    let awaited = file.handed.load(SeqCst) != 0 || file.acknowledged.load(SeqCst) == 0;
    if fd.is_err() && awaited && file.opens.load(SeqCst) > 0 {
        return Err(Errno(libc::EBUSY));
    }
    let flushed = match fd {
        Ok(fd) => through(pool, who, slot, fd, durable),
        Err(errno) => pool.flush(who, slot, &Unreachable(errno)),
    };
    let flushed = match (flushed, fd) {
        (Err(_), Ok(fd)) if is_nobodys(file, fd) && forget(pool, who, slot, || is_nobodys(file, fd)) => {
            Ok(Flushed::default())
        }
        (Err(_), Err(_))
            if is_unacknowledged(file) && forget(pool, who, slot, || is_unacknowledged(file)) =>
        {
            Ok(Flushed::default())
        }
        (flushed, _) => flushed,
    };
    if let (Ok(fd), None) = (fd, kept(file)) {
        sys::close(fd);
    }
    flushed
}

/// Whether the file has no name and no program has it open: nobody can ever read it again.
fn is_nobodys(file: &File, fd: i32) -> bool {
    file.opens.load(SeqCst) == 0 && sys::stat_fd(fd).is_ok_and(|stat| stat.nlink == 0)
}

/// Whether all dirty bytes are of a first write in which the program was killed: it never returned, and no descriptor was handed over for it.
fn is_unacknowledged(file: &File) -> bool {
    file.opens.load(SeqCst) == 0 && file.acknowledged.load(SeqCst) == 0
}

/// Drops the bytes of a file that is nobody's. With the kernel alone they would have gone with the file, full disk or not.
fn forget(pool: &Pool, who: Caller, slot: u32, may_go: impl Fn() -> bool) -> bool {
    let file = pool.segment().file(slot);
    let empty = || if may_go() { Ok(Stamp::default()) } else { Err(Errno(libc::EBUSY)) };
    let forgotten = pool.truncate(who, slot, || None, empty).is_ok();
    if forgotten {
        tracing::info!("{}: removed before its bytes could be written; they are dropped", file.name.text());
    }
    forgotten
}

/// The last resort for a file whose descriptor never arrived: the name it was opened by, if that still is the file.
fn by_name(file: &File) -> Result<OwnedFd, Errno> {
    let name = file.name.text();
    if !name.starts_with('/') {
        return Err(Errno(libc::ENOENT));
    }
    let fd = openat(CWD, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    if names(file, fd.as_raw_fd()) {
        Ok(fd)
    } else {
        Err(Errno(libc::ESTALE))
    }
}

fn through(pool: &Pool, who: Caller, slot: u32, fd: i32, durable: bool) -> Result<Flushed, Errno> {
    let flags = OFlags::from_bits_retain(sys::fcntl(fd, libc::F_GETFL, 0)? as u32);
    let writable = matches!(flags & OFlags::RWMODE, OFlags::RDWR | OFlags::WRONLY);
    let sync = |fd: i32| if durable { sys::fsync(fd, false) } else { Ok(()) };
    if writable && !flags.contains(OFlags::PATH) {
        let store = FdStore::new(fd, true, true, flags.contains(OFlags::APPEND));
        return pool.flush_by(who, slot, durable, || Ok(store), |_| sync(fd));
    }
    pool.flush_by(who, slot, durable, || reopen(fd).map(Reopened::new), |store| sync(store.file.as_raw_fd()))
}

/// A store over a descriptor that was opened for one flush, and is closed with it.
struct Reopened {
    file: OwnedFd,
    store: FdStore,
}

impl Reopened {
    fn new(file: OwnedFd) -> Self {
        let store = FdStore::new(file.as_raw_fd(), true, true, false);
        Self { file, store }
    }
}

impl Store for Reopened {
    fn readable(&self) -> bool {
        self.store.readable()
    }

    fn writable(&self) -> bool {
        self.store.writable()
    }

    fn read(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        self.store.read(parts, offset)
    }

    fn write(&self, parts: &[IoPart], offset: u64) -> Result<usize, Errno> {
        self.store.write(parts, offset)
    }

    fn stamp(&self) -> Result<Stamp, Errno> {
        self.store.stamp()
    }
}

/// Opens the file behind a descriptor for writing.
fn reopen(fd: i32) -> Result<OwnedFd, Errno> {
    let path = std::ffi::CString::new(format!("/proc/self/fd/{fd}")).map_err(|_| Errno(libc::EINVAL))?;
    let open = |mode: i32| sys::openat(libc::AT_FDCWD, &path, mode | libc::O_CLOEXEC | libc::O_NOCTTY, 0);
    let first = open(libc::O_RDWR).or_else(|_| open(libc::O_WRONLY));
    let opened = match first {
        // A file made read-only after it was opened (mode 0444 at creation, say): its owner may write it, and the program's own descriptor could.
        Err(Errno(libc::EACCES)) => open_made_writable(fd, &path, open),
        other => other,
    };
    opened.map(process::adopt)
}

fn open_made_writable(
    fd: i32,
    path: &std::ffi::CStr,
    open: impl Fn(i32) -> Result<i32, Errno>,
) -> Result<i32, Errno> {
    let stat = sys::stat_fd(fd)?;
    if stat.uid != rustix::process::geteuid().as_raw() {
        return Err(Errno(libc::EACCES));
    }
    let mode = Mode::from_raw_mode(stat.mode & 0o7777);
    rustix::fs::chmod(path, mode | Mode::WUSR)?;
    let opened = open(libc::O_WRONLY);
    rustix::fs::chmod(path, mode)?;
    opened
}
