//! The handler that the kernel holds: lands a fault of the guarded copy, or passes it on to the program.
//!
//! What holds here: on x86-64 the program's handler is *jumped to*, with the registers and the stack that the
//! kernel gave ours, so that it cannot tell the difference, needs no more stack, and may leave as it likes.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::action::Action;
use super::ledger::{Ledger, Version};
use super::{raw, slot_of, Fixup};

/// Raised by the memory controller for a page that nobody has touched yet; the instruction is a bystander.
const BUS_MCEERR_AO: c_int = 5;

/// The program's dispositions, by slot.
pub static LEDGERS: [Ledger; 2] = [Ledger::new(), Ledger::new()];

/// The [`Fixup`] in force, or 0.
static FIXUP: AtomicUsize = AtomicUsize::new(0);

/// libc's return path from a signal handler, without which the kernel cannot call one; 0 before it is known.
pub static RESTORER: AtomicUsize = AtomicUsize::new(0);

/// Sets the rule by which faults land.
pub fn set_fixup(fixup: Fixup) {
    FIXUP.store(fixup as usize, Ordering::Release);
}

/// The address that the kernel is given as handler.
pub fn entry() -> usize {
    millpond_fault_entry as *const () as usize
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.millpond_fault_entry,\"ax\",@progbits",
    ".globl millpond_fault_entry",
    ".hidden millpond_fault_entry",
    ".type millpond_fault_entry,@function",
    ".p2align 4",
    "millpond_fault_entry:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "call {decide}",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "test rax, rax",
    "jz 2f",
    "jmp rax",
    "2:",
    "ret",
    ".cfi_endproc",
    ".size millpond_fault_entry, . - millpond_fault_entry",
    ".popsection",
    decide = sym decide,
);

#[cfg(target_arch = "x86_64")]
extern "C" {
    fn millpond_fault_entry(sig: c_int, info: *mut libc::siginfo_t, context: *mut c_void);
}

/// Elsewhere the program's handler is called: one more frame on the stack.
#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C" fn millpond_fault_entry(sig: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    // SAFETY: the kernel's arguments; what `decide` gives is the program's handler, and one that takes only the
    // number ignores the rest.
    unsafe {
        let handler = decide(sig, info, context);
        if handler != 0 {
            mem::transmute::<usize, Handler>(handler)(sig, info, context);
        }
    }
}

/// Does what the signal asks for, and gives the program's handler if that is to run, else 0.
///
/// # Safety
///
/// To be called with the arguments of a signal handler only.
unsafe extern "C" fn decide(sig: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> usize {
    // SAFETY: the kernel passes a valid description and context.
    unsafe {
        let fault = is_fault(sig, (*info).si_code);
        if fault && land(context) {
            return 0;
        }
        let Some(slot) = slot_of(sig) else { return 0 };
        let action = delivered(sig, &LEDGERS[slot]);
        if action.is_default() {
            die(sig, info, fault);
        }
        if action.is_default() || action.is_ignored() {
            return 0;
        }
        action.handler
    }
}

/// Whether the interrupted instruction raised the signal itself; what `kill` sends has a code of 0 or less.
fn is_fault(sig: c_int, code: c_int) -> bool {
    code > 0 && !(sig == libc::SIGBUS && code == BUS_MCEERR_AO)
}

/// Continues at the landing address, if the interrupted instruction has one.
///
/// # Safety
///
/// `context` must be the third argument of a signal handler.
unsafe fn land(context: *mut c_void) -> bool {
    let fixup = FIXUP.load(Ordering::Acquire);
    if fixup == 0 {
        return false;
    }
    // SAFETY: `set_fixup` stored it, and the context is a `ucontext_t`.
    unsafe {
        let fixup: Fixup = mem::transmute::<usize, Fixup>(fixup);
        let Some(pointer) = instruction_pointer(context.cast()) else { return false };
        match fixup(*pointer as usize) {
            Some(landing) => {
                *pointer = landing as _;
                true
            }
            None => false,
        }
    }
}

/// # Safety
///
/// `context` must be valid.
#[cfg(target_arch = "x86_64")]
unsafe fn instruction_pointer<'a>(context: *mut libc::ucontext_t) -> Option<&'a mut libc::greg_t> {
    // SAFETY: as promised; the register file has that index.
    Some(unsafe { &mut (*context).uc_mcontext.gregs[libc::REG_RIP as usize] })
}

/// # Safety
///
/// `context` must be valid.
#[cfg(target_arch = "aarch64")]
unsafe fn instruction_pointer<'a>(context: *mut libc::ucontext_t) -> Option<&'a mut libc::c_ulonglong> {
    // SAFETY: as promised.
    Some(unsafe { &mut (*context).uc_mcontext.pc })
}

/// # Safety
///
/// None is needed: the handler is never installed on these processors.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn instruction_pointer<'a>(_context: *mut libc::ucontext_t) -> Option<&'a mut usize> {
    None
}

/// The disposition that this signal meets; one that holds for a single signal is used up.
fn delivered(sig: c_int, ledger: &Ledger) -> Action {
    loop {
        let (version, action) = ledger.load();
        let used_up = action.is_reset() && !action.is_default() && !action.is_ignored();
        if !used_up || reset(sig, ledger, version, &action) {
            return action;
        }
    }
}

/// Makes the default the disposition, as the kernel does for SA_RESETHAND: flags and mask stay. False if another
/// thread was first.
fn reset(sig: c_int, ledger: &Ledger, version: Version, action: &Action) -> bool {
    let writer = ledger.write();
    if !writer.is_current(version) {
        return false;
    }
    let default = Action { handler: libc::SIG_DFL, ..*action };
    writer.publish(&default);
    let kernel = default.mirrored().to_kernel(RESTORER.load(Ordering::Relaxed));
    // SAFETY: our handler with libc's restorer. If it failed, the old mirror would stay, which serves as well.
    unsafe { raw::set_disposition(sig, &kernel) };
    true
}

/// Lets the default action happen as soon as this handler returns, with the program's own registers in the core file.
/// A fault happens again by itself, the instruction being the same; any other signal is used up and is sent again, with
/// its description.
///
/// # Safety
///
/// `info` must be what the kernel passed.
unsafe fn die(sig: c_int, info: *const libc::siginfo_t, fault: bool) {
    // SAFETY: the default needs no handler; `info` is valid. The signal stays blocked until the handler returns.
    unsafe {
        raw::set_disposition(sig, &raw::KernelAction::default());
        if !fault {
            raw::send_to_self(sig, info);
        }
    }
}
