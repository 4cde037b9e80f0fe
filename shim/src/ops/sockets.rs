//! Descriptors in messages: one that leaves becomes the kernel's, and so does one that comes.

use crate::{attach, managed};
use libc::{c_int, msghdr};
use millpond_segment::stats::Reason;

/// Calls `f` with each descriptor in a message's control part.
unsafe fn for_descriptors(message: *const msghdr, mut f: impl FnMut(c_int)) {
    if message.is_null() || !attach::is_possible() {
        return;
    }
    // SAFETY: the program's message, read as the kernel and libc's macros read it.
    unsafe {
        if (*message).msg_control.is_null() || (*message).msg_controllen == 0 {
            return;
        }
        let mut cmsg = libc::CMSG_FIRSTHDR(message);
        while !cmsg.is_null() {
            if (*cmsg).cmsg_level == libc::SOL_SOCKET && (*cmsg).cmsg_type == libc::SCM_RIGHTS {
                let bytes = ((*cmsg).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                let data = libc::CMSG_DATA(cmsg).cast::<c_int>();
                for i in 0..bytes / size_of::<c_int>() {
                    f(data.add(i).read_unaligned());
                }
            }
            cmsg = libc::CMSG_NXTHDR(message, cmsg);
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

/// After `recvmsg`.
pub unsafe fn after_receive(message: *const msghdr) {
    // SAFETY: as the caller's.
    unsafe {
        for_descriptors(message, |fd| {
            crate::errno::preserving(|| super::open::adopt_foreign(fd, Reason::Passed));
        });
    }
}
