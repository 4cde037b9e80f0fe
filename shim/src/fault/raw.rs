//! The system calls about signals, made without libc, whose functions are hooked and patched.
//!
//! What holds here: errno is untouched; results are the kernel's (a negative errno on failure).

use std::ptr;

/// `struct sigaction` as the kernel has it on x86-64 and aarch64.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct KernelAction {
    /// SIG_DFL, SIG_IGN or the handler's address.
    pub handler: usize,
    /// The `SA_` bits.
    pub flags: u64,
    /// Where a handler returns to.
    pub restorer: usize,
    /// The signals blocked meanwhile.
    pub mask: u64,
}

/// The size of a signal set that the kernel expects.
const SET_SIZE: usize = size_of::<u64>();

/// The kernel's disposition of `sig`.
pub fn disposition(sig: libc::c_int) -> Option<KernelAction> {
    let mut action = KernelAction::default();
    // SAFETY: no new action, and room for the old one.
    let result =
        unsafe { call(libc::SYS_rt_sigaction, [sig as usize, 0, (&raw mut action) as usize, SET_SIZE]) };
    (result == 0).then_some(action)
}

/// Sets the kernel's disposition of `sig`.
///
/// # Safety
///
/// The handler and the restorer must be code that can serve as such.
pub unsafe fn set_disposition(sig: libc::c_int, action: &KernelAction) -> bool {
    // SAFETY: a valid action, by the caller's word.
    let result =
        unsafe { call(libc::SYS_rt_sigaction, [sig as usize, ptr::from_ref(action) as usize, 0, SET_SIZE]) };
    result == 0
}

/// Changes this thread's signal mask (`how` as for `sigprocmask`) and gives the old one.
pub fn change_mask(how: libc::c_int, mask: u64) -> u64 {
    let mut old = 0u64;
    let arguments = [how as usize, (&raw const mask) as usize, (&raw mut old) as usize, SET_SIZE];
    // SAFETY: both sets are valid for the call.
    unsafe { call(libc::SYS_rt_sigprocmask, arguments) };
    old
}

/// Sends `sig` to this thread with `info` as it is.
///
/// # Safety
///
/// `info` must be a valid `siginfo_t`.
pub unsafe fn send_to_self(sig: libc::c_int, info: *const libc::siginfo_t) {
    let (process, thread) = (process_id(), thread_id());
    let arguments = [process as usize, thread as usize, sig as usize, info as usize];
    // SAFETY: the kernel reads `info` only.
    unsafe { call(libc::SYS_rt_tgsigqueueinfo, arguments) };
}

/// The id of this process, asked anew each time: a cached one is wrong behind `fork` and `vfork`.
pub fn process_id() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// The kernel's id of this thread.
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// # Safety
///
/// The call must be sound with these arguments.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention; the caller answers for the call.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// # Safety
///
/// The call must be sound with these arguments.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention; the caller answers for the call.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] as isize => result,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            options(nostack),
        );
    }
    result
}

/// Elsewhere every call fails, so that [`super::install`] changes nothing and the guard stays unarmed.
///
/// # Safety
///
/// None is needed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn call(_number: libc::c_long, _arguments: [usize; 4]) -> isize {
    -(libc::ENOSYS as isize)
}
