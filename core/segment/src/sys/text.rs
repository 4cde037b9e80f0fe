//! Whether this process may change code that is mapped: what patching libc needs, and a hardened kernel refuses.

use super::raw::{syscall, Errno};

const PAGE: usize = 4096;

/// A mapping that goes away with the value.
struct Mapping(usize);

impl Mapping {
    fn new(protection: i32, flags: i32, fd: i32) -> Result<Self, Errno> {
        // SAFETY: a new private mapping that replaces nothing.
        unsafe {
            syscall(
                libc::SYS_mmap,
                [0, PAGE, protection as usize, (flags | libc::MAP_PRIVATE) as usize, fd as usize, 0],
            )
        }
        .map(Self)
    }

    fn protect(&self, protection: i32) -> Result<(), Errno> {
        // SAFETY: the mapping is ours, and nothing runs in it.
        unsafe { syscall(libc::SYS_mprotect, [self.0, PAGE, protection as usize, 0, 0, 0]) }.map(drop)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { syscall(libc::SYS_munmap, [self.0, PAGE, 0, 0, 0, 0]) };
    }
}

/// Tries on a mapping of its own what patching does: code that was written becomes executable, and a program's code becomes writable and then
/// executable again.
///
/// # Errors
/// The kernel's refusal; or what keeps the program's own file from being mapped.
pub fn can_change() -> Result<(), Errno> {
    let written = Mapping::new(libc::PROT_READ | libc::PROT_WRITE, libc::MAP_ANONYMOUS, -1)?;
    written.protect(libc::PROT_READ | libc::PROT_EXEC)?;
    let own = super::openat(libc::AT_FDCWD, c"/proc/self/exe", libc::O_RDONLY | libc::O_CLOEXEC, 0)?;
    let code = Mapping::new(libc::PROT_READ | libc::PROT_EXEC, 0, own);
    super::close(own);
    let code = code?;
    code.protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the first byte of a writable private mapping that nobody else knows; written as it was, so that the page is a changed one.
    unsafe {
        let byte = code.0 as *mut u8;
        byte.write_volatile(byte.read_volatile());
    }
    code.protect(libc::PROT_READ | libc::PROT_EXEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)`, since Linux 6.3.
    const SET_MDWE: usize = 65;

    #[test]
    fn a_process_that_refuses_it_is_told() {
        // SAFETY: the child only makes system calls and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: no pointers.
            let refused = unsafe {
                let before = can_change();
                let set = syscall(libc::SYS_prctl, [SET_MDWE, 1, 0, 0, 0, 0]);
                match (before, set, can_change()) {
                    (Ok(()), Ok(_), Err(Errno(libc::EACCES))) => 0,
                    (Ok(()), Err(_), Ok(())) => 77,
                    _ => 1,
                }
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(refused) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        let ci = std::env::var_os("CI").is_some_and(|v| v == "true");
        match libc::WEXITSTATUS(status) {
            0 => {}
            77 if !ci => eprintln!("SKIPPED: this kernel has no PR_SET_MDWE (Linux 6.3)"),
            other => panic!("the probe said {other}"),
        }
    }
}
