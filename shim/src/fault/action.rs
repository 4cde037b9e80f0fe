//! A signal disposition as a value: what the program asked for, and what the kernel is told instead.

use std::mem;

use super::deliver;
use super::raw::KernelAction;

/// The flag that says that a restorer is given; libc sets it, and shows it.
pub const SA_RESTORER: u64 = 0x0400_0000;

/// The flags that the kernel keeps; it drops the others, by which programs probe for them.
const KEPT_FLAGS: u64 = 0xdc00_0807;

/// A disposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// SIG_DFL, SIG_IGN or the handler's address.
    pub handler: usize,
    /// The `SA_` bits.
    pub flags: u64,
    /// The signals blocked while the handler runs.
    pub mask: u64,
    /// Where the handler returns to.
    pub restorer: usize,
}

impl Action {
    /// What the program asked for through libc, as the kernel would report it.
    pub fn requested(new: &libc::sigaction, restorer: usize) -> Self {
        let unblockable = bit(libc::SIGKILL) | bit(libc::SIGSTOP);
        Self {
            handler: new.sa_sigaction,
            flags: (u64::from(new.sa_flags as u32) | SA_RESTORER) & KEPT_FLAGS,
            mask: mask_of(&new.sa_mask) & !unblockable,
            restorer,
        }
    }

    /// What the kernel has.
    pub fn of_kernel(kernel: &KernelAction) -> Self {
        Self { handler: kernel.handler, flags: kernel.flags, mask: kernel.mask, restorer: kernel.restorer }
    }

    /// Whether the program wants the default action.
    pub fn is_default(&self) -> bool {
        self.handler == libc::SIG_DFL
    }

    /// Whether the program wants the signal ignored.
    pub fn is_ignored(&self) -> bool {
        self.handler == libc::SIG_IGN
    }

    /// Whether the kernel would go back to the default when it calls the handler.
    pub fn is_reset(&self) -> bool {
        self.flags & u64::from(libc::SA_RESETHAND as u32) != 0
    }

    /// What the kernel gets instead: our handler on the stack, with the mask and the flags of the program's.
    pub fn mirrored(&self) -> Self {
        if self.is_ignored() {
            return *self;
        }
        let ours = Self { handler: deliver::entry(), ..*self };
        if self.is_default() {
            // Nothing of the program runs, so nothing may come between; its alternate stack serves if it has one.
            let flags = (libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART) as u32;
            return Self { flags: u64::from(flags) | SA_RESTORER, mask: u64::MAX, ..ours };
        }
        let reset = u64::from(libc::SA_RESETHAND as u32);
        Self { flags: (self.flags & !reset) | u64::from(libc::SA_SIGINFO as u32), ..ours }
    }

    /// For libc's `sigaction`.
    pub fn to_libc(self) -> libc::sigaction {
        // SAFETY: all of its fields may be zero.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        self.report(&mut action);
        action
    }

    /// Fills in what libc's `sigaction` would, and leaves the rest of the signal set alone as it does.
    pub fn report(&self, old: &mut libc::sigaction) {
        old.sa_sigaction = self.handler;
        old.sa_flags = self.flags as u32 as libc::c_int;
        // SAFETY: the field is an optional function pointer, for which any address or null is a valid value.
        old.sa_restorer = unsafe { mem::transmute::<usize, Option<extern "C" fn()>>(self.restorer) };
        // SAFETY: a signal set begins with the 64 bits that the kernel knows.
        unsafe { (&raw mut old.sa_mask).cast::<u64>().write(self.mask) };
    }

    /// For the kernel, with a restorer that works.
    pub fn to_kernel(self, restorer: usize) -> KernelAction {
        KernelAction { handler: self.handler, flags: self.flags, restorer, mask: self.mask }
    }
}

/// The bit of `sig` in a signal set.
pub fn bit(sig: libc::c_int) -> u64 {
    1 << (sig - 1)
}

fn mask_of(set: &libc::sigset_t) -> u64 {
    // SAFETY: a signal set begins with the 64 bits that the kernel knows.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read() }
}
