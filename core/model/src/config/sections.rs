//! The sections of a configuration and their defaults.
//!
//! The structs say which keys exist; `keys` says what each one means; `validate` says which values are taken.

use serde::{Deserialize, Serialize};

use super::{ByteSize, Period};

/// A whole configuration: what a coordinator is started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The name of the coordinator, for several of one user on a node.
    pub instance: String,
    /// The shared-memory pool.
    pub pool: PoolConfig,
    /// Which directories are served.
    pub store: StoreConfig,
    /// Which programs are left alone.
    pub programs: ProgramsConfig,
    /// When bytes go to the real files.
    pub flush: FlushConfig,
    /// Bounds on what a coordinator holds, and on how long anybody waits.
    pub limits: LimitsConfig,
    /// What the coordinator says, and where.
    pub log: LogConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            instance: "default".into(),
            pool: PoolConfig::default(),
            store: StoreConfig::default(),
            programs: ProgramsConfig::default(),
            flush: FlushConfig::default(),
            limits: LimitsConfig::default(),
            log: LogConfig::default(),
        }
    }
}

/// Section `[pool]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoolConfig {
    /// Bytes of buffers.
    pub size: ByteSize,
    /// Bytes of one page, the unit of buffering.
    pub page_size: ByteSize,
    /// Whether the segment lies in huge pages.
    pub huge_pages: HugePages,
    /// Where the segment file is created; empty for a tmpfs of the coordinator's own.
    pub directory: String,
    /// How the buffers are divided by size.
    pub slabs: Vec<SlabConfig>,
    /// Percentage of dirty buffers down to which write-behind flushes.
    pub low_mark: u8,
    /// Percentage of dirty buffers at which write-behind starts.
    pub high_mark: u8,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            size: ByteSize::mib(512),
            page_size: ByteSize::kib(64),
            huge_pages: HugePages::Auto,
            directory: String::new(),
            slabs: vec![
                SlabConfig { buffer: ByteSize::kib(4), share: 10 },
                SlabConfig { buffer: ByteSize::kib(16), share: 10 },
                SlabConfig { buffer: ByteSize::kib(64), share: 80 },
            ],
            low_mark: 50,
            high_mark: 75,
        }
    }
}

/// One slab: the buffers of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlabConfig {
    /// Bytes of one buffer.
    pub buffer: ByteSize,
    /// Percentage of the pool.
    pub share: u8,
}

/// Whether the segment lies in huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HugePages {
    /// Huge pages where they can be had, ordinary ones with a warning otherwise.
    Auto,
    /// Huge pages, or no start.
    Always,
    /// Ordinary pages.
    Never,
}

/// Section `[store]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// The directories whose files are buffered; none for the current directory.
    pub paths: Vec<String>,
}

/// Section `[programs]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramsConfig {
    /// Names of programs whose files the pool leaves to the kernel.
    pub exclude: Vec<String>,
}

/// Section `[flush]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlushConfig {
    /// What `close` waits for.
    pub mode: FlushMode,
    /// How long after a failed flush the next attempt is made.
    pub retry_interval: Period,
    /// The age at which dirty bytes are flushed although nobody closed the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_behind_age: Option<Period>,
}

impl Default for FlushConfig {
    fn default() -> Self {
        Self { mode: FlushMode::Close, retry_interval: Period::secs(1), write_behind_age: None }
    }
}

/// What `close` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlushMode {
    /// The bytes are in the real file when the last `close` of a process returns.
    Close,
    /// `close` returns at once; `millpond drain` waits.
    Async,
}

/// Section `[limits]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Processes that are attached at once.
    pub clients: u32,
    /// Open file descriptions at once.
    pub open_files: u32,
    /// Files known at once.
    pub files: u32,
    /// How long a lock in the segment is waited for before its holder is looked at.
    pub lock_wait: Period,
    /// How long a starting program waits for the coordinator.
    pub attach_wait: Period,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            clients: 1024,
            open_files: 16_384,
            files: 16_384,
            lock_wait: Period::secs(10),
            attach_wait: Period::secs(5),
        }
    }
}

/// Section `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// The least serious event that is written.
    pub level: LogLevel,
    /// The file that events are appended to; empty for standard error.
    pub file: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: LogLevel::Warn, file: String::new() }
    }
}

/// The least serious event that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What lost or may lose something.
    Error,
    /// What costs speed or needs a look.
    Warn,
    /// Starts, stops, clients.
    Info,
    /// Requests and decisions.
    Debug,
    /// Everything.
    Trace,
}
