//! The segment's memory: found, compared with what there is, and reserved in full.
//!
//! A pool that does not fit is refused here, with the size that would fit, and never shows as a SIGBUS later.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use millpond_model::config::{ByteSize, Config, HugePages};
use millpond_segment::{AttachError, Layout, Segment};
use rustix::fs::{
    fallocate, fcntl_add_seals, memfd_create, openat, unlinkat, AtFlags, FallocateFlags, MemfdFlags, Mode,
    OFlags, SealFlags, CWD,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{hugefs, memory, sizes};

/// What is left free of the memory that the kernel calls available.
const MARGIN: u64 = 32 << 20;

/// What a segment lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// A tmpfs of our own with huge pages.
    HugePages,
    /// Ordinary pages of memory.
    OrdinaryPages,
    /// A file in a configured directory.
    Directory,
}

impl Memory {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::HugePages => "huge pages",
            Self::OrdinaryPages => "ordinary pages",
            Self::Directory => "a file in pool.directory",
        }
    }
}

/// A fresh segment.
#[derive(Debug)]
pub struct Reserved {
    /// Its file.
    pub file: OwnedFd,
    /// What it lies in.
    pub memory: Memory,
    /// A line about what that costs, if it costs something.
    pub warning: Option<String>,
}

/// Why there is no segment.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// The pool is larger than what is there.
    #[error("pool.size: {wanted} do not fit: with its tables that is {}, and {place} has {}; {}", mib(.length), mib(.room), remedy(.fits))]
    TooLarge {
        /// What was configured.
        wanted: ByteSize,
        /// Length of the segment.
        length: u64,
        /// Where room is missing.
        place: String,
        /// Bytes there.
        room: u64,
        /// The size that would fit.
        fits: ByteSize,
    },
    /// The slabs cannot be laid out.
    #[error("pool.slabs: the slabs cannot be laid out; use at most 8 sizes of buffers, or larger ones")]
    Slabs,
    /// Huge pages are demanded and not to be had.
    #[error("pool.huge_pages: no huge pages: {source}; write \"auto\" to take ordinary pages then")]
    NoHugePages {
        /// The kernel's reason.
        source: Errno,
    },
    /// The file cannot be made or filled.
    #[error("the segment cannot be made in {place}: {source}; make room there, or set pool.directory to another place")]
    File {
        /// Where.
        place: String,
        /// The kernel's reason.
        source: Errno,
    },
    /// It cannot be mapped.
    #[error(transparent)]
    Map(#[from] AttachError),
}

/// Whole MiB, so that what is said is no more exact than what is meant.
fn mib(bytes: &u64) -> ByteSize {
    ByteSize::mib(bytes >> 20)
}

fn remedy(fits: &ByteSize) -> String {
    match fits.bytes() {
        0 => "free some memory, or lower limits.files, limits.open_files and limits.clients".into(),
        _ => format!("set pool.size (or --pool) to at most {fits}"),
    }
}

/// Makes the segment's memory and lays the segment out in it.
///
/// # Errors
/// When it does not fit or cannot be made.
pub fn reserve(config: &Config) -> Result<Reserved, ReserveError> {
    let sizes = sizes::sizes_of(config, config.pool.size.bytes()).ok_or(ReserveError::Slabs)?;
    let length = Layout::new(sizes).length;
    let reserved = if config.pool.directory.is_empty() {
        in_memory(config, length)?
    } else {
        in_directory(config, length)?
    };
    Segment::create(reserved.file.as_fd(), sizes)?;
    Ok(reserved)
}

fn check(config: &Config, length: u64, room: u64, place: &str) -> Result<(), ReserveError> {
    if length <= room {
        return Ok(());
    }
    let fits = ByteSize::new(sizes::largest_pool(config, room));
    Err(ReserveError::TooLarge { wanted: config.pool.size, length, place: place.into(), room, fits })
}

fn in_memory(config: &Config, length: u64) -> Result<Reserved, ReserveError> {
    check(config, length, memory::available().saturating_sub(MARGIN), "memory")?;
    if config.pool.huge_pages != HugePages::Never {
        match huge(length) {
            Ok(file) => return Ok(Reserved { file, memory: Memory::HugePages, warning: None }),
            Err(source) if config.pool.huge_pages == HugePages::Always => {
                return Err(ReserveError::NoHugePages { source })
            }
            Err(source) => return ordinary(length, Some(source)),
        }
    }
    ordinary(length, None)
}

fn huge(length: u64) -> Result<OwnedFd, Errno> {
    let file = hugefs::file(length)?;
    fill(&file, length)?;
    Ok(file)
}

fn ordinary(length: u64, why: Option<Errno>) -> Result<Reserved, ReserveError> {
    let failed = |source| ReserveError::File { place: "memory".into(), source };
    let file = memfd_create("millpond", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map_err(failed)?;
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    fill(&file, length).map_err(failed)?;
    // A seal keeps a program that has the descriptor from cutting the segment under the others.
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).map_err(failed)?;
    let warning = why.map(|why| {
        format!("no huge pages ({why}): the pool lies in ordinary pages, whose first touch in each new process is 6 to 10 times slower")
    });
    Ok(Reserved { file, memory: Memory::OrdinaryPages, warning })
}

fn in_directory(config: &Config, length: u64) -> Result<Reserved, ReserveError> {
    let place = &config.pool.directory;
    let failed = |source| ReserveError::File { place: place.clone(), source };
    let there = rustix::fs::statvfs(place.as_str()).map_err(failed)?;
    check(config, length, there.f_bavail.saturating_mul(there.f_frsize), place)?;
    let file = unnamed(Path::new(place)).map_err(failed)?;
    fill(&file, length).map_err(failed)?;
    Ok(Reserved { file, memory: Memory::Directory, warning: None })
}

fn unnamed(directory: &Path) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    match openat(CWD, directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        // Some file systems have no unnamed files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let path = directory.join(format!(".millpond-{}", std::process::id()));
            let file =
                openat(CWD, &path, OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC, mode)?;
            unlinkat(CWD, &path, AtFlags::empty())?;
            Ok(file)
        }
        other => other,
    }
}

fn fill(file: &OwnedFd, length: u64) -> Result<(), Errno> {
    loop {
        match fallocate(file, FallocateFlags::empty(), 0, length) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pool: ByteSize) -> Config {
        let mut config = Config::default();
        config.pool.size = pool;
        config
    }

    #[test]
    fn a_pool_beyond_memory_is_refused_with_the_size_that_fits() {
        let message = reserve(&config(ByteSize::gib(4096))).unwrap_err().to_string();
        assert!(
            message.starts_with("pool.size: 4TiB do not fit") && message.contains("to at most "),
            "{message}"
        );
    }

    #[test]
    fn each_kind_of_memory_can_be_attached() {
        let directory = tempfile::tempdir().unwrap();
        for (place, huge_pages) in [
            ("", HugePages::Auto),
            ("", HugePages::Never),
            (directory.path().to_str().unwrap(), HugePages::Auto),
        ] {
            let mut config = config(ByteSize::mib(16));
            config.pool.directory = place.into();
            config.pool.huge_pages = huge_pages;
            let reserved = reserve(&config).unwrap();
            let segment = Segment::attach(reserved.file.as_fd()).unwrap();
            assert!(segment.layout().sizes.data_bytes() > 15 << 20);
            assert_eq!(rustix::fs::fstat(&reserved.file).unwrap().st_mode & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_unprivileged_process_gets_huge_pages_by_a_namespace_or_a_reason_why_not() {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let begun = std::time::Instant::now();
        if let Ok(file) = huge(64 << 20) {
            assert!(rustix::fs::fstat(&file).unwrap().st_blocks >= (64 << 20) / 512);
        }
        eprintln!("64 MiB in {:?}", begun.elapsed());
        assert_eq!(std::fs::read_to_string("/proc/self/mountinfo").unwrap(), mounts);
    }
}
