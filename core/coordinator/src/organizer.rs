//! Write-behind: which files are flushed although nobody closes them.
//!
//! When buffers run short and most of what the pool holds is dirty, the files that became dirty first go, until enough is clean; and files
//! whose bytes are older than the configured age.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use millpond_model::config::Config;
use millpond_pool::Pool;

/// Buffers run short when fewer bytes than this part of all are free, in percent.
const SHORT: u64 = 25;

/// What a file has that is dirty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dirty {
    file: u32,
    pages: u64,
    since: u64,
}

/// The files to flush now, at monotonic time `now` in nanoseconds, the one that became dirty first in front.
pub fn due(pool: &Pool, config: &Config, now: u64) -> Vec<u32> {
    let header = pool.segment().header();
    let dirty = u64::from(header.dirty_pages.load(Relaxed));
    if dirty == 0 {
        return Vec::new();
    }
    let held = u64::from(header.page_list.total().saturating_sub(header.page_list.free())).max(1);
    let surplus = if is_short(pool) && dirty * 100 > held * u64::from(config.pool.high_mark) {
        dirty.saturating_sub(held * u64::from(config.pool.low_mark) / 100)
    } else {
        0
    };
    let age = config.flush.write_behind_age.map(|age| age.duration().as_nanos() as u64);
    if surplus == 0 && age.is_none() {
        return Vec::new();
    }
    choose(dirty_files(pool), surplus, age.map(|age| now.saturating_sub(age)))
}

fn is_short(pool: &Pool) -> bool {
    let (mut free, mut total) = (0, 0);
    for slab in pool.segment().slabs() {
        let bytes = u64::from(slab.buffer_bytes.load(Relaxed));
        free += bytes * u64::from(slab.list.free());
        total += bytes * u64::from(slab.list.total());
    }
    free * 100 < total * SHORT
}

fn dirty_files(pool: &Pool) -> Vec<Dirty> {
    let mut found: HashMap<u32, Dirty> = HashMap::new();
    for slot in 0..pool.segment().layout().sizes.pages() {
        let page = pool.segment().page(slot);
        let Some(file) = page.file.load(Acquire).checked_sub(1) else { continue };
        if page.dirty.is_empty() {
            continue;
        }
        let since = page.dirty_since.load(Relaxed);
        let entry = found.entry(file).or_insert(Dirty { file, pages: 0, since });
        entry.pages += 1;
        entry.since = entry.since.min(since);
    }
    found.into_values().collect()
}

/// As many files, oldest first, as hold `surplus` pages, and all that became dirty before `line`.
fn choose(mut dirty: Vec<Dirty>, surplus: u64, line: Option<u64>) -> Vec<u32> {
    dirty.sort_by_key(|d| (d.since, d.file));
    let mut taken = 0;
    let mut wanted = |d: &Dirty| {
        let take = taken < surplus || line.is_some_and(|line| d.since <= line);
        taken += if take { d.pages } else { 0 };
        take
    };
    dirty.into_iter().filter(|d| wanted(d)).map(|d| d.file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_until_enough_is_clean() {
        let dirty = || {
            vec![
                Dirty { file: 1, pages: 5, since: 30 },
                Dirty { file: 2, pages: 3, since: 10 },
                Dirty { file: 3, pages: 9, since: 20 },
            ]
        };
        assert!(choose(dirty(), 0, None).is_empty());
        assert_eq!(choose(dirty(), 3, None), [2]);
        assert_eq!(choose(dirty(), 4, None), [2, 3]);
        assert_eq!(choose(dirty(), 0, Some(20)), [2, 3]);
    }
}
