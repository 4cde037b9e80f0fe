//! From the configuration to the number of slots in each table of the segment.

use millpond_model::config::Config;
use millpond_model::placement::MAX_SLABS;
use millpond_segment::{Layout, Sizes};

/// Client slots that a lock's word can name.
const MOST_CLIENTS: u32 = 4095;
const MIB: u64 = 1 << 20;

/// The sizes for a pool of `pool` bytes; `None` when there are more slabs than a segment has, or a slab's count is beyond its range.
pub fn sizes_of(config: &Config, pool: u64) -> Option<Sizes> {
    let mut wanted = config.pool.slabs.clone();
    wanted.sort_by_key(|slab| slab.buffer);
    if wanted.len() > MAX_SLABS {
        return None;
    }
    let mut slabs = [(0, 0); MAX_SLABS];
    for (place, slab) in slabs.iter_mut().zip(&wanted) {
        let bytes = u128::from(pool) * u128::from(slab.share) / 100;
        let count = u32::try_from(bytes / u128::from(slab.buffer.bytes())).ok()?.max(1);
        *place = (u32::try_from(slab.buffer.bytes()).ok()?, count);
    }
    Some(Sizes {
        page_bytes: u32::try_from(config.pool.page_size.bytes()).ok()?,
        // Slot 0 is the coordinator's own.
        clients: config.limits.clients.saturating_add(1).min(MOST_CLIENTS),
        descriptions: config.limits.open_files,
        files: config.limits.files,
        slabs,
    })
}

/// Bytes of a segment with a pool of `pool` bytes.
pub fn length_of(config: &Config, pool: u64) -> Option<u64> {
    sizes_of(config, pool).map(|sizes| Layout::new(sizes).length)
}

/// The largest pool in whole MiB whose segment is no longer than `room`; 0 when none is.
pub fn largest_pool(config: &Config, room: u64) -> u64 {
    let (mut fits, mut beyond) = (0, room / MIB + 1);
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        match length_of(config, middle * MIB) {
            Some(length) if length <= room => fits = middle,
            _ => beyond = middle,
        }
    }
    fits * MIB
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_fits_the_configured_size() {
        let config = Config::default();
        for pool in [1 << 20, 64 << 20, (512 << 20) + 12_345, 8 << 30] {
            let sizes = sizes_of(&config, pool).unwrap();
            assert!(sizes.data_bytes() <= pool);
            assert!(sizes.data_bytes() + 3 * 65_536 > pool);
            assert!(sizes.slabs[..3].iter().all(|s| s.1 > 0));
        }
    }

    #[test]
    fn the_largest_pool_fits_and_a_larger_one_does_not() {
        let config = Config::default();
        let room = 777 << 20;
        let pool = largest_pool(&config, room);
        assert!(length_of(&config, pool).unwrap() <= room);
        assert!(length_of(&config, pool + 2 * MIB).unwrap() > room);
        assert_eq!(largest_pool(&config, 1 << 20), 0);
    }
}
