//! Descriptors: closing, duplicating, flags.

use super::locks;
use crate::errno::{fail, preserving};
use crate::managed::{self, Managed};
use crate::{aside, attach, borrow, exec, process};
use libc::{c_int, c_uint};
use millpond_segment::header::modes;
use millpond_segment::stats::Reason;
use millpond_segment::{sys, Errno};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// What a close has to do before the kernel's, if the descriptor is in the table. Returns the error that the close is to report.
pub fn before_close(fd: c_int) -> Option<Errno> {
    if exec::overlay_any() && process::is_vfork_child() && exec::overlay_get(fd).is_some() {
        // Something that the child itself has put there.
        exec::overlay_set(fd, None);
        return None;
    }
    let m = managed::entry(fd)?;
    if process::is_vfork_child() {
        exec::overlay_set(fd, None);
        return None;
    }
    preserving(|| {
        // Out of the table first: of two threads that close the last two descriptors, the later one then finds itself the last. If the process is
        // killed in between, the description is found by who claims it.
        m.d().claimed_by.store(m.who.client() + 1, SeqCst);
        let Some(description) = m.pool.take_entry(m.who.client(), fd as u32) else {
            m.pool.settle_description(m.description);
            return None;
        };
        let error = flush_last(&m);
        m.pool.settle_description(description);
        m.pool.drop_description(description);
        if m.has(millpond_segment::description::flags::WRITE) {
            borrow::settle();
        }
        error
    })
}

/// Flushes a file of which no descriptor that wrote it is left in this process. Returns the error to report.
fn flush_last(m: &Managed) -> Option<Errno> {
    let asynchronous = m.pool.segment().header().modes.load(Relaxed) & modes::ASYNC_FLUSH != 0;
    // A flush that the coordinator makes holds the file open for writing; who executes the file after this close must not meet it.
    let pending = m.is_dirty() || m.f().flush_lock.holder().is_some();
    if pending && !asynchronous && !m.pool.wrote_by_other(m.who.client(), m.file, m.fd as u32) {
        // A reader's close need not wait for other programs' bytes.
        if m.writer().is_some() || m.has(millpond_segment::description::flags::WROTE) {
            let _ = m.flush();
        }
    }
    m.pool.report_error(m.description)
}

/// `close`.
pub unsafe fn close(next: impl FnOnce(c_int) -> c_int, fd: c_int) -> c_int {
    if attach::is_own(fd) {
        return fail(Errno(libc::EBADF)) as c_int;
    }
    let error = before_close(fd);
    let result = next(fd);
    match error {
        Some(e) if result == 0 => fail(e) as c_int,
        _ => result,
    }
}

/// `dup`.
pub fn dup(next: impl FnOnce() -> c_int, old: c_int) -> c_int {
    if attach::is_own(old) {
        return fail(Errno(libc::EBADF)) as c_int;
    }
    let new = next();
    duplicated(old, new);
    new
}

/// `dup`, and `fcntl` with `F_DUPFD`: `new` is what the kernel gave.
fn duplicated(old: c_int, new: c_int) {
    if new < 0 {
        return;
    }
    let Some(m) = entry_or_overlay(old) else { return };
    preserving(|| {
        if !m.pool.hold_description(m.description) {
            return;
        }
        if process::is_vfork_child() {
            exec::overlay_set(new, Some(m.description));
        } else if !m.pool.set_entry(m.who.client(), new as u32, m.description) {
            // No place for the number: both are the kernel's from now on.
            let _ = m.release(Reason::HighDescriptor);
            m.pool.drop_description(m.description);
        }
    });
}

/// The descriptor as this process (or this `vfork` child) has it now.
fn entry_or_overlay(fd: c_int) -> Option<Managed> {
    match exec::overlay_get(fd) {
        Some(Some(description)) => {
            let (pool, who) = process::attached()?;
            let d = pool.segment().description(description);
            Some(Managed {
                pool,
                who,
                fd,
                description,
                file: d.file.load(Relaxed),
                flags: d.flags.load(Relaxed),
            })
        }
        Some(None) => None,
        None => managed::entry(fd),
    }
}

/// Whether the kernel refuses a descriptor of this number: the limit may have been lowered below one that is open.
fn is_beyond_limit(fd: c_int) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: asks only, with room for the answer.
    let asked = unsafe {
        sys::syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_NOFILE as usize, 0, &raw mut limit as usize, 0, 0])
    };
    asked.is_ok() && fd as u64 >= limit.rlim_cur
}

/// `dup2` and `dup3`: the target is closed first.
pub unsafe fn dup_onto(next: impl FnOnce() -> c_int, old: c_int, new: c_int, flags: c_int) -> c_int {
    if attach::is_own(old) {
        return fail(Errno(libc::EBADF)) as c_int;
    }
    if old == new || new < 0 || flags & !libc::O_CLOEXEC != 0 {
        return next();
    }
    attach::make_way(new);
    // Only if the source is open and the number allowed does the kernel close the target.
    if managed::entry(new).is_some() && sys::fcntl(old, libc::F_GETFD, 0).is_ok() && !is_beyond_limit(new) {
        let _ = before_close(new);
    }
    let result = next();
    duplicated(old, result);
    if result >= 0 && process::is_vfork_child() && entry_or_overlay(old).is_none() {
        exec::overlay_set(new, None);
    }
    result
}

/// `fcntl`.
pub unsafe fn fcntl(next: impl FnOnce(usize) -> c_int, fd: c_int, command: c_int, argument: usize) -> c_int {
    if attach::is_own(fd) {
        return fail(Errno(libc::EBADF)) as c_int;
    }
    if locks::is_about_a_range(command) {
        return match managed::get(fd) {
            // SAFETY: as the caller's.
            Some(m) => unsafe { locks::lock(&m, command, argument, next) },
            None => next(argument),
        };
    }
    let next = || next(argument);
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            let new = next();
            duplicated(fd, new);
            new
        }
        libc::F_SETFL => {
            // While the kernel still takes bytes at any offset from this descriptor.
            if let Some(m) = managed::get(fd) {
                preserving(|| super::open::before_reflag(&m, argument as c_int));
            }
            let result = next();
            if result == 0 {
                if let Some(m) = managed::get(fd) {
                    preserving(|| super::open::reflag(&m, argument as c_int));
                }
            }
            result
        }
        libc::F_SETLEASE => {
            if let Some(m) = managed::get(fd) {
                if let Err(e) = m.release(Reason::Lease) {
                    return fail(e) as c_int;
                }
            }
            next()
        }
        libc::F_NOTIFY => {
            super::watches::before_dnotify(fd, argument);
            next()
        }
        _ => next(),
    }
}

const CLOSE_RANGE_CLOEXEC: c_int = 4;
const CLOSE_RANGE_UNSHARE: c_int = 2;

/// `close_range`: what lies in the table first, then the kernel's, around our own descriptor.
pub fn close_range(first: c_uint, last: c_uint, flags: c_int) -> Option<c_int> {
    if first > last || flags & !(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE) != 0 {
        return None;
    }
    if flags & CLOSE_RANGE_UNSHARE != 0 {
        aside::part_tables();
    }
    if flags & CLOSE_RANGE_CLOEXEC == 0 {
        close_entries(first, last);
    }
    let own = attach::own_descriptor();
    if own < 0 || !(first..=last).contains(&(own as c_uint)) {
        return None;
    }
    let own = own as c_uint;
    // SAFETY: no pointers.
    let close = |first: c_uint, last: c_uint| unsafe {
        sys::syscall(libc::SYS_close_range, [first as usize, last as usize, flags as usize, 0, 0, 0])
    };
    let low = if own > first { close(first, own - 1) } else { Ok(0) };
    let high = if own < last { close(own + 1, last) } else { Ok(0) };
    Some(match low.and(high) {
        Ok(_) => 0,
        Err(e) => fail(e) as c_int,
    })
}

fn close_entries(first: c_uint, last: c_uint) {
    managed::for_each(|m| {
        if (first..=last).contains(&(m.fd as c_uint)) {
            let _ = before_close(m.fd);
        }
    });
}

/// `closefrom`, as a range.
pub fn closefrom(first: c_int) -> Option<()> {
    close_range(first.max(0) as c_uint, c_uint::MAX, 0).map(drop)
}
