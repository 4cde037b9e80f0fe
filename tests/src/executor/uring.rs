//! A small ring of `io_uring`, set up and used through `syscall`.

use super::memory::Memory;
use super::outcome::Outcome;

const ENTRIES: u32 = 4;
const OFFSET_SUBMISSIONS: i64 = 0;
const OFFSET_COMPLETIONS: i64 = 0x0800_0000;
const OFFSET_ENTRIES: i64 = 0x1000_0000;
const ENTER_GETEVENTS: u32 = 1;
const OPCODE_FSYNC: u8 = 3;
const OPCODE_READ: u8 = 22;
const OPCODE_WRITE: u8 = 23;
/// Bytes of each of the shared areas; what this few entries take is less.
const AREA: usize = 4096;

/// The kernel's `struct io_uring_params`.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    head: [u32; 10],
    submissions: [u32; 10],
    completions: [u32; 10],
}

/// The kernel's `struct io_uring_sqe`, as far as it is used here.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Entry {
    opcode: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    len: u32,
    rest: [u32; 9],
}

const _: () = assert!(size_of::<Entry>() == 64 && size_of::<Parameters>() == 120);

/// A ring.
pub struct Ring {
    fd: i32,
    submissions: *mut u8,
    completions: *mut u8,
    entries: *mut Entry,
    parameters: Parameters,
}

impl Ring {
    /// Sets a ring up, or says what that gave.
    pub fn new() -> Result<Ring, Outcome> {
        let mut parameters = Parameters::default();
        // SAFETY: the structure has the size that the kernel fills in.
        let made =
            Outcome::of(|| unsafe { libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut parameters) });
        if !made.is_ok() {
            return Err(made);
        }
        let fd = made.int();
        let area = |offset| {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
            // SAFETY: an address of the kernel's choice overlaps nothing.
            let place = unsafe { libc::mmap(std::ptr::null_mut(), AREA, protection, flags, fd, offset) };
            assert_ne!(place, libc::MAP_FAILED, "memory of the ring");
            place.cast::<u8>()
        };
        let (submissions, completions) = (area(OFFSET_SUBMISSIONS), area(OFFSET_COMPLETIONS));
        Ok(Ring { fd, submissions, completions, entries: area(OFFSET_ENTRIES).cast(), parameters })
    }

    fn word(base: *mut u8, offset: u32) -> *mut u32 {
        base.wrapping_add(offset as usize).cast()
    }

    /// Submits one entry and waits for what it gives.
    fn submit(&mut self, entry: Entry) -> i64 {
        let (submissions, completions) = (self.parameters.submissions, self.parameters.completions);
        // SAFETY: the offsets are the kernel's own, within areas that are mapped; nobody else uses the ring, and
        // the system call orders what is done to it.
        unsafe {
            let tail = Self::word(self.submissions, submissions[1]);
            let mask = Self::word(self.submissions, submissions[2]).read_volatile();
            let index = tail.read_volatile() & mask;
            self.entries.add(index as usize).write_volatile(entry);
            Self::word(self.submissions, submissions[6]).add(index as usize).write_volatile(index);
            tail.write_volatile(tail.read_volatile().wrapping_add(1));
            let entered =
                Outcome::of(|| libc::syscall(libc::SYS_io_uring_enter, self.fd, 1, 1, ENTER_GETEVENTS, 0, 0));
            if entered.value != 1 {
                return -i64::from(entered.errno);
            }
            let head = Self::word(self.completions, completions[0]);
            let mask = Self::word(self.completions, completions[2]).read_volatile();
            let place = completions[5] as usize + 16 * (head.read_volatile() & mask) as usize;
            let result = self.completions.add(place + 8).cast::<i32>().read_volatile();
            head.write_volatile(head.read_volatile().wrapping_add(1));
            result.into()
        }
    }

    /// A read or a write; offset -1 is the current one.
    pub fn transfer(&mut self, fd: i32, write: bool, memory: &Memory, len: u32, offset: i64) -> i64 {
        let opcode = if write { OPCODE_WRITE } else { OPCODE_READ };
        let (address, offset) = (memory.pointer() as u64, offset as u64);
        self.submit(Entry { opcode, fd, offset, address, len, ..Entry::default() })
    }

    /// An `fsync`.
    pub fn fsync(&mut self, fd: i32) -> i64 {
        self.submit(Entry { opcode: OPCODE_FSYNC, fd, ..Entry::default() })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: areas and descriptor are the ring's own.
        unsafe {
            libc::munmap(self.submissions.cast(), AREA);
            libc::munmap(self.completions.cast(), AREA);
            libc::munmap(self.entries.cast(), AREA);
            libc::close(self.fd);
        }
    }
}
