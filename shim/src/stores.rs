//! Which files are in a store: decided on the opened descriptor.
//!
//! A store is a directory. If it is the root of a mount, its device says all; otherwise the kernel's own path of the descriptor is looked
//! at, and a file that turned out to lie outside is remembered, by inode and change time (a rename changes that one), so that it need not be
//! asked about again.

use millpond_segment::sys::{self, FileStat};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Most stores of one process.
const MAX_STORES: usize = 16;
/// Longest path of a store in bytes.
const MAX_PATH: usize = 1024;

struct Store {
    dev: u64,
    whole_device: bool,
    len: usize,
    path: [u8; MAX_PATH],
}

struct Table {
    stores: [Store; MAX_STORES],
}

static mut TABLE: Table =
    Table { stores: [const { Store { dev: 0, whole_device: false, len: 0, path: [0; MAX_PATH] } }; MAX_STORES] };
static COUNT: AtomicU32 = AtomicU32::new(0);

const OUTSIDE: usize = 512;
static OUTSIDE_KEYS: [AtomicU64; OUTSIDE] = [const { AtomicU64::new(0) }; OUTSIDE];

/// Reads the colon-separated list of stores. Called once, by the constructor.
pub fn load(list: &[u8]) {
    let mut count = 0;
    for path in list.split(|&b| b == b':').filter(|p| !p.is_empty() && p.len() < MAX_PATH - 4) {
        if count == MAX_STORES {
            break;
        }
        let mut buf = [0u8; MAX_PATH];
        buf[..path.len()].copy_from_slice(path);
        let Some(stat) = stat_of(&buf) else { continue };
        let mut parent = buf;
        parent[path.len()..path.len() + 3].copy_from_slice(b"/..");
        let whole_device = path == b"/" || stat_of(&parent).is_some_and(|p| p.dev != stat.dev);
        let len = if path == b"/" { 0 } else { path.len() };
        // SAFETY: only the constructor writes, before COUNT lets anybody read.
        unsafe {
            (&raw mut TABLE.stores[count]).write(Store { dev: stat.dev, whole_device, len, path: buf });
        }
        count += 1;
    }
    COUNT.store(count as u32, Release);
}

fn stat_of(path: &[u8]) -> Option<FileStat> {
    sys::stat_at(libc::AT_FDCWD, CStr::from_bytes_until_nul(path).ok()?, 0).ok()
}

fn stores() -> &'static [Store] {
    let count = COUNT.load(Acquire) as usize;
    // SAFETY: the first COUNT entries are written and never change again.
    unsafe { std::slice::from_raw_parts((&raw const TABLE.stores).cast::<Store>(), count) }
}

/// Whether there is any store.
#[inline]
pub fn any() -> bool {
    COUNT.load(Relaxed) > 0
}

/// Whether some store is on device `dev`.
pub fn on_device(dev: u64) -> bool {
    stores().iter().any(|s| s.dev == dev)
}

fn outside_key(stat: &FileStat) -> (usize, u64) {
    let mixed = (stat.ino ^ stat.dev.rotate_left(40) ^ (stat.stamp.ctime as u64).rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) as usize % OUTSIDE, mixed | 1)
}

/// Whether the regular file behind `fd`, described by `stat`, lies in a store. Gives its path to `name` when it had to be looked up.
pub fn contain(fd: i32, stat: &FileStat, name: impl FnOnce(&[u8])) -> bool {
    let here = |s: &&Store| s.dev == stat.dev;
    if stores().iter().filter(here).any(|s| s.whole_device) {
        return true;
    }
    let (place, key) = outside_key(stat);
    if OUTSIDE_KEYS[place].load(Relaxed) == key {
        return false;
    }
    let mut buf = [0u8; MAX_PATH];
    let Some(path) = path_of(fd, &mut buf) else { return false };
    let inside = stores().iter().filter(here).any(|s| path.starts_with(&s.path[..s.len]) && path.get(s.len) == Some(&b'/'));
    if inside {
        name(path);
    } else {
        OUTSIDE_KEYS[place].store(key, Relaxed);
    }
    inside
}

/// The kernel's path of a descriptor, its first bytes when it is long.
pub fn path_of(fd: i32, buf: &mut [u8]) -> Option<&[u8]> {
    let mut link = [0u8; 32];
    let link = proc_path(fd, &mut link)?;
    // SAFETY: the link is a C string and the buffer is as long as said.
    let n = unsafe {
        sys::syscall(
            libc::SYS_readlinkat,
            [libc::AT_FDCWD as usize, link.as_ptr() as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0],
        )
    };
    buf.get(..n.ok()?)
}

/// `/proc/self/fd/N` as a C string.
pub fn proc_path(fd: i32, buf: &mut [u8; 32]) -> Option<&CStr> {
    use std::io::Write;
    let mut at = &mut buf[..31];
    write!(at, "/proc/self/fd/{fd}").ok()?;
    CStr::from_bytes_until_nul(buf).ok()
}
