//! Whether cached pages still stand for the file: the stamp that was read with them against the one of now.

/// What the kernel says of a file, as far as it tells one state of its contents from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since the epoch.
    pub mtime: i64,
    /// Change time in nanoseconds since the epoch.
    pub ctime: i64,
    /// Birth time in nanoseconds since the epoch, 0 where the file system keeps none.
    pub btime: i64,
}

/// What to do with cached pages at the next open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The file is as it was: the pages stand.
    Same,
    /// Somebody else changed the file: clean pages go, dirty ranges stay.
    Changed,
    /// The inode number now belongs to another file: nothing cached has a meaning.
    Replaced,
}

/// A stamp this young when it was taken proves nothing: a later change in the same clock tick would leave it equal.
/// Coarse kernel clocks tick every 1 to 10 ms.
pub const RACY_NS: i64 = 20_000_000;

impl Stamp {
    /// Compares the stamp kept with the pages, taken at `taken` (nanoseconds since the epoch), with the one of `now`.
    ///
    /// `fine` says that the file system gives each change a time of its own once the previous one has been looked at
    /// (Linux 6.13 and later on ext4, XFS, Btrfs and tmpfs); without it, a stamp that was taken within
    /// [`RACY_NS`] of the change it records does not count.
    pub fn judge(self, now: Self, taken: i64, fine: bool) -> Verdict {
        if self.btime != now.btime {
            Verdict::Replaced
        } else if self != now || (!fine && taken - self.ctime < RACY_NS) {
            Verdict::Changed
        } else {
            Verdict::Same
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Stamp = Stamp { size: 5, mtime: 1_000, ctime: 1_000, btime: 7 };

    #[test]
    fn any_difference_is_a_change_and_another_birth_is_another_file() {
        let late = 1_000 + RACY_NS;
        assert_eq!(OLD.judge(OLD, late, false), Verdict::Same);
        for other in [Stamp { size: 6, ..OLD }, Stamp { mtime: 2, ..OLD }, Stamp { ctime: 2, ..OLD }] {
            assert_eq!(OLD.judge(other, late, true), Verdict::Changed);
        }
        assert_eq!(OLD.judge(Stamp { btime: 8, ..OLD }, late, true), Verdict::Replaced);
    }

    #[test]
    fn a_stamp_taken_in_the_tick_of_the_change_counts_only_with_fine_clocks() {
        assert_eq!(OLD.judge(OLD, 1_001, false), Verdict::Changed);
        assert_eq!(OLD.judge(OLD, 1_001, true), Verdict::Same);
    }
}
