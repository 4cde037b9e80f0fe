//! What the kernel says is mapped: `/proc/self/maps`.
//!
//! Some file systems show another device there than `stat` does. So a device counts only once a mapping known to be of one of its
//! files was seen under its own numbers.

use millpond_segment::sys;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering::Relaxed};

/// Where a file is mapped.
pub enum Found {
    /// Not in this process.
    Nowhere,
    /// Here, and maybe elsewhere.
    At(Range<usize>),
    /// Nobody can say.
    Unknown,
}

/// Devices that something is known about.
const DEVICES: usize = 16;
static DEVICE: [AtomicU64; DEVICES] = [const { AtomicU64::new(u64::MAX) }; DEVICES];
/// 1: named alike, 2: not.
static NAMED: [AtomicU8; DEVICES] = [const { AtomicU8::new(0) }; DEVICES];

/// Bytes asked for at a time. The buffer lies aside, as stacks may be small; whoever uses it holds the table's lock.
const PIECE: usize = 4096;
static BUFFER: [AtomicU8; PIECE] = [const { AtomicU8::new(0) }; PIECE];

fn known(dev: u64) -> Option<bool> {
    let place = DEVICE.iter().position(|d| d.load(Relaxed) == dev)?;
    Some(NAMED[place].load(Relaxed) == 1)
}

/// Whether nothing is known of device `dev` yet, and something could be.
pub fn is_unknown(dev: u64) -> bool {
    known(dev).is_none() && DEVICE.iter().any(|d| d.load(Relaxed) == u64::MAX)
}

/// Looks whether what is mapped at `address` is shown as `identity`, which it is.
pub fn learn(address: usize, identity: (u64, u64)) {
    let mut alike = false;
    let read = walk(|line| {
        if line.range().contains(&address) {
            alike = (line.device(), line.inode) == identity;
        }
    });
    if read.is_none() {
        return;
    }
    if let Some(place) = DEVICE.iter().position(|d| d.load(Relaxed) == u64::MAX) {
        DEVICE[place].store(identity.0, Relaxed);
        NAMED[place].store(if alike { 1 } else { 2 }, Relaxed);
    }
}

/// Looks for a file of a device that [`learn`] has looked at.
pub fn find(identity: (u64, u64)) -> Found {
    if known(identity.0) != Some(true) {
        return Found::Unknown;
    }
    let mut found = None;
    let read = walk(|line| {
        if found.is_none() && (line.device(), line.inode) == identity {
            found = Some(line.range());
        }
    });
    match (read, found) {
        (None, _) => Found::Unknown,
        (_, None) => Found::Nowhere,
        (_, Some(place)) => Found::At(place),
    }
}

/// The numbers of one line: `start-end perms offset major:minor inode path`.
#[derive(Default)]
struct Line {
    field: u8,
    start: u64,
    end: u64,
    major: u64,
    minor: u64,
    inode: u64,
}

impl Line {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn device(&self) -> u64 {
        libc::makedev(self.major as u32, self.minor as u32)
    }

    /// Takes one more byte of the line.
    fn take(&mut self, byte: u8) {
        let number = match self.field {
            0 => &mut self.start,
            1 => &mut self.end,
            4 => &mut self.major,
            5 => &mut self.minor,
            6 => &mut self.inode,
            _ => {
                self.field += u8::from(byte == b' ' && self.field < 7);
                return;
            }
        };
        let base = if self.field == 6 { 10 } else { 16 };
        match (byte as char).to_digit(base) {
            Some(digit) => *number = number.wrapping_mul(base.into()).wrapping_add(digit.into()),
            None => self.field += 1,
        }
    }
}

/// Calls `look` with each line. `None` when they could not be read.
fn walk(mut look: impl FnMut(&Line)) -> Option<()> {
    let file = sys::openat(libc::AT_FDCWD, c"/proc/self/maps", libc::O_RDONLY | libc::O_CLOEXEC, 0).ok()?;
    let mut line = Line::default();
    let whole = loop {
        // SAFETY: the buffer is ours alone under the table's lock, and of bytes that may be anything.
        let read = unsafe {
            sys::syscall(libc::SYS_read, [file as usize, BUFFER.as_ptr() as usize, PIECE, 0, 0, 0])
        };
        match read {
            Ok(0) => break true,
            Ok(n) => {
                for byte in &BUFFER[..n.min(PIECE)] {
                    match byte.load(Relaxed) {
                        b'\n' => look(&std::mem::take(&mut line)),
                        byte => line.take(byte),
                    }
                }
            }
            Err(_) => break false,
        }
    };
    sys::close(file);
    whole.then_some(())
}
