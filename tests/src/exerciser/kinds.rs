//! The kinds of operations, and how often a run does each.
//!
//! No two runs are alike: each leaves some kinds out and does others more often, so that combinations come up that an even mixture
//! would never reach. Mappings, for example, hand a file to the kernel, and would hide most of what the pool does if every run had them.

use super::random::Random;

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Read,
    ReadAt,
    Write,
    WriteAt,
    AppendAt,
    Seek,
    SeekSparse,
    TruncateFd,
    TruncatePath,
    Punch,
    Zero,
    Allocate,
    KeepSize,
    Collapse,
    Insert,
    Map,
    MapRead,
    MapWrite,
    MapSync,
    MapMove,
    MapDrop,
    MapPart,
    MapOver,
    MapTwice,
    MapAdvise,
    ReadIntoMap,
    WriteFromMap,
    Sync,
    SyncAll,
    Open,
    Close,
    Dup,
    SetFlags,
    Evict,
    Drain,
    Pressure,
    CopyRange,
    SendFile,
    Splice,
    Rename,
    Exchange,
    Unlink,
    Link,
    Stat,
    Look,
    Child,
    Spawn,
    Exec,
    Replace,
    Pass,
    Threads,
}

use Kind::*;

/// Kinds that belong together, each with its weight; the second number says in how many of four runs the group is there at all.
const GROUPS: &[(&[(Kind, u32)], u32)] = &[
    (&[(Read, 60), (ReadAt, 80), (Write, 60), (WriteAt, 80)], 4),
    (&[(Open, 30), (Close, 24)], 4),
    (&[(Stat, 12), (Look, 8), (Seek, 20)], 4),
    (&[(TruncateFd, 20), (TruncatePath, 10)], 3),
    (&[(AppendAt, 12), (SetFlags, 8)], 2),
    (&[(SeekSparse, 6)], 1),
    (&[(Punch, 8), (Zero, 8), (Allocate, 6), (KeepSize, 6)], 2),
    (&[(Collapse, 6), (Insert, 6)], 1),
    (&[(Map, 6), (MapRead, 14), (MapWrite, 14), (MapDrop, 5), (MapSync, 3)], 2),
    (&[(MapMove, 4), (MapPart, 3), (MapOver, 3), (MapTwice, 2), (MapAdvise, 3)], 2),
    (&[(ReadIntoMap, 5), (WriteFromMap, 5)], 2),
    (&[(Sync, 14)], 3),
    (&[(SyncAll, 1)], 1),
    (&[(Dup, 10)], 3),
    (&[(Evict, 10)], 2),
    (&[(Pressure, 3)], 2),
    (&[(Drain, 1)], 2),
    (&[(CopyRange, 8), (SendFile, 6), (Splice, 6)], 2),
    (&[(Rename, 6), (Exchange, 4), (Unlink, 6), (Link, 4)], 2),
    (&[(Child, 6)], 2),
    (&[(Spawn, 1)], 1),
    (&[(Exec, 2)], 1),
    (&[(Replace, 4)], 3),
    (&[(Pass, 2)], 1),
    (&[(Threads, 4)], 1),
];

/// One run in so many has mappings in any case, which come and go beside all the rest.
const MAPPED: u64 = 4;

fn is_about_maps(group: &[(Kind, u32)]) -> bool {
    matches!(group[0].0, Map | MapMove | ReadIntoMap)
}

/// What is particular to a run.
#[derive(Clone, Debug)]
pub struct Profile {
    kinds: Vec<(Kind, u32)>,
    total: u32,
    /// Names in use.
    pub names: usize,
    /// Offsets are mostly below this.
    pub span: usize,
    /// Longest data operation.
    pub longest: usize,
    /// Whether files are opened with `O_DIRECT` now and then.
    pub direct: bool,
    /// Whether files are opened with `O_APPEND` now and then.
    pub append: bool,
    /// Whether lengths and offsets are mostly multiples of a page.
    pub aligned: bool,
}

impl Profile {
    /// The profile of a run.
    pub fn new(seed: u64, run: u64, processes: usize) -> Self {
        let mut random = Random::new(seed, run, u64::MAX);
        let mut kinds = Vec::new();
        for &(group, quarters) in GROUPS {
            let there = random.below(4) < u64::from(quarters) || run % MAPPED == 0 && is_about_maps(group);
            for &(kind, weight) in group {
                let weight = weight * random.pick(&[1, 1, 2, 4]);
                let left_out = quarters < 4 && random.once_in(5);
                if there && !left_out && (kind != Replace || processes > 1) {
                    // Rare kinds stay rare beside common ones that are three times as frequent.
                    kinds.push((kind, weight));
                }
            }
        }
        let total = kinds.iter().map(|(_, weight)| weight).sum();
        let span = random.pick(&[12_000, 100_000, 300_000, super::state::MOST]);
        Self {
            kinds,
            total,
            names: random.pick(&[1, 1, 2, 3]),
            span,
            longest: random.pick(&[200, 5000, 70_000, 300_000]).min(span),
            direct: random.once_in(5),
            append: random.once_in(2),
            aligned: random.once_in(4),
        }
    }

    /// The kind of a step.
    pub fn kind(&self, random: &mut Random) -> Kind {
        let mut at = random.below(u64::from(self.total)) as u32;
        for &(kind, weight) in &self.kinds {
            if at < weight {
                return kind;
            }
            at -= weight;
        }
        Kind::ReadAt
    }
}
