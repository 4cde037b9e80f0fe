//! Calls in which libc itself opens, closes and looks up files. Where its text is patched, that is seen by itself, and these rows do nothing but for the
//! report; where it is not, they look before and after.

use crate::ops::processes::fork as forking;
use crate::ops::unseen;
use crate::report;
use libc::{c_char, c_int, c_void, pid_t, FILE};

use super::row::guarded_look;

/// A stream that was opened by a path.
fn seen(stream: *mut FILE, mode: *const c_char) -> *mut FILE {
    guarded_look(|| unseen::opened(stream, mode));
    stream
}

fn replaced() {
    guarded_look(unseen::replaced_standard);
}

fn walks() {
    guarded_look(unseen::before_walk);
}

rows! {
    plain around fopen(path: *const c_char, mode: *const c_char) -> *mut FILE |next| { seen(next(path, mode), mode) }
    plain around fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE |next| { seen(next(path, mode), mode) }
    plain around tmpfile() -> *mut FILE |next| { seen(next(), std::ptr::null()) }
    plain around tmpfile64() -> *mut FILE |next| { seen(next(), std::ptr::null()) }
    plain around freopen(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE |next| {
        guarded_look(|| unseen::before_close(stream));
        seen(next(path, mode, stream), mode)
    }
    plain around freopen64(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE |next| {
        guarded_look(|| unseen::before_close(stream));
        seen(next(path, mode, stream), mode)
    }
    plain around fclose(stream: *mut FILE) -> c_int |next| {
        guarded_look(|| {
            report::before_stream_closes(stream);
            unseen::before_close(stream);
        });
        next(stream)
    }
    plain around daemon(keep_directory: c_int, keep_standard: c_int) -> c_int |next| {
        if !unseen::is_on() {
            return next(keep_directory, keep_standard);
        }
        // SAFETY: the program's own call, which comes back in the child alone.
        let result = unsafe { forking(|| next(keep_directory, keep_standard)) };
        if result == 0 && keep_standard == 0 {
            replaced();
        }
        result
    }
    plain around forkpty(master: *mut c_int, name: *mut c_char, terminal: *const c_void, size: *const c_void) -> pid_t |next| {
        if !unseen::is_on() {
            return next(master, name, terminal, size);
        }
        // SAFETY: the program's own call.
        let child = unsafe { forking(|| next(master, name, terminal, size)) };
        if child == 0 {
            replaced();
        }
        child
    }
    plain around login_tty(fd: c_int) -> c_int |next| {
        let result = next(fd);
        if result == 0 {
            replaced();
        }
        result
    }
    plain around nftw(path: *const c_char, each: *const c_void, depth: c_int, flags: c_int) -> c_int |next| {
        walks();
        next(path, each, depth, flags)
    }
    plain around nftw64(path: *const c_char, each: *const c_void, depth: c_int, flags: c_int) -> c_int |next| {
        walks();
        next(path, each, depth, flags)
    }
    plain around ftw(path: *const c_char, each: *const c_void, depth: c_int) -> c_int |next| {
        walks();
        next(path, each, depth)
    }
    plain around ftw64(path: *const c_char, each: *const c_void, depth: c_int) -> c_int |next| {
        walks();
        next(path, each, depth)
    }
    plain around fts_read(walk: *mut c_void) -> *mut c_void |next| {
        walks();
        next(walk)
    }
    plain around fts64_read(walk: *mut c_void) -> *mut c_void |next| {
        walks();
        next(walk)
    }
}
