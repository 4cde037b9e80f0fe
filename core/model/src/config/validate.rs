//! Which values a configuration may hold. Pure: says what is wrong, not where it stands.

use std::collections::BTreeSet;

use super::error::Fault;
use super::keys::Key;
use super::{ByteSize, Config, Period, PoolConfig};

const PAGE_SIZE: (ByteSize, ByteSize) = (ByteSize::kib(4), ByteSize::mib(1));
const POOL_SIZE: (ByteSize, ByteSize) = (ByteSize::mib(1), ByteSize::gib(16 << 10));
const BUFFER_SIZE: (ByteSize, ByteSize) = (ByteSize::kib(4), ByteSize::mib(16));
/// A pool below this many pages would spend its time making room.
const LEAST_PAGES: u64 = 16;
/// As many as there are powers of two between the bounds of a buffer.
const MOST_SLABS: usize = 13;
const INSTANCE_LENGTH: usize = 64;
/// Programs are told of the names in one variable, which has to be put back where it was lost.
const EXCLUDE_LENGTH: usize = 4000;

/// Whether `name` can name a coordinator: it becomes the name of a directory.
pub fn is_instance_name(name: &str) -> bool {
    (1..=INSTANCE_LENGTH).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// Refuses the first value that no coordinator can work with.
pub(super) fn validate(config: &Config) -> Result<(), Fault> {
    if !is_instance_name(&config.instance) {
        return Err(bad("instance", format!("`{}` cannot name a coordinator", config.instance)));
    }
    pool(&config.pool)?;
    slabs(&config.pool)?;
    stores(&config.store.paths)?;
    programs(&config.programs.exclude)?;
    flush(config)?;
    limits(config)
}

/// A fault whose remedy is the one of the table of keys.
fn bad(key: &str, problem: impl Into<String>) -> Fault {
    let remedy = Key::find(key).map_or("leave the key out", |key| key.remedy);
    Fault::new(key, problem, remedy)
}

fn pool(pool: &PoolConfig) -> Result<(), Fault> {
    let page = pool.page_size;
    if !page.is_power_of_two() || page < PAGE_SIZE.0 || page > PAGE_SIZE.1 {
        return Err(bad("pool.page_size", format!("{page} is no page size")));
    }
    if pool.size < POOL_SIZE.0 || pool.size > POOL_SIZE.1 {
        return Err(bad("pool.size", format!("{} is no size of a pool", pool.size)));
    }
    if pool.size.bytes() / page.bytes() < LEAST_PAGES {
        return Err(bad(
            "pool.size",
            format!("{} holds fewer than {LEAST_PAGES} pages of {page}", pool.size),
        ));
    }
    if !pool.directory.is_empty() && !pool.directory.starts_with('/') {
        return Err(bad("pool.directory", format!("`{}` is not absolute", pool.directory)));
    }
    if pool.high_mark > 100 || pool.high_mark == 0 {
        return Err(bad("pool.high_mark", format!("{} is no percentage", pool.high_mark)));
    }
    if pool.low_mark == 0 || pool.low_mark >= pool.high_mark {
        let problem = format!("{} is not between 0 and the high mark of {}", pool.low_mark, pool.high_mark);
        return Err(bad("pool.low_mark", problem));
    }
    Ok(())
}

fn slabs(pool: &PoolConfig) -> Result<(), Fault> {
    if pool.slabs.is_empty() || pool.slabs.len() > MOST_SLABS {
        return Err(bad("pool.slabs", format!("{} slabs, not 1 to {MOST_SLABS}", pool.slabs.len())));
    }
    let mut seen = BTreeSet::new();
    for (index, slab) in pool.slabs.iter().enumerate() {
        let buffer = slab.buffer;
        let key = |field: &str| format!("pool.slabs[{index}].{field}");
        if !buffer.is_power_of_two() || buffer < BUFFER_SIZE.0 || buffer > BUFFER_SIZE.1 {
            return Err(bad(&key("buffer"), format!("{buffer} is no size of a buffer")));
        }
        if !seen.insert(buffer) {
            return Err(bad(&key("buffer"), format!("{buffer} stands twice")));
        }
        if slab.share == 0 || slab.share > 100 {
            return Err(bad(&key("share"), format!("{} is no share", slab.share)));
        }
        let part = u128::from(pool.size.bytes()) * u128::from(slab.share) / 100;
        if part < u128::from(buffer.bytes()) {
            let problem = format!("{} % of {} hold no buffer of {buffer}", slab.share, pool.size);
            return Err(bad(&key("share"), problem));
        }
    }
    let sum: u32 = pool.slabs.iter().map(|slab| u32::from(slab.share)).sum();
    if sum != 100 {
        return Err(bad("pool.slabs", format!("the shares sum to {sum}, not to 100")));
    }
    Ok(())
}

fn stores(paths: &[String]) -> Result<(), Fault> {
    for (index, path) in paths.iter().enumerate() {
        let key = format!("store.paths[{index}]");
        if path.is_empty() {
            return Err(bad(&key, "an empty path"));
        }
        // Programs are told of the stores in one variable, with `:` between them.
        if path.contains([':', '\0', '\n']) {
            return Err(bad(&key, format!("`{}` holds a `:` or a control character", path.escape_debug())));
        }
    }
    Ok(())
}

fn programs(names: &[String]) -> Result<(), Fault> {
    for (index, name) in names.iter().enumerate() {
        let key = format!("programs.exclude[{index}]");
        if name.is_empty() || name.contains([':', '/', '\0', '\n']) {
            return Err(bad(&key, format!("`{}` is no program's name", name.escape_debug())));
        }
    }
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    if length > EXCLUDE_LENGTH {
        return Err(bad("programs.exclude", format!("{length} bytes of names, more than {EXCLUDE_LENGTH}")));
    }
    Ok(())
}

fn within(key: &str, span: Period, least: Period, most: Period) -> Result<(), Fault> {
    if span < least || span > most {
        return Err(bad(key, format!("{span} is not between {least} and {most}")));
    }
    Ok(())
}

fn flush(config: &Config) -> Result<(), Fault> {
    let least = Period::millis(10);
    within("flush.retry_interval", config.flush.retry_interval, least, Period::secs(3600))?;
    match config.flush.write_behind_age {
        Some(age) => within("flush.write_behind_age", age, least, Period::secs(24 * 3600)),
        None => Ok(()),
    }
}

fn limits(config: &Config) -> Result<(), Fault> {
    let limits = &config.limits;
    let counts = [
        ("limits.clients", limits.clients, 1, 1 << 16),
        ("limits.open_files", limits.open_files, 16, 1 << 22),
        ("limits.files", limits.files, 16, 1 << 22),
    ];
    for (key, count, least, most) in counts {
        if !(least..=most).contains(&count) {
            return Err(bad(key, format!("{count} is not between {least} and {most}")));
        }
    }
    let (least, most) = (Period::millis(1), Period::secs(3600));
    within("limits.lock_wait", limits.lock_wait, least, most)?;
    within("limits.attach_wait", limits.attach_wait, least, most)
}
