//! A descriptor that the pool serves, and what operations on it share.

use crate::borrow::{Borrow, Lent};
use crate::ops::data::is_over_limit;
use crate::{attach, children, errno, exec, process, stores};
use millpond_pool::{Caller, FdStore, Pool, NO_WRITER};
use millpond_segment::description::flags;
use millpond_segment::stats::Reason;
use millpond_segment::wire::{Kind, Message, ALL};
use millpond_segment::{sys, Description, Errno, File};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

/// An open descriptor in this process's table.
#[derive(Clone, Copy)]
pub struct Managed {
    pub pool: &'static Pool,
    pub who: Caller,
    pub fd: i32,
    pub description: u32,
    pub file: u32,
    pub flags: u32,
}

/// Dirty bytes of a growing file from which on it is written behind.
const BEHIND_BYTES: u32 = 8 << 20;

/// How often the coordinator is asked to write a file that other programs dirty all the time, for a call that wants it clean.
const WRITER_LOOKS: u32 = 100;

/// How often a writer looks whether another thread has handed the descriptor over, and the pause between.
const HAND_OVER_LOOKS: u32 = 2000;

/// The descriptor, if the table has it, released ones too.
#[inline(always)]
pub fn entry(fd: i32) -> Option<Managed> {
    if exec::overlay_live() {
        if let Some(change) = exec::overlay_get(fd) {
            return of_vfork_child(fd, change?);
        }
    }
    table_entry(fd)
}

/// The same, whatever a `vfork` child has made of the number.
#[inline(always)]
fn table_entry(fd: i32) -> Option<Managed> {
    let (pool, who) = process::attached()?;
    let description = pool.description_of(who.client(), u32::try_from(fd).ok()?)?;
    let d = pool.segment().description(description);
    Some(Managed { pool, who, fd, description, file: d.file.load(Relaxed), flags: d.flags.load(Relaxed) })
}

/// A descriptor that a `vfork` child has put there itself: what the child does with it, its parent's table does not tell, so that the kernel has to
/// serve it, from where the description stands.
#[cold]
fn of_vfork_child(fd: i32, description: u32) -> Option<Managed> {
    let (pool, who) = process::attached()?;
    let m = of_description(pool, who, fd, description)?;
    m.release_quietly(Reason::Vfork);
    of_description(pool, who, fd, description)
}

/// Whether this is a `vfork` child that has closed `fd` or put something else there: the parent's table is wrong about it.
fn is_replaced(fd: i32) -> bool {
    exec::overlay_live() && exec::overlay_get(fd).is_some()
}

/// Descriptor `fd` as one of `description`, wherever that is noted.
pub fn of_description(pool: &'static Pool, who: Caller, fd: i32, description: u32) -> Option<Managed> {
    let d = pool.segment().description(description);
    let (file, flags) = (d.file.load(Relaxed), d.flags.load(Relaxed));
    (d.refs.load(Relaxed) > 0).then_some(Managed { pool, who, fd, description, file, flags })
}

/// The descriptor, if the pool serves it.
#[inline(always)]
pub fn get(fd: i32) -> Option<Managed> {
    entry(fd).filter(|m| m.flags & flags::RELEASED == 0)
}

/// The descriptor, if the pool serves its reads and writes; when the kernel does, that is counted.
#[inline(always)]
pub fn for_data(fd: i32) -> Option<Managed> {
    let m = entry(fd)?;
    if m.flags & flags::RELEASED != 0 {
        m.passes();
        return None;
    }
    Some(m)
}

impl Managed {
    /// Counts a read or write that the kernel serves because the file is its own.
    #[cold]
    pub fn passes(&self) {
        self.pool.count_direct_call(self.who, self.file);
    }

    /// Its description.
    #[inline]
    pub fn d(&self) -> &'static Description {
        self.pool.segment().description(self.description)
    }

    /// Its file.
    #[inline]
    pub fn f(&self) -> &'static File {
        self.pool.segment().file(self.file)
    }

    /// Whether the description has all of these flags.
    #[inline]
    pub fn has(&self, mask: u32) -> bool {
        self.flags & mask == mask
    }

    /// Whether the kernel serves the file now. Ends that, if it was for the sake of mappings and the last one has gone.
    #[inline]
    pub fn is_direct(&self) -> bool {
        self.f().direct.load(Acquire) != 0 && self.is_wholly_direct()
    }

    /// Whether a file that was found direct is so still, and has nothing left to be written: it is marked before what is dirty is flushed. Where that
    /// fails, the call is the pool's, which knows the bytes.
    #[cold]
    fn is_wholly_direct(&self) -> bool {
        self.pool.is_direct_still(self.who, self.file, &self.store()) && self.flush().is_ok()
    }

    /// Makes a call that writes at what the kernel takes for the end of the file: no append in the pool comes in between.
    pub fn around_append<T>(&self, appends: bool, call: impl FnOnce() -> T) -> T {
        let _masked = appends.then(sys::Masked::if_handlers);
        let _appender = appends.then(|| self.pool.hold_appends(self.who, self.file));
        call()
    }

    /// The real file behind it.
    #[inline(always)]
    pub fn store(&self) -> FdStore {
        let writable =
            self.has(flags::WRITE) && !self.has(flags::DIRECT) && !is_over_limit(self.f().size.load(Relaxed));
        FdStore::new(
            self.fd,
            self.has(flags::READ) && !self.has(flags::DIRECT),
            writable,
            self.has(flags::APPEND),
        )
    }

    /// Whether any page of the file has bytes that the real file lacks.
    #[inline]
    pub fn is_dirty(&self) -> bool {
        self.f().dirty_pages.load(SeqCst) > 0
    }

    /// Sees to it that the coordinator can flush the file if this process dies; without that, nothing may be kept in memory.
    #[inline]
    pub fn ensure_kept(&self) -> bool {
        self.f().handed.load(SeqCst) == 1 || self.hand_over()
    }

    #[cold]
    fn hand_over(&self) -> bool {
        let handed = &self.f().handed;
        for _ in 0..HAND_OVER_LOOKS {
            match handed.compare_exchange(0, 2, SeqCst, SeqCst) {
                Ok(_) => {
                    self.f().acknowledged.store(1, SeqCst);
                    self.f().run.store(attach::run().0, SeqCst);
                    let sent = errno::preserving(|| self.send_descriptor());
                    handed.store(u32::from(sent), SeqCst);
                    return sent;
                }
                Err(1) => return true,
                Err(_) => sys::sleep_ns(50_000),
            }
        }
        false
    }

    /// Sends a descriptor that keeps the inode without counting as a writer: a program that was just written may be executed at once.
    fn send_descriptor(&self) -> bool {
        let message = Message::new(Kind::Keep, u64::from(self.file));
        let mut buf = [0u8; 32];
        let kept = stores::proc_path(self.fd, &mut buf)
            .and_then(|path| sys::openat(libc::AT_FDCWD, path, libc::O_PATH | libc::O_CLOEXEC, 0).ok());
        match kept {
            Some(fd) => {
                let sent = attach::tell(&message, fd).is_ok();
                sys::close(fd);
                sent
            }
            // No /proc, or no descriptor to spare: the program's own one, then.
            None => attach::tell(&message, self.fd).is_ok(),
        }
    }

    /// Writes the file's dirty bytes to the real file: by this descriptor, by another one of this process, or by the coordinator.
    ///
    /// # Errors
    /// The kernel's.
    pub fn flush(&self) -> Result<(), Errno> {
        if !self.is_dirty() && self.f().flush_lock.holder().is_none() {
            return Ok(());
        }
        let borrow = Borrow::begin();
        match self.writer() {
            Some(store) => self.pool.flush(self.who, self.file, &store).map(drop),
            None => {
                drop(borrow);
                attach::ask(&Message::new(Kind::Flush, u64::from(self.file))).map(drop)
            }
        }
    }

    /// Whether libc may have closed the descriptor unseen, and its number may be another file's by now.
    fn may_be_stale(&self) -> bool {
        self.has(flags::RELEASED) && crate::ops::unseen::is_on()
    }

    /// Whether the table still has this descriptor as it was looked up.
    fn is_in_table(&self) -> bool {
        let entry =
            u32::try_from(self.fd).ok().and_then(|fd| self.pool.description_of(self.who.client(), fd));
        entry == Some(self.description) && !is_replaced(self.fd)
    }

    /// After a write that ended at `end` of a file that was `before` bytes long: a file that grows by it and has many dirty bytes is written behind
    /// by the coordinator, so that the close finds little left. Not one that several have open: its writers want the processors themselves.
    #[inline]
    pub fn push_behind(&self, before: u64, end: u64) {
        let f = self.f();
        if end > before
            && f.dirty_pages.load(Relaxed) >= BEHIND_BYTES / self.pool.segment().geometry().bytes()
            && f.opens.load(Relaxed) == 1
            && f.behind.load(Relaxed) == 0
        {
            self.ask_behind();
        }
    }

    #[cold]
    fn ask_behind(&self) {
        let f = self.f();
        if f.handed.load(SeqCst) == 1 && f.behind.swap(1, SeqCst) == 0 {
            let asked =
                errno::preserving(|| attach::mention(&Message::new(Kind::Behind, u64::from(self.file))));
            if !asked {
                f.behind.store(0, SeqCst);
            }
        }
    }

    /// A descriptor of this process that can write the file. Good for as long as a [`Borrow`] that began before lives.
    pub fn writer(&self) -> Option<FdStore> {
        use millpond_pool::Store;
        let own = self.store();
        if own.writable() && self.is_in_table() && !self.may_be_stale() {
            return Some(own);
        }
        let mut found = None;
        self.pool.for_entries(self.who.client(), |fd, description| {
            if found.is_none()
                && fd < millpond_pool::FIRST_PIN
                && self.pool.segment().description(description).file.load(Relaxed) == self.file
            {
                if let Some(other) = table_entry(fd as i32).filter(|other| !is_replaced(other.fd)) {
                    found = Some(other.store()).filter(Store::writable).filter(|_| !other.may_be_stale());
                }
            }
        });
        // Not in the table: a `vfork` child's, which no other thread closes.
        found.or_else(|| Some(own).filter(Store::writable).filter(|_| !self.may_be_stale()))
    }

    /// A store that can write, for operations that need one: this descriptor's own when there is no other. As [`Managed::writer`].
    fn flusher(&self) -> Lent {
        let own = self.store();
        Lent::new(own, self.writer().unwrap_or(own))
    }

    /// Has the dirty bytes written and the cached ones dropped, makes `call`, and takes over what it did to the file.
    ///
    /// # Errors
    /// The flush's error.
    pub fn around_kernel<T>(&self, reason: Reason, call: impl FnOnce() -> T) -> Result<T, Errno> {
        let mut call = Some(call);
        self.with_writer(|flusher, borrow| {
            // The call may wait for what another thread does after a close.
            let made = || {
                drop(borrow);
                call.take().map(|call| call())
            };
            self.pool.around_kernel(self.who, self.file, flusher, reason, made)
        })
        .or_else(|e| {
            // Others dirty it faster than it can be written for us: they are stopped by direct mode.
            if e != NO_WRITER {
                return Err(e);
            }
            self.make_direct(reason)?;
            Ok(call.take().map(|call| call()))
        })?
        .ok_or(Errno(libc::EBUSY))
    }

    /// Runs `attempt` with a store that can write the file; where this process has none and the file is dirty, the coordinator writes it first. Again,
    /// if other programs dirty it meanwhile, a bounded number of times.
    fn with_writer<T>(&self, mut attempt: impl FnMut(&Lent, Borrow) -> Result<T, Errno>) -> Result<T, Errno> {
        for _ in 0..WRITER_LOOKS {
            if self.is_dirty() && self.writer().is_none() {
                self.flush()?;
            }
            let borrow = Borrow::begin();
            let flusher = self.flusher();
            match attempt(&flusher, borrow) {
                Err(NO_WRITER) => {}
                other => return other,
            }
        }
        Err(NO_WRITER)
    }

    /// As [`Managed::around_kernel`], with the kernel's offset set to the description's and taken over afterwards.
    ///
    /// # Errors
    /// As above.
    pub fn with_kernel_offset<T>(&self, reason: Reason, call: impl FnOnce() -> T) -> Result<T, Errno> {
        self.around_kernel(reason, || {
            let before = self.d().offset.load(SeqCst);
            let _ = sys::lseek(self.fd, before as i64, libc::SEEK_SET);
            let result = call();
            errno::preserving(|| {
                if let Ok(after) = sys::lseek(self.fd, 0, libc::SEEK_CUR) {
                    self.pool.move_offset(self.description, before, after);
                }
            });
            result
        })
    }

    /// Makes the kernel serve the file for everybody.
    ///
    /// # Errors
    /// The flush's error.
    pub fn make_direct(&self, reason: Reason) -> Result<(), Errno> {
        self.with_writer(|flusher, _borrow| self.pool.make_direct(self.who, self.file, flusher, reason))
            .map_err(|e| if e == NO_WRITER { Errno(libc::EBUSY) } else { e })
    }

    /// Hands the description to the kernel for good: its file becomes direct, its offset the kernel's.
    ///
    /// # Errors
    /// The flush's error.
    pub fn release(&self, reason: Reason) -> Result<(), Errno> {
        if self.d().has(flags::RELEASED) {
            return Ok(());
        }
        self.make_direct(reason)?;
        let _ = sys::lseek(self.fd, self.d().offset.load(SeqCst) as i64, libc::SEEK_SET);
        self.d().flags.fetch_or(flags::RELEASED, SeqCst);
        Ok(())
    }
}

impl Managed {
    /// As [`Managed::release`], where nobody can be told of a failure: the flush has latched it in the file, and the description stays
    /// buffered.
    pub fn release_quietly(&self, reason: Reason) {
        let _ = errno::preserving(|| self.release(reason));
    }
}

/// Calls `f` with each descriptor of this process's table; pins are left out.
pub fn for_each(mut f: impl FnMut(Managed)) {
    let Some((pool, who)) = process::attached() else { return };
    pool.for_entries(who.client(), |fd, _| {
        if fd < millpond_pool::FIRST_PIN {
            if let Some(m) = table_entry(fd as i32).filter(|m| !is_replaced(m.fd)) {
                f(m);
            }
        }
    });
}

/// Writes the dirty bytes of all files that this process has open. Errors are latched in the files.
pub fn flush_all() {
    for_each(|m| {
        if m.is_dirty() && (m.writer().is_some() || m.has(flags::WROTE)) {
            let _ = m.flush();
        }
    });
}

/// Has the coordinator write everything that is dirty on the node.
///
/// # Errors
/// The first error.
pub fn flush_node() -> Result<(), Errno> {
    flush_all();
    let dirty =
        process::attached().is_some_and(|(pool, _)| pool.segment().header().dirty_pages.load(SeqCst) > 0);
    if dirty {
        attach::ask(&Message::new(Kind::Flush, ALL)).map(drop)
    } else {
        Ok(())
    }
}

/// In a forked child.
pub fn after_fork_in_child() {
    attach::after_fork_in_child();
    children::after_fork_in_child();
}
