//! The table of keys: what each one means, which environment variable sets it, and what a good value looks
//! like.
//!
//! The example file, the overrides and the remedies of errors all come from this one table, so that none of
//! them can name a key that the others do not know.

use std::str::FromStr;

use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::Config;

/// One key of the configuration.
pub(super) struct Key {
    /// Section and name, such as `pool.size`.
    pub path: &'static str,
    /// The environment variable that overrides it, or empty.
    pub env: &'static str,
    /// What it means, for the example file.
    pub doc: &'static str,
    /// What to write instead of a refused value.
    pub remedy: &'static str,
    /// Sets it from text, or says why not.
    pub set: fn(&mut Config, &str) -> Result<(), String>,
}

impl Key {
    /// The section (empty for a key above all sections) and the name.
    pub fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }

    /// The key of a path such as `pool.slabs[1].buffer`, whose index and field are cut off.
    pub fn find(path: &str) -> Option<&'static Key> {
        let stem = path.split('[').next().unwrap_or(path);
        KEYS.iter().find(|key| key.path == stem)
    }
}

fn put<T: FromStr>(slot: &mut T, text: &str) -> Result<(), String>
where
    T::Err: std::fmt::Display,
{
    *slot = text.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(())
}

fn put_number<T: FromStr>(slot: &mut T, text: &str) -> Result<(), String> {
    *slot = text.trim().parse().map_err(|_| format!("`{text}` is no whole number in range"))?;
    Ok(())
}

fn put_word<T: DeserializeOwned>(slot: &mut T, text: &str) -> Result<(), String> {
    let word: StrDeserializer<'_, ValueError> = text.into_deserializer();
    *slot = T::deserialize(word).map_err(|error| error.to_string())?;
    Ok(())
}

fn put_text(slot: &mut String, text: &str) -> Result<(), String> {
    text.clone_into(slot);
    Ok(())
}

/// Reads `4KiB:10,64KiB:90`, the form that slabs have where only one line of text is to be had.
fn put_slabs(config: &mut Config, text: &str) -> Result<(), String> {
    let mut slabs = Vec::new();
    for part in text.split(',') {
        let (buffer, share) =
            part.split_once(':').ok_or_else(|| format!("`{part}` is no pair of buffer and share"))?;
        let mut slab = super::SlabConfig { buffer: super::ByteSize::new(0), share: 0 };
        put(&mut slab.buffer, buffer)?;
        put_number(&mut slab.share, share)?;
        slabs.push(slab);
    }
    config.pool.slabs = slabs;
    Ok(())
}

fn put_paths(config: &mut Config, text: &str) -> Result<(), String> {
    config.store.paths = text.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    Ok(())
}

fn put_programs(config: &mut Config, text: &str) -> Result<(), String> {
    config.programs.exclude = text.split(':').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Ok(())
}

/// Every key, in the order of the example file.
pub(super) const KEYS: &[Key] = &[
    Key {
        path: "instance",
        env: "MILLPOND_INSTANCE",
        doc: "Name of the coordinator. Programs of one user on one node share a coordinator by its name.",
        remedy: "use 1 to 64 letters, digits, `.`, `_` or `-`, not starting with a dot",
        set: |c, t| put_text(&mut c.instance, t),
    },
    Key {
        path: "pool.size",
        env: "MILLPOND_POOL",
        doc: "Bytes of buffers in shared memory. Reserved in full when the coordinator starts.",
        remedy: "write a size from 1MiB to 16TiB, at least 16 pages, such as \"512MiB\"",
        set: |c, t| put(&mut c.pool.size, t),
    },
    Key {
        path: "pool.page_size",
        env: "MILLPOND_PAGE_SIZE",
        doc: "Bytes of one page, the unit in which files are buffered. A power of two from 4KiB to 1MiB.",
        remedy: "write a power of two from 4KiB to 1MiB, such as \"64KiB\"",
        set: |c, t| put(&mut c.pool.page_size, t),
    },
    Key {
        path: "pool.huge_pages",
        env: "MILLPOND_HUGE_PAGES",
        doc: "\"auto\": huge pages where they can be had, ordinary ones with a warning otherwise.\n\
              \"always\": huge pages or no start. \"never\": ordinary pages.",
        remedy: "write \"auto\", \"always\" or \"never\"",
        set: |c, t| put_word(&mut c.pool.huge_pages, t),
    },
    Key {
        path: "pool.directory",
        env: "MILLPOND_DIRECTORY",
        doc: "Directory in which the segment file is created, for example one of a tmpfs mounted with\n\
              huge=always. Empty: the coordinator mounts its own or uses memory without a name.",
        remedy: "write an absolute path of a directory, or \"\"",
        set: |c, t| put_text(&mut c.pool.directory, t),
    },
    Key {
        path: "pool.slabs",
        env: "MILLPOND_SLABS",
        doc: "How the pool is divided into buffers of several sizes. Buffers are powers of two from 4KiB to\n\
              16MiB, no size twice; shares are percentages that sum to 100.",
        remedy: "write a list such as [{ buffer = \"4KiB\", share = 20 }, { buffer = \"64KiB\", share = 80 }]",
        set: put_slabs,
    },
    Key {
        path: "pool.low_mark",
        env: "MILLPOND_LOW_MARK",
        doc: "Write-behind stops when this percentage of the pool is dirty.",
        remedy: "write a percentage from 1 to 99 that is below pool.high_mark",
        set: |c, t| put_number(&mut c.pool.low_mark, t),
    },
    Key {
        path: "pool.high_mark",
        env: "MILLPOND_HIGH_MARK",
        doc: "Write-behind starts when this percentage of the pool is dirty.",
        remedy: "write a percentage from 2 to 100 that is above pool.low_mark",
        set: |c, t| put_number(&mut c.pool.high_mark, t),
    },
    Key {
        path: "store.paths",
        env: "MILLPOND_STORES",
        doc: "Directories whose files are buffered. Empty: the current directory of `run` or `start`.",
        remedy: "write a list of directories such as [\"/scratch/run1\"]; a path holds no `:`",
        set: put_paths,
    },
    Key {
        path: "programs.exclude",
        env: "MILLPOND_EXCLUDE",
        doc: "Names of programs whose files the kernel serves, as it would without us; others see at once what they write.\n\
              A name is that of the executable, or the one that it was called by, without directories.",
        remedy: "write a list of names such as [\"postgres\"]; a name holds no `/` and no `:`",
        set: put_programs,
    },
    Key {
        path: "flush.mode",
        env: "MILLPOND_FLUSH",
        doc: "\"close\": the bytes are in the real file when the last close of a process returns.\n\
              \"async\": close returns at once, and `millpond drain` waits.",
        remedy: "write \"close\" or \"async\"",
        set: |c, t| put_word(&mut c.flush.mode, t),
    },
    Key {
        path: "flush.retry_interval",
        env: "MILLPOND_RETRY_INTERVAL",
        doc: "How long after a failed flush (disk full, quota) the next attempt is made.",
        remedy: "write a span from 10ms to 1h, such as \"1s\"",
        set: |c, t| put(&mut c.flush.retry_interval, t),
    },
    Key {
        path: "flush.write_behind_age",
        env: "MILLPOND_WRITE_BEHIND_AGE",
        doc: "Age at which dirty bytes are flushed although nobody closed the file. Not set: never by age.",
        remedy: "write a span from 10ms to 24h, such as \"5s\", or leave the key out",
        set: |c, t| {
            let mut age = super::Period::default();
            put(&mut age, t)?;
            c.flush.write_behind_age = Some(age);
            Ok(())
        },
    },
    Key {
        path: "limits.clients",
        env: "MILLPOND_CLIENTS",
        doc: "Processes that are attached at once. One more runs unbuffered.",
        remedy: "write a number from 1 to 65536",
        set: |c, t| put_number(&mut c.limits.clients, t),
    },
    Key {
        path: "limits.open_files",
        env: "MILLPOND_OPEN_FILES",
        doc: "Open file descriptions at once, of all programs together. One more is unbuffered.",
        remedy: "write a number from 16 to 4194304",
        set: |c, t| put_number(&mut c.limits.open_files, t),
    },
    Key {
        path: "limits.files",
        env: "MILLPOND_FILES",
        doc: "Files known at once. Beyond, clean ones that nobody has open are forgotten.",
        remedy: "write a number from 16 to 4194304",
        set: |c, t| put_number(&mut c.limits.files, t),
    },
    Key {
        path: "limits.lock_wait",
        env: "MILLPOND_LOCK_WAIT",
        doc: "How long a program waits for a lock in the segment before its holder is taken for dead or stopped.",
        remedy: "write a span from 1ms to 1h, such as \"10s\"",
        set: |c, t| put(&mut c.limits.lock_wait, t),
    },
    Key {
        path: "limits.attach_wait",
        env: "MILLPOND_ATTACH_WAIT",
        doc: "How long a starting program waits for the coordinator before it runs unbuffered.",
        remedy: "write a span from 1ms to 1h, such as \"5s\"",
        set: |c, t| put(&mut c.limits.attach_wait, t),
    },
    Key {
        path: "log.level",
        env: "MILLPOND_LOG",
        doc: "Least serious event that the coordinator writes: off, error, warn, info, debug, trace.",
        remedy: "write \"off\", \"error\", \"warn\", \"info\", \"debug\" or \"trace\"",
        set: |c, t| put_word(&mut c.log.level, t),
    },
    Key {
        path: "log.file",
        env: "MILLPOND_LOG_FILE",
        doc: "File that events are appended to. Empty: standard error of a coordinator in the foreground,\n\
              `log` in the instance directory of one in the background.",
        remedy: "write a path, or \"\"",
        set: |c, t| put_text(&mut c.log.file, t),
    },
];
