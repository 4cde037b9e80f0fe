//! The rows of the table: what is measured, where, in which unit, and what is wanted.

use std::path::{Path, PathBuf};

/// The file system that a row works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A fresh directory under /dev/shm.
    Tmpfs,
    /// A fresh directory on the disk file system.
    Disk,
}

/// How a row's number is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds per operation.
    NanosPerOp,
    /// MiB per second.
    MibPerSecond,
    /// Microseconds of one program's run.
    MicrosPerRun,
}

impl Unit {
    /// Name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::NanosPerOp => "ns/op",
            Self::MibPerSecond => "MiB/s",
            Self::MicrosPerRun => "µs/run",
        }
    }

    /// How much faster the shim is than the kernel: above 1 is faster, whatever the unit.
    pub fn speed_ratio(self, plain: f64, shim: f64) -> f64 {
        match self {
            Self::MibPerSecond => shim / plain,
            Self::NanosPerOp | Self::MicrosPerRun => plain / shim,
        }
    }
}

/// What a row must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// At least this speed ratio.
    Ratio(f64),
    /// At most this many microseconds more than plain.
    ExtraMicros(f64),
    /// Nothing: the row explains its neighbour.
    Information,
}

impl Wanted {
    /// Whether medians of both sides reach it; `None` when nothing is wanted.
    pub fn is_reached(self, unit: Unit, plain: f64, shim: f64) -> Option<bool> {
        match self {
            Self::Ratio(least) => Some(unit.speed_ratio(plain, shim) >= least),
            Self::ExtraMicros(most) => Some(shim - plain <= most),
            Self::Information => None,
        }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ratio(least) => write!(f, ">= {least:.1}"),
            Self::ExtraMicros(most) => write!(f, "<= +{most:.0} µs"),
            Self::Information => f.write_str("-"),
        }
    }
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name, which `--only` matches by substring and the worker by equality.
    pub name: &'static str,
    /// What is measured, for the reader.
    pub what: &'static str,
    /// Where.
    pub place: Place,
    /// Unit of its number.
    pub unit: Unit,
    /// Goal.
    pub wanted: Wanted,
}

const fn case(name: &'static str, what: &'static str, place: Place, unit: Unit, wanted: Wanted) -> Case {
    Case { name, what, place, unit, wanted }
}

/// All rows, in the order of the table.
pub const CASES: [Case; 17] = {
    use Place::{Disk, Tmpfs};
    use Unit::{MibPerSecond, MicrosPerRun, NanosPerOp};
    use Wanted::{ExtraMicros, Information, Ratio};
    [
        case("pread-4k", "hot 4 KiB pread, tmpfs", Tmpfs, NanosPerOp, Ratio(5.0)),
        case("pwrite-4k", "hot 4 KiB pwrite, tmpfs", Tmpfs, NanosPerOp, Ratio(5.0)),
        case("read-4k", "hot sequential 4 KiB read, tmpfs", Tmpfs, NanosPerOp, Ratio(4.0)),
        case("pread-64", "hot 64-byte pread, tmpfs", Tmpfs, NanosPerOp, Ratio(8.0)),
        case(
            "shared-interleaved",
            "2 writers, 1 file, 4 KiB interleaved, tmpfs",
            Tmpfs,
            MibPerSecond,
            Ratio(3.0),
        ),
        case(
            "shared-segmented",
            "2 writers, 1 file, 4 KiB segmented, tmpfs",
            Tmpfs,
            MibPerSecond,
            Ratio(3.0),
        ),
        case("shared-interleaved-new", "  the same into a new file", Tmpfs, MibPerSecond, Information),
        case("shared-segmented-new", "  the same into a new file", Tmpfs, MibPerSecond, Information),
        case("stream-tmpfs", "new process, 256 MiB in 1 MiB writes, tmpfs", Tmpfs, MibPerSecond, Ratio(2.0)),
        case("stream-tmpfs-close", "  the same with close", Tmpfs, MibPerSecond, Information),
        case("stream-disk-close", "new process, 256 MiB write+close, disk", Disk, MibPerSecond, Ratio(0.8)),
        case("open-close", "open+close of a small file, disk", Disk, NanosPerOp, Ratio(0.4)),
        case("open-close-tmpfs", "  the same on tmpfs", Tmpfs, NanosPerOp, Information),
        case("create", "create-write-close of 3,901 bytes, disk", Disk, NanosPerOp, Ratio(0.5)),
        case("create-tmpfs", "  the same on tmpfs", Tmpfs, NanosPerOp, Information),
        case("startup", "start-up of `true`, posix_spawn and wait", Disk, MicrosPerRun, ExtraMicros(500.0)),
        case("startup-write", "  start-up of `sh -c 'echo > file'`", Disk, MicrosPerRun, Information),
    ]
};

/// The directories that the rows work in.
pub struct Places {
    /// Under /dev/shm.
    pub tmpfs: PathBuf,
    /// On the disk file system.
    pub disk: PathBuf,
}

impl Places {
    /// The directory of a place.
    pub fn directory(&self, place: Place) -> &Path {
        match place {
            Place::Tmpfs => &self.tmpfs,
            Place::Disk => &self.disk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, case) in CASES.iter().enumerate() {
            assert!(CASES[..i].iter().all(|other| other.name != case.name), "{}", case.name);
        }
    }

    #[test]
    fn faster_is_above_one_in_every_unit() {
        assert_eq!(Unit::NanosPerOp.speed_ratio(900.0, 300.0), 3.0);
        assert_eq!(Unit::MibPerSecond.speed_ratio(100.0, 300.0), 3.0);
    }

    #[test]
    fn goals_are_judged() {
        assert_eq!(Wanted::Ratio(2.0).is_reached(Unit::NanosPerOp, 900.0, 400.0), Some(true));
        assert_eq!(Wanted::Ratio(2.0).is_reached(Unit::MibPerSecond, 900.0, 400.0), Some(false));
        assert_eq!(Wanted::ExtraMicros(500.0).is_reached(Unit::MicrosPerRun, 600.0, 1000.0), Some(true));
        assert_eq!(Wanted::Information.is_reached(Unit::MicrosPerRun, 1.0, 2.0), None);
    }
}
