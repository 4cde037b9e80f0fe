//! Descriptors that go from process to process: one that leaves becomes the kernel's, and so does one that comes.

use crate::peek::value;
use crate::{attach, errno, managed, process};
use libc::{c_int, c_uint, cmsghdr, mmsghdr, msghdr};
use millpond_segment::client::state;
use millpond_segment::stats::Reason;
use millpond_segment::sys;
use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;

/// Messages that one call sends or receives, as in the kernel.
const MOST_MESSAGES: usize = 1024;
/// Descriptors in one message, as in the kernel.
const MOST_DESCRIPTORS: usize = 253;

/// Calls `f` with each descriptor in a message's control part, read as the kernel reads it; what is not there is the kernel's to refuse.
unsafe fn for_descriptors(message: *const msghdr, mut f: impl FnMut(c_int)) {
    if message.is_null() || !attach::is_possible() {
        return;
    }
    let head = size_of::<cmsghdr>();
    // SAFETY: plain structures, of which any bytes are a value.
    unsafe {
        let Some(message) = value::<msghdr>(message as usize).filter(|m| !m.msg_control.is_null()) else {
            return;
        };
        let (start, len) = (message.msg_control as usize, message.msg_controllen);
        let mut at = 0;
        while len.saturating_sub(at) >= head {
            let Some(part) = value::<cmsghdr>(start + at) else { return };
            let size = part.cmsg_len;
            if size < head || size > len - at {
                return;
            }
            if part.cmsg_level == libc::SOL_SOCKET && part.cmsg_type == libc::SCM_RIGHTS {
                let count = (size - head) / size_of::<c_int>();
                for i in 0..count.min(MOST_DESCRIPTORS) {
                    let Some(fd) = value::<c_int>(start + at + head + i * size_of::<c_int>()) else { return };
                    f(fd);
                }
            }
            at += size.next_multiple_of(size_of::<usize>());
        }
    }
}

/// Calls `f` with the head of each of `count` messages.
unsafe fn for_messages(messages: *const mmsghdr, count: usize, mut f: impl FnMut(*const msghdr)) {
    if !messages.is_null() && attach::is_possible() {
        for i in 0..count.min(MOST_MESSAGES) {
            // The head stands first.
            f(messages.wrapping_add(i).cast());
        }
    }
}

/// Before `sendmsg`.
pub unsafe fn before_send(message: *const msghdr) {
    // SAFETY: as the caller's.
    unsafe {
        for_descriptors(message, |fd| {
            if let Some(m) = managed::get(fd) {
                m.release_quietly(Reason::Passed);
            }
        });
    }
}

/// Before `sendmmsg`.
pub unsafe fn before_send_many(messages: *const mmsghdr, count: c_uint) {
    // SAFETY: as the caller's.
    unsafe { for_messages(messages, count as usize, |message| before_send(message)) };
}

/// After `recvmsg`.
pub unsafe fn after_receive(message: *const msghdr) {
    // SAFETY: as the caller's.
    unsafe {
        for_descriptors(message, |fd| {
            errno::preserving(|| super::open::adopt_foreign(fd, Reason::Passed));
        });
    }
}

/// After `recvmmsg` has received so many.
pub unsafe fn after_receive_many(messages: *const mmsghdr, received: c_int) {
    // SAFETY: as the caller's.
    unsafe { for_messages(messages, received.max(0) as usize, |message| after_receive(message)) };
}

/// After `pidfd_getfd` has given `fd`, another process's `target`: the description is shared from now on, so it becomes the kernel's for both.
pub fn taken(fd: c_int, pidfd: c_int, target: c_int) -> c_int {
    if fd >= 0 && attach::is_possible() {
        errno::preserving(|| {
            if !share_with(fd, pidfd, target) {
                super::open::adopt_foreign(fd, Reason::Passed);
            }
        });
    }
    fd
}

/// Whether the owner of the descriptor is on the pool, and its description was taken over.
fn share_with(fd: c_int, pidfd: c_int, target: c_int) -> bool {
    let Some((pool, who)) = attach::pool() else { return false };
    let Some(pid) = process_of(pidfd) else { return false };
    let is_its = |slot: &u32| {
        let client = pool.segment().client(*slot);
        client.state.load(Relaxed) == state::LIVE && client.process().pid_here() == Some(pid)
    };
    let description = (0..pool.segment().layout().sizes.clients)
        .filter(is_its)
        .find_map(|slot| pool.description_of(slot, target as u32));
    let Some(description) = description.filter(|d| pool.hold_description(*d)) else { return false };
    let file = pool.segment().description(description).file.load(Relaxed);
    let same = super::open::is_file_of(fd, pool, file).unwrap_or(false);
    if !same || process::is_vfork_child() || !pool.set_entry(who.client(), fd as u32, description) {
        pool.drop_description(description);
        return false;
    }
    if let Some(m) = managed::entry(fd) {
        m.release_quietly(Reason::Passed);
    }
    true
}

/// The process that a pidfd stands for.
fn process_of(pidfd: c_int) -> Option<u32> {
    use std::io::Write;
    let mut path = [0u8; 48];
    write!(&mut path[..47], "/proc/self/fdinfo/{pidfd}").ok()?;
    let info = sys::openat(
        libc::AT_FDCWD,
        CStr::from_bytes_until_nul(&path).ok()?,
        libc::O_RDONLY | libc::O_CLOEXEC,
        0,
    )
    .ok()?;
    let mut text = [0u8; 256];
    // SAFETY: the room is ours and as long as said.
    let n = unsafe {
        sys::syscall(libc::SYS_read, [info as usize, text.as_mut_ptr() as usize, text.len(), 0, 0, 0])
    };
    sys::close(info);
    let line = text[..n.ok()?].split(|&b| b == b'\n').find_map(|line| line.strip_prefix(b"Pid:"))?;
    std::str::from_utf8(line.trim_ascii()).ok()?.parse().ok()
}
