//! Which files are in a store: decided on the opened descriptor.
//!
//! A store is a directory. If it is the root of a mount, its device says all; otherwise the kernel's own path of the descriptor is looked
//! at, and a file that turned out to lie outside is remembered, by inode and change time (a rename changes that one), so that it need not be
//! asked about again.

use millpond_segment::sys::{self, FileStat};
use once_cell::sync::OnceCell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most stores of one process.
const MAX_STORES: usize = 16;
/// Longest path of a store in bytes.
const MAX_PATH: usize = 1024;

struct Store {
    dev: u64,
    whole_device: bool,
    path: Box<[u8]>,
}

static STORES: OnceCell<Box<[Store]>> = OnceCell::new();

const OUTSIDE: usize = 512;
static OUTSIDE_KEYS: [AtomicU64; OUTSIDE] = [const { AtomicU64::new(0) }; OUTSIDE];

/// Reads the colon-separated list of stores. Called once, by the constructor.
pub fn load(list: &[u8]) {
    let paths = list.split(|&b| b == b':').filter(|p| !p.is_empty() && p.len() < MAX_PATH - 4);
    let found: Vec<Store> = paths.filter_map(store).take(MAX_STORES).collect();
    let _ = STORES.set(found.into_boxed_slice());
}

fn store(path: &[u8]) -> Option<Store> {
    let stat = stat_of(&[path, b"\0"].concat())?;
    let parent = stat_of(&[path, b"/..\0"].concat());
    let whole_device = path == b"/" || parent.is_some_and(|p| p.dev != stat.dev);
    let path = if path == b"/" { Box::default() } else { path.into() };
    Some(Store { dev: stat.dev, whole_device, path })
}

fn stat_of(path: &[u8]) -> Option<FileStat> {
    sys::stat_at(libc::AT_FDCWD, CStr::from_bytes_until_nul(path).ok()?, 0).ok()
}

fn stores() -> &'static [Store] {
    STORES.get().map_or(&[], |stores| stores)
}

/// Whether there is any store.
#[inline]
pub fn any() -> bool {
    !stores().is_empty()
}

/// Whether some store is on device `dev`.
pub fn on_device(dev: u64) -> bool {
    stores().iter().any(|s| s.dev == dev)
}

fn outside_key(stat: &FileStat) -> (usize, u64) {
    let mixed = (stat.ino ^ stat.dev.rotate_left(40) ^ (stat.stamp.ctime as u64).rotate_left(17))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
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
    let inside = stores()
        .iter()
        .filter(here)
        .any(|s| path.starts_with(&s.path) && path.get(s.path.len()) == Some(&b'/'));
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
