//! Where libc's text could not be patched, what libc itself does with descriptors is not seen. Such a process is aside: all that it has open is the
//! kernel's. What is left to see are the files that it opens and closes by streams, which other programs may have dirty, and its end.

use super::{descriptors, open};
use crate::{aside, attach, errno, managed, process, report};
use libc::{c_char, c_int, FILE};
use millpond_segment::stats::Reason;
use millpond_segment::sys;

/// Whether libc's own calls are not seen in this process.
#[inline]
pub fn is_on() -> bool {
    aside::why() == Some(Reason::Unpatched) && attach::is_possible()
}

/// The stream's descriptor.
fn number(stream: *mut FILE) -> Option<c_int> {
    if stream.is_null() {
        return None;
    }
    // SAFETY: the program's stream, open.
    Some(errno::preserving(|| unsafe { libc::fileno(stream) })).filter(|&fd| fd >= 0)
}

/// After a stream was opened on a file, in `mode` if that is known: the file is the kernel's, and truncated for everybody if it was.
pub fn opened(stream: *mut FILE, mode: *const c_char) {
    if !is_on() {
        return;
    }
    let Some(fd) = number(stream) else { return };
    let oflag = errno::preserving(|| sys::fcntl(fd, libc::F_GETFL, 0)).unwrap_or(0) as c_int;
    // SAFETY: libc has just read the mode.
    let truncates = !mode.is_null() && unsafe { *mode } == b'w' as c_char;
    open::opened(fd, if truncates { oflag | libc::O_TRUNC } else { oflag });
}

/// Before a stream's descriptor is closed or replaced: it leaves the table.
pub fn before_close(stream: *mut FILE) {
    if is_on() {
        if let Some(fd) = number(stream) {
            let _ = descriptors::before_close(fd);
        }
    }
}

/// The three standard descriptors were replaced by libc.
pub fn replaced_standard() {
    if is_on() {
        for fd in 0..3 {
            let _ = descriptors::before_close(fd);
        }
    }
}

/// Before libc looks up sizes of files by itself: what is dirty on the node is written.
pub fn before_walk() {
    if is_on() {
        let _ = errno::preserving(managed::flush_node);
    }
}

extern "C" {
    /// As `at_quick_exit`, which is no symbol of libc's.
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut libc::c_void), library: *const libc::c_void) -> c_int;
}

/// Has [`at_exit`] run by `quick_exit`, which runs no destructors. Called once, by the constructor.
pub fn note_quick_exit() {
    extern "C" fn handler(_: *mut libc::c_void) {
        let _ = std::panic::catch_unwind(at_exit);
    }
    // SAFETY: the handler stays where it is; this library is not unloaded.
    let _ = unsafe { __cxa_at_quick_exit(handler, std::ptr::null()) };
}

/// The process runs its exit handlers, of which ours is among the last: libc ends it unseen.
pub fn at_exit() {
    if is_on() && !process::is_vfork_child() {
        errno::preserving(report::at_end);
    }
}
