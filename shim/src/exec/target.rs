//! Whether a program that is about to run can be preloaded.

use crate::ops::processes::Target;
use crate::peek;
use millpond_segment::account::Escape;
use millpond_segment::sys;
use std::ffi::CStr;

/// `#!` lines that are followed from one script to the next, as in the kernel.
const MAX_SCRIPTS: u32 = 5;
const HEAD: usize = 4096;
const PT_INTERP: u32 = 3;
const PT_NOTE: u32 = 4;
/// What is in the path of glibc's dynamic linker; those of other C libraries fail over the shim.
const LINKER: &[u8] = b"/ld-linux";

/// What a target is found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A program that the shim is loaded into.
    Preloadable,
    /// One that it is not loaded into, for this reason.
    Foreign(Escape),
}

/// Room for the path of a script's interpreter, as the kernel reads it.
type Interpreter = [u8; 256];

/// What one file says: the answer, or that it is a script, for an interpreter that is noted.
enum Step {
    Answer(Option<Found>),
    Script,
}

/// What the target is; `None` when it cannot be found or read.
pub fn find(target: Target) -> Option<Found> {
    let mut next: Interpreter = [0; 256];
    let mut step = match target {
        Target::Path(dirfd, path, flags) => {
            let path = peek::text(path)?;
            if path.is_empty() && flags & libc::AT_EMPTY_PATH != 0 {
                examine(dirfd, &mut next)
            } else {
                by_path(dirfd, path, &mut next)
            }
        }
        Target::Descriptor(fd) => examine(fd, &mut next),
    };
    // One after the other: the head of each lies on the stack, which may be small.
    for _ in 0..MAX_SCRIPTS {
        let Step::Script = step else { break };
        let path = next;
        step = by_path(libc::AT_FDCWD, CStr::from_bytes_until_nul(&path).ok()?, &mut next);
    }
    match step {
        Step::Answer(found) => found,
        Step::Script => None,
    }
}

fn by_path(dirfd: i32, path: &CStr, next: &mut Interpreter) -> Step {
    // Without waiting, should it be a pipe.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
    match sys::openat(dirfd, path, flags, 0) {
        Ok(fd) => {
            let found = examine(fd, next);
            sys::close(fd);
            found
        }
        // Executable but not readable: nobody can say, so it counts as foreign.
        Err(sys::Errno(libc::EACCES)) => Step::Answer(Some(Found::Foreign(Escape::ExecUnreadable))),
        Err(_) => Step::Answer(None),
    }
}

#[inline(never)]
fn examine(fd: i32, next: &mut Interpreter) -> Step {
    let Some(stat) = sys::stat_fd(fd).ok().filter(|stat| stat.is_regular() && stat.mode & 0o111 != 0) else {
        // The kernel will refuse it.
        return Step::Answer(None);
    };
    if gains_privilege(fd, &stat) {
        return Step::Answer(Some(Found::Foreign(Escape::ExecPrivileged)));
    }
    let mut head = [0u8; HEAD];
    // SAFETY: head is ours and as long as said.
    let read =
        unsafe { sys::syscall(libc::SYS_pread64, [fd as usize, head.as_mut_ptr() as usize, HEAD, 0, 0, 0]) };
    let Ok(n) = read else { return Step::Answer(None) };
    let head = &head[..n];
    let Some(line) = head.strip_prefix(b"#!") else { return Step::Answer(Some(kind(head))) };
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default().trim_ascii();
    let interpreter = line.split(|&b| b == b' ' || b == b'\t').next().unwrap_or_default();
    let len = interpreter.len().min(next.len() - 1);
    next.fill(0);
    next[..len].copy_from_slice(&interpreter[..len]);
    Step::Script
}

/// Whether running it changes who the process is, or what it may do: then the linker ignores the preload.
fn gains_privilege(fd: i32, stat: &sys::FileStat) -> bool {
    // SAFETY: no pointers.
    let id = |call| unsafe { sys::syscall(call, [0; 6]) }.unwrap_or(0) as u32;
    let (real, effective) = (id(libc::SYS_getuid), id(libc::SYS_geteuid));
    // A process that acts for another user or group, or that was started so.
    real != effective
        || id(libc::SYS_getgid) != id(libc::SYS_getegid)
        || stat.mode & libc::S_ISUID != 0 && stat.uid != effective
        || stat.mode & libc::S_ISGID != 0 && stat.mode & libc::S_IXGRP != 0
        || real != 0 && has_capabilities(fd)
}

/// Whether the file brings capabilities with it.
fn has_capabilities(fd: i32) -> bool {
    // SAFETY: the name is a C string; only the value's length is asked for.
    let len = unsafe {
        sys::syscall(libc::SYS_fgetxattr, [fd as usize, c"security.capability".as_ptr() as usize, 0, 0, 0, 0])
    };
    len.is_ok_and(|len| len > 0)
}

/// What a program is by the head of its file: the shim is loaded into 64-bit dynamic programs for this machine that are not Go's.
fn kind(head: &[u8]) -> Found {
    // What the file says may be anything: sums wrap, and then nothing is there.
    let half = |at: usize| head.get(at..at.wrapping_add(2)).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let word = |at: usize| {
        head.get(at..at.wrapping_add(4)).and_then(|b| Some(u32::from_le_bytes(b.try_into().ok()?)))
    };
    let long = |at: usize| {
        head.get(at..at.wrapping_add(8)).and_then(|b| Some(u64::from_le_bytes(b.try_into().ok()?)))
    };
    if head.get(..5) != Some(b"\x7fELF\x02")
        || half(18) != Some(if cfg!(target_arch = "x86_64") { 62 } else { 183 })
    {
        return Found::Foreign(Escape::ExecOther);
    }
    let (Some(table), Some(size), Some(count)) = (long(32), half(54), half(56)) else {
        return Found::Foreign(Escape::ExecStatic);
    };
    let (mut interpreter, mut go) = (false, false);
    for i in 0..usize::from(count) {
        let at = (table as usize).wrapping_add(i * usize::from(size));
        match word(at) {
            Some(PT_INTERP) => {
                interpreter = true;
                let (Some(offset), Some(len)) = (long(at + 8), long(at + 32)) else { continue };
                let linker = offset.checked_add(len).and_then(|end| head.get(offset as usize..end as usize));
                if linker.is_some_and(|path| !path.windows(LINKER.len()).any(|w| w == LINKER)) {
                    return Found::Foreign(Escape::ExecOtherLibc);
                }
            }
            Some(PT_NOTE) => {
                let (Some(offset), Some(len)) = (long(at.wrapping_add(8)), long(at.wrapping_add(32))) else {
                    continue;
                };
                let note = head.get(offset as usize..offset.wrapping_add(len) as usize).unwrap_or(&[]);
                go |= note.windows(3).any(|w| w == b"Go\0");
            }
            None => return Found::Foreign(Escape::ExecStatic),
            _ => {}
        }
    }
    match (go, interpreter) {
        (true, _) => Found::Foreign(Escape::ExecGo),
        (false, true) => Found::Preloadable,
        (false, false) => Found::Foreign(Escape::ExecStatic),
    }
}
