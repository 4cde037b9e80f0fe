//! Accounts: what one process, or all processes of one program, had served, handed to the kernel, and was seen to escape.

use crate::stats::{Stripe, REASONS};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Room for kinds of escapes.
pub const ESCAPES: usize = 24;

/// Counters off the path of a cached page.
#[repr(C)]
pub struct Account {
    /// Files that were opened for buffering for the first time.
    pub files_buffered: AtomicU64,
    /// Bytes written to real files by flushes.
    pub bytes_flushed: AtomicU64,
    /// Write calls to real files made by flushes.
    pub flush_writes: AtomicU64,
    /// Flushes that failed.
    pub flush_errors: AtomicU64,
    /// Bytes that went through to the file because no buffer was free.
    pub bytes_through: AtomicU64,
    /// Clean pages that were dropped to make room.
    pub pages_evicted: AtomicU64,
    pad: [AtomicU64; 2],
    /// Times that a file was written out and a call on it left to the kernel, by [`Reason`](crate::stats::Reason).
    pub sync_downs: [AtomicU64; REASONS],
    /// Files that became the kernel's, by [`Reason`](crate::stats::Reason).
    pub direct_files: [AtomicU64; REASONS],
    /// Reads and writes of files that are the kernel's, by the [`Reason`](crate::stats::Reason) why they are.
    pub direct_calls: [AtomicU64; REASONS],
    /// What was seen to be out of sight, by [`Escape`].
    pub escapes: [AtomicU64; ESCAPES],
}
crate::assert_shared!(Account, 64 + 3 * 8 * REASONS + 8 * ESCAPES);

impl Account {
    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.words().all(|w| w.load(Relaxed) == 0)
    }

    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        [
            &self.files_buffered,
            &self.bytes_flushed,
            &self.flush_writes,
            &self.flush_errors,
            &self.bytes_through,
            &self.pages_evicted,
        ]
        .into_iter()
        .chain(&self.sync_downs)
        .chain(&self.direct_files)
        .chain(&self.direct_calls)
        .chain(&self.escapes)
    }
}

/// Sums of stripes and accounts.
#[repr(C, align(64))]
pub struct Sums {
    /// The hot counters.
    pub hot: Stripe,
    /// The others.
    pub account: Account,
}
crate::assert_shared!(Sums, 64 + std::mem::size_of::<Account>());

impl Sums {
    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        self.hot.words().into_iter().chain(self.account.words())
    }

    /// Moves what `stripes` and `account` have counted here, and adds it to `also`.
    pub fn take(&self, stripes: &[Stripe], account: &Account, also: Option<&Sums>) {
        let mut also = also.map(Sums::words);
        let mut add = |to: &AtomicU64, n: u64| {
            to.fetch_add(n, Relaxed);
            if let Some(second) = also.as_mut().and_then(Iterator::next) {
                second.fetch_add(n, Relaxed);
            }
        };
        for (i, to) in self.hot.words().into_iter().enumerate() {
            add(to, stripes.iter().map(|s| s.words()[i].swap(0, Relaxed)).sum());
        }
        for (to, from) in self.account.words().zip(account.words()) {
            add(to, from.swap(0, Relaxed));
        }
    }

    /// Moves all of `other` here.
    pub fn absorb(&self, other: &Sums) {
        self.take(std::slice::from_ref(&other.hot), &other.account, None);
    }

    /// Sets all to zero.
    pub fn clear(&self) {
        self.words().for_each(|w| w.store(0, Relaxed));
    }
}

macro_rules! escapes {
    ($($name:ident = $text:literal : $doc:literal,)*) => {
        /// What the shim saw happen that it cannot see into.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Escape { $(#[doc = $doc] $name,)* }

        impl Escape {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind's name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

escapes! {
    SymbolLayer = "symbol_layer_only": "libc's text could not be patched, so that what libc itself calls is not seen: the kernel serves everything.",
    Excluded = "excluded": "The configuration leaves the program alone.",
    Unshared = "unshared_descriptors": "A thread or a child has a table of descriptors that is not the process's: the kernel serves everything.",
    NoCoordinator = "no_coordinator": "No coordinator answered: the kernel serves everything.",
    NoMemory = "no_address_space": "The process has no room to map the pool: the kernel serves everything.",
    NoClient = "no_client_slot": "The table of processes is full, or the coordinator is stopping: the kernel serves everything.",
    NoRoom = "tables_full": "A file had no place in a table of the segment.",
    HighDescriptor = "high_fd": "A descriptor's number was beyond the table.",
    PoolFull = "pool_full": "Bytes went past the pool, for want of a buffer.",
    Ring = "io_uring": "A ring was set up: what goes through it is not seen.",
    LockedIn = "seccomp": "The process restricted its own system calls: nothing is buffered from then on.",
    ExecStatic = "exec_static": "A static program was started.",
    ExecGo = "exec_go": "A program of the Go tool chain was started.",
    ExecOther = "exec_other_machine": "A program for another machine (32-bit, say) was started.",
    ExecOtherLibc = "exec_other_libc": "A program of another C library (musl, say) was started.",
    ExecPrivileged = "exec_privileged": "A program that gains rights was started: the linker ignores the preload.",
    ExecUnreadable = "exec_unreadable": "A program that cannot be read was started: nobody can say what it is.",
    ExecUnreached = "exec_shim_out_of_reach": "A program was started where the shim's library is not there, or may not be read.",
    ForkUnseen = "fork_unseen": "A child was forked by a call that was not seen.",
}

const _: () = assert!(Escape::ALL.len() <= ESCAPES);

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;

    fn zeroed() -> Box<Sums> {
        // SAFETY: zero is a value of a shared struct.
        Box::new(unsafe { MaybeUninit::zeroed().assume_init() })
    }

    #[test]
    fn what_is_moved_is_there_once_and_carried_once() {
        let (process, program, carried) = (zeroed(), zeroed(), zeroed());
        process.hot.bytes_read.store(5, Relaxed);
        process.account.escapes[3].store(2, Relaxed);
        process.account.direct_calls[47].store(7, Relaxed);
        let stripes = std::slice::from_ref(&process.hot);
        program.take(stripes, &process.account, Some(&carried));
        program.take(stripes, &process.account, Some(&carried));
        for sums in [&program, &carried] {
            assert_eq!(sums.hot.bytes_read.load(Relaxed), 5);
            assert_eq!(sums.account.escapes[3].load(Relaxed), 2);
            assert_eq!(sums.account.direct_calls[47].load(Relaxed), 7);
        }
        assert!(process.words().all(|w| w.load(Relaxed) == 0));
        carried.absorb(&program);
        assert_eq!((carried.hot.bytes_read.load(Relaxed), program.hot.bytes_read.load(Relaxed)), (10, 0));
        carried.clear();
        assert!(carried.words().all(|w| w.load(Relaxed) == 0));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Escape::ALL.iter().map(|e| e.name()).collect();
        assert_eq!(names.len(), Escape::ALL.len());
    }
}
