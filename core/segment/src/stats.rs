//! Counters: what went through the pool, and what did not and why.

use std::sync::atomic::{AtomicU64, Ordering};

/// Stripes of hot counters in a client slot. A thread adds to its own without a locked instruction; threads beyond the last one share it.
pub const STRIPES: usize = 16;

/// Counters that the path of a cached page adds to.
#[repr(C, align(64))]
pub struct Stripe {
    /// Bytes served to programs from the pool.
    pub bytes_read: AtomicU64,
    /// Bytes taken from programs into the pool.
    pub bytes_written: AtomicU64,
    /// Spans of pages that were served at once.
    pub page_hits: AtomicU64,
    /// Spans of pages for which something had to be fetched or made.
    pub page_misses: AtomicU64,
    pad: [AtomicU64; 4],
}
crate::assert_shared!(Stripe, 64);

impl Stripe {
    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.words().iter().all(|w| w.load(Ordering::Relaxed) == 0)
    }

    /// All counters, in a fixed order.
    pub fn words(&self) -> [&AtomicU64; 4] {
        [&self.bytes_read, &self.bytes_written, &self.page_hits, &self.page_misses]
    }
}

/// Room for reasons.
pub const REASONS: usize = 48;

/// Adds to a stripe that only this thread adds to (`shared` false), or that several do.
#[inline]
pub fn add(counter: &AtomicU64, n: u64, shared: bool) {
    if shared {
        counter.fetch_add(n, Ordering::Relaxed);
    } else {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

macro_rules! reasons {
    ($($name:ident = $text:literal : $doc:literal,)*) => {
        /// Why a call was handed to the kernel instead of being served from the pool.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Reason { $(#[doc = $doc] $name,)* }

        impl Reason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its bit in a file's word of reasons for direct mode.
            pub const fn direct_bit(self) -> u64 {
                1 << self as u32
            }

            /// The names of the reasons in a file's word.
            pub fn names_of(bits: u64) -> Vec<&'static str> {
                Self::ALL.iter().filter(|r| bits & r.direct_bit() != 0).map(|r| r.name()).collect()
            }

            /// The reason's name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    Mapping = "mmap": "The file was mapped.",
    Sendfile = "sendfile": "A copy inside the kernel: sendfile.",
    Splice = "splice": "A copy inside the kernel: splice, tee, vmsplice.",
    CopyRange = "copy_file_range": "A copy inside the kernel: copy_file_range.",
    Ioctl = "ioctl": "A clone, dedupe or extent map.",
    Allocate = "fallocate": "Space was allocated or punched.",
    Holes = "seek_hole": "The map of holes was asked for.",
    Times = "times": "Times were set.",
    Attributes = "attributes": "Mode or owner were changed.",
    Stat = "stat": "Dirty bytes were written so that the kernel's answer is exact.",
    OpenDirect = "o_direct": "Opened with O_DIRECT.",
    Aio = "aio": "Asynchronous I/O by libaio.",
    IoUring = "io_uring": "An io_uring was set up.",
    Passed = "fd_passed": "The descriptor was passed over a socket.",
    Foreign = "foreign_exec": "Inherited by a program that cannot be preloaded.",
    Inherited = "inherited": "Inherited from a program that was not preloaded.",
    Vfork = "vfork": "A child of vfork read or wrote by a descriptor that it had put there itself.",
    RawCall = "raw_syscall": "A system call made by number that the pool does not serve.",
    BadPointer = "bad_pointer": "The program's memory was not there.",
    Limit = "size_limit": "A limit on file size was in the way.",
    HighDescriptor = "high_fd": "The descriptor's number is beyond the table.",
    NoSlot = "no_slot": "A table of the segment is full.",
    NoCoordinator = "no_coordinator": "The coordinator did not answer.",
    SyncRange = "sync_file_range": "A range was to be written.",
    Lease = "lease": "A lease was set.",
    PoolFull = "pool_full": "No buffer was free: the bytes went through.",
    Vector = "vector": "A vectored call with flags that the pool does not serve.",
    Advice = "advice": "The program asked for cached pages to be dropped.",
    Watched = "inotify": "The file is watched: the kernel has to see each write.",
    LockedIn = "seccomp": "The process restricted its own system calls.",
    Synced = "sync": "All files were to be written.",
    Interrupted = "signal": "A signal handler used the file in the middle of a turn of its mode.",
    Excluded = "excluded": "The configuration leaves the program alone.",
    Unpatched = "unpatched": "libc could not be patched: its own calls would go unseen.",
    Unshared = "unshare": "A thread got a descriptor table of its own.",
    Inline = "inline": "libc writes the file by calls that cannot be caught.",
}

const _: () = assert!(Reason::ALL.len() <= REASONS);
