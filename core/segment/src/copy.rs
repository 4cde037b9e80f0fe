//! Copies to and from memory of the program that may not be there.
//!
//! A program may pass a bad pointer, and must then get `EFAULT`, not a crash; and the path of a cached page may make no system
//! call to find out. So the copy itself may fault: its instructions are known by address, and a signal handler (the shim
//! installs one) asks [`fixup`] where to go on. The routine then returns how many bytes were left. This is what kernels do with
//! their exception tables. Where no handler is in place, or the thread blocks the signals, the copy goes through `process_vm_readv`, which cannot fault.

use crate::sys::{self, IoPart};
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

/// A handler is in place.
const GUARDED: u8 = 1;
/// Some thread has blocked the signals, so each has to be asked.
const SOME_BLOCK: u8 = 2;

static MODE: AtomicU8 = AtomicU8::new(0);

thread_local! {
    /// Whether this thread blocks one of the signals: the kernel ends a process that faults so.
    static BLOCKED: Cell<bool> = const { Cell::new(false) };
}

/// Says whether a handler that consults [`fixup`] is in place for SIGSEGV and SIGBUS.
pub fn set_guarded(guarded: bool) {
    if guarded {
        MODE.fetch_or(GUARDED, Ordering::Relaxed);
    } else {
        MODE.fetch_and(!GUARDED, Ordering::Relaxed);
    }
}

/// Says whether the calling thread blocks one of the two signals.
pub fn set_blocked(blocked: bool) {
    if blocked {
        MODE.fetch_or(SOME_BLOCK, Ordering::Relaxed);
    }
    if MODE.load(Ordering::Relaxed) & SOME_BLOCK != 0 {
        BLOCKED.with(|b| b.set(blocked));
    }
}

/// Whether a fault in the routine would be landed.
#[inline]
fn lands() -> bool {
    match MODE.load(Ordering::Relaxed) {
        GUARDED => true,
        mode => mode == GUARDED | SOME_BLOCK && !BLOCKED.with(Cell::get),
    }
}

/// Copies `len` bytes; returns how many of the last ones were not copied because of a fault.
///
/// # Safety
/// One of the two sides may be invalid or change underneath; the other must be mapped memory of `len` bytes that is not referenced
/// as Rust data (the segment, or the caller's own bytes).
#[inline]
pub unsafe fn copy(dst: usize, src: usize, len: usize) -> usize {
    if lands() {
        // SAFETY: the routine touches only the two ranges, and a fault in them is fixed up.
        unsafe { arch::guarded(dst, src, len) }
    } else {
        by_kernel(dst, src, len)
    }
}

#[cold]
fn by_kernel(dst: usize, src: usize, len: usize) -> usize {
    let own = IoPart::at(dst, len);
    let other = IoPart::at(src, len);
    // SAFETY: the kernel checks both ranges and stops at what is not mapped.
    let moved = unsafe {
        sys::syscall(
            libc::SYS_process_vm_readv,
            [sys::getpid() as usize, &own as *const _ as usize, 1, &other as *const _ as usize, 1, 0],
        )
    };
    match moved {
        Ok(n) => len - n,
        Err(sys::Errno(libc::EFAULT)) => len,
        // Not allowed (a seccomp filter): the plain copy is what is left, and a bad pointer then ends the program.
        Err(_) => {
            // SAFETY: as the caller promises, but for a fault.
            unsafe { arch::guarded(dst, src, len) }
        }
    }
}

/// Where to go on after a fault at instruction `ip`, if that is one of the copy routine's.
pub fn fixup(ip: usize) -> Option<usize> {
    arch::fixup(ip)
}

#[cfg(target_arch = "x86_64")]
mod arch {
    // Short copies go by 16-byte words, with `rdx` counting what is left; long ones by `rep movsb`, with `rcx` counting. A fault in either goes
    // on byte by byte, so that what comes before the first byte that is not there is copied to the last; a fault there ends it.
    std::arch::global_asm!(
        ".text",
        ".p2align 5",
        ".hidden millpond_copy",
        ".globl millpond_copy",
        ".hidden millpond_copy_bytes",
        ".globl millpond_copy_bytes",
        ".hidden millpond_copy_bytes_end",
        ".globl millpond_copy_bytes_end",
        ".hidden millpond_copy_rep",
        ".globl millpond_copy_rep",
        ".hidden millpond_copy_rep_end",
        ".globl millpond_copy_rep_end",
        "millpond_copy:",
        "cmp rdx, 512",
        "jae 5f",
        "cmp rdx, 32",
        "jb 3f",
        "2:",
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + 16]",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm1",
        "add rsi, 32",
        "add rdi, 32",
        "sub rdx, 32",
        "cmp rdx, 32",
        "jae 2b",
        "3:",
        "cmp rdx, 8",
        "jb 4f",
        "mov rax, [rsi]",
        "mov [rdi], rax",
        "add rsi, 8",
        "add rdi, 8",
        "sub rdx, 8",
        "jmp 3b",
        "4:",
        "millpond_copy_bytes:",
        "test rdx, rdx",
        "jz 6f",
        "mov al, [rsi]",
        "mov [rdi], al",
        "inc rsi",
        "inc rdi",
        "dec rdx",
        "jmp 4b",
        "6:",
        "millpond_copy_bytes_end:",
        "mov rax, rdx",
        "ret",
        "5:",
        "mov rcx, rdx",
        "millpond_copy_rep:",
        "rep movsb",
        "millpond_copy_rep_end:",
        "mov rdx, rcx",
        "jmp 4b",
    );

    extern "C" {
        fn millpond_copy(dst: usize, src: usize, len: usize) -> usize;
        fn millpond_copy_bytes();
        fn millpond_copy_bytes_end();
        fn millpond_copy_rep();
        fn millpond_copy_rep_end();
    }

    /// The routine above.
    #[inline]
    pub unsafe fn guarded(dst: usize, src: usize, len: usize) -> usize {
        // SAFETY: as the caller promises.
        unsafe { millpond_copy(dst, src, len) }
    }

    pub fn fixup(ip: usize) -> Option<usize> {
        let start = millpond_copy as *const () as usize;
        let bytes = millpond_copy_bytes as *const () as usize;
        let bytes_end = millpond_copy_bytes_end as *const () as usize;
        let (rep, rep_end) =
            (millpond_copy_rep as *const () as usize, millpond_copy_rep_end as *const () as usize);
        if (start..bytes).contains(&ip) {
            Some(bytes)
        } else if (bytes..bytes_end).contains(&ip) {
            Some(bytes_end)
        } else if (rep..rep_end).contains(&ip) {
            Some(rep_end)
        } else {
            None
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod arch {
    pub unsafe fn guarded(dst: usize, src: usize, len: usize) -> usize {
        // SAFETY: as the caller promises.
        unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, len) };
        0
    }

    pub fn fixup(_: usize) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_whole() {
        let src: Vec<u8> = (0..5000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        for len in (0..700).chain([4095, 4096, 4999]) {
            let mut dst = vec![0u8; len + 1];
            // SAFETY: both sides are valid.
            let left = unsafe { arch::guarded(dst.as_mut_ptr() as usize, src.as_ptr() as usize, len) };
            assert_eq!(left, 0);
            assert_eq!(dst[..len], src[..len]);
            assert_eq!(dst[len], 0);
        }
    }

    #[test]
    fn without_a_guard_a_bad_address_leaves_all_of_it() {
        let src = [1u8; 64];
        assert_eq!(by_kernel(8, src.as_ptr() as usize, 64), 64);
        let mut dst = [0u8; 64];
        assert_eq!(by_kernel(dst.as_mut_ptr() as usize, src.as_ptr() as usize, 64), 0);
        assert_eq!(dst, src);
    }
}
