//! Whether the stores' file systems give each change a time of its own.
//!
//! Where two changes in a row can carry one time stamp, an unchanged stamp does not prove an unchanged file shortly after a change.

use std::time::{Duration, Instant};

use rustix::fs::{openat, Mode, OFlags, CWD};

/// Changes that are tried.
const CHANGES: u64 = 10;
/// They must happen well within one tick of a coarse clock, or the trial proves nothing.
const SPAN: Duration = Duration::from_millis(2);
/// Times that a trial is repeated which took too long.
const TRIALS: usize = 5;

/// Whether all `stores` have fine times. A store that cannot be tried has none.
pub fn are_fine(stores: &[String]) -> bool {
    !stores.is_empty() && stores.iter().all(|store| is_fine(store).unwrap_or(false))
}

fn is_fine(store: &str) -> Result<bool, rustix::io::Errno> {
    let file = openat(CWD, store, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?;
    let stamp = || rustix::fs::fstat(&file).map(|s| (s.st_ctime, s.st_ctime_nsec));
    for _ in 0..TRIALS {
        let begun = Instant::now();
        let mut last = stamp()?;
        let mut fine = true;
        for at in 0..CHANGES {
            rustix::io::pwrite(&file, b"x", at)?;
            let now = stamp()?;
            fine &= now != last;
            last = now;
        }
        if !fine || begun.elapsed() < SPAN {
            return Ok(fine);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_tried_is_not_fine() {
        assert!(!are_fine(&[]));
        assert!(!are_fine(&["/nowhere/at/all".into()]));
        let directory = tempfile::tempdir().unwrap();
        let fine = is_fine(directory.path().to_str().unwrap());
        eprintln!("fine times: {fine:?}");
    }
}
