//! Jumps out of a signal handler that interrupted an operation.
//!
//! What the operation holds is given back and repaired when it is certain that it will not go on: the jump's target lies above the operation's
//! frames on the stack that it runs on. A jump within the handler leaves it to go on.

use crate::{borrow, errno, process};
use libc::c_void;
use millpond_segment::{nesting, sys};
use std::mem::MaybeUninit;

/// Farthest that one stack reaches, in bytes: frames farther apart are on different stacks.
const LONGEST_STACK: usize = 1 << 30;

/// Before `longjmp` and its kin with this buffer.
pub unsafe fn before_jump(buffer: *const c_void) {
    if nesting::mark().is_some() {
        // SAFETY: the program's buffer, as setjmp has filled it in.
        let target = unsafe { stack_of_buffer(buffer) };
        errno::preserving(|| leave_for(target));
    }
}

/// Before `setcontext` with this context.
pub unsafe fn before_context(context: *const libc::ucontext_t) {
    if nesting::mark().is_some() && !context.is_null() {
        // SAFETY: the program's context.
        let target = unsafe { stack_of_context(context) };
        errno::preserving(|| leave_for(target));
    }
}

fn leave_for(target: usize) {
    if !nesting::mark().is_some_and(|mark| is_left(mark, target)) {
        return;
    }
    borrow::abandon();
    match process::attached() {
        Some((pool, who)) => drop(pool.repair_abandoned(who)),
        None => nesting::abandon(),
    }
}

/// Whether a jump to stack address `target` leaves the frames at `mark` behind.
fn is_left(mark: usize, target: usize) -> bool {
    if let Some((low, high)) = alternate_stack() {
        let is_on_it = |at: usize| (low..high).contains(&at);
        // Within the handler's stack; the operation is on the other one, or was begun by a handler further down.
        if is_on_it(target) {
            return is_on_it(mark) && mark < target;
        }
        if is_on_it(mark) {
            return true;
        }
    }
    mark < target && target - mark < LONGEST_STACK
}

/// The alternate signal stack, if the thread is on it now.
fn alternate_stack() -> Option<(usize, usize)> {
    // SAFETY: all-zero is a value of it; the call fills it in.
    let stack: libc::stack_t = unsafe {
        let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
        sys::syscall(libc::SYS_sigaltstack, [0, stack.as_mut_ptr() as usize, 0, 0, 0, 0]).ok()?;
        stack.assume_init()
    };
    let low = stack.ss_sp as usize;
    (stack.ss_flags & libc::SS_ONSTACK != 0).then_some((low, low + stack.ss_size))
}

/// The stack pointer in a jump buffer of glibc, which keeps it mangled.
#[cfg(target_arch = "x86_64")]
unsafe fn stack_of_buffer(buffer: *const c_void) -> usize {
    const STACK: usize = 6;
    let guard: usize;
    // SAFETY: the thread's pointer guard, at its fixed place; the buffer is glibc's.
    unsafe {
        std::arch::asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly, preserves_flags));
        buffer.cast::<usize>().add(STACK).read_unaligned().rotate_right(17) ^ guard
    }
}

/// Not known: no operation is taken for abandoned.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stack_of_buffer(_buffer: *const c_void) -> usize {
    0
}

#[cfg(target_arch = "x86_64")]
unsafe fn stack_of_context(context: *const libc::ucontext_t) -> usize {
    // SAFETY: the program's context, not null.
    unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] as usize }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn stack_of_context(_context: *const libc::ucontext_t) -> usize {
    0
}
