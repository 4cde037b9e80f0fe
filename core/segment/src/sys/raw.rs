//! The system call instruction.
//!
//! `rustix` wraps most calls in slices and owned descriptors; what passes a program's own pointers on, valid or not, goes
//! through here.

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", std::io::Error::from_raw_os_error(self.0))
    }
}

impl std::error::Error for Errno {}

impl From<rustix::io::Errno> for Errno {
    fn from(e: rustix::io::Errno) -> Self {
        Self(e.raw_os_error())
    }
}

/// Makes system call `number` with six arguments.
///
/// # Safety
/// As for the system call: pointers among the arguments must be what the call expects. A bad one that the kernel only copies through comes back as
/// `EFAULT` and is harmless.
///
/// # Errors
/// The kernel's error number.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn syscall(number: i64, a: [usize; 6]) -> Result<usize, Errno> {
    let ret: isize;
    // SAFETY: the Linux system call convention of x86-64: rcx and r11 are clobbered, memory may be written by the
    // kernel as the caller has allowed.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => ret,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    if (-4095..0).contains(&ret) {
        Err(Errno(-ret as i32))
    } else {
        Ok(ret as usize)
    }
}

/// Makes system call `number` with six arguments.
///
/// # Safety
/// As for the system call.
///
/// # Errors
/// The kernel's error number.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn syscall(number: i64, a: [usize; 6]) -> Result<usize, Errno> {
    let ret: isize;
    // SAFETY: the Linux system call convention of AArch64.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a[0] => ret,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5],
            options(nostack)
        );
    }
    if (-4095..0).contains(&ret) {
        Err(Errno(-ret as i32))
    } else {
        Ok(ret as usize)
    }
}
