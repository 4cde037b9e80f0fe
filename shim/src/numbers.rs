//! The numbers of the shim's own descriptors.
//!
//! A program that counts on the lowest free number, or opens files until there are none left, must not notice that one is taken. The best place is
//! therefore above the soft limit: a descriptor there works, and does not count. Where limits leave no such place, it is a high number
//! below.

use crate::thread;
use millpond_segment::sys;

/// Where own descriptors live if not above the limit, and where if there is no room for that.
const HIGH: [u64; 2] = [1000, 200];
/// How far above the limit they may lie: as many as ever exist at once.
const ABOVE: u64 = 16;
/// Limits from here on leave room enough below, and a table that reaches above them would be large.
const LARGE: u64 = 1 << 14;

/// Moves descriptor `fd` of ours to a number that programs do not reach for. Gives the number that it has then.
pub fn lift(fd: i32) -> i32 {
    let moved = above_limit(fd).or_else(|| below_limit(fd));
    if moved.is_some() {
        sys::close(fd);
    }
    moved.unwrap_or(fd)
}

fn duplicate(fd: i32, from: u64) -> Option<i32> {
    sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, from as usize).ok().map(|new| new as i32)
}

/// A number above the soft limit, which is raised for that moment.
fn above_limit(fd: i32) -> Option<i32> {
    // Another thread must not fork or open meanwhile.
    let limit = limit(None).filter(|_| !thread::were_several())?;
    let raised =
        libc::rlimit64 { rlim_cur: limit.rlim_max.min(limit.rlim_cur.saturating_add(ABOVE)), ..limit };
    if limit.rlim_cur >= LARGE || raised.rlim_cur <= limit.rlim_cur {
        return None;
    }
    self::limit(Some(raised))?;
    let new = duplicate(fd, limit.rlim_cur);
    let met = self::limit(Some(limit));
    if let Some(theirs) = met.filter(|met| met.rlim_cur != raised.rlim_cur || met.rlim_max != raised.rlim_max)
    {
        // The program has set another one in between.
        let _ = self::limit(Some(theirs));
    }
    new
}

/// A high number below the limit, or the highest that is free.
fn below_limit(fd: i32) -> Option<i32> {
    let top = limit(None).map_or(0, |l| l.rlim_cur);
    let highest = (top.saturating_sub(ABOVE)..top).rev();
    HIGH.into_iter().filter(|&n| n < top).chain(highest).find_map(|n| duplicate(fd, n))
}

/// The limit on descriptors before this call, which sets it to `new` if given.
fn limit(new: Option<libc::rlimit64>) -> Option<libc::rlimit64> {
    let mut old = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let set = new.as_ref().map_or(0, |new| new as *const _ as usize);
    let arguments = [0, libc::RLIMIT_NOFILE as usize, set, &raw mut old as usize, 0, 0];
    // SAFETY: both point to limits of ours, or nowhere.
    unsafe { sys::syscall(libc::SYS_prlimit64, arguments) }.ok()?;
    Some(old)
}
