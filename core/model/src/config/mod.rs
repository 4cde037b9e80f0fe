//! Configuration: from text, environment pairs and flags to checked values.
//!
//! Precedence is flags over environment over file over defaults. Nothing here reads a file or the
//! environment; the caller hands in what it read. A refused value is reported with the place it came from (file and line,
//! variable or flag), its key, what is wrong and what to write instead.
//!
//! - `sections`: the values and their defaults
//! - `keys`: meaning, environment variable and remedy of each key
//! - `validate`: which values are taken
//! - `layers`: how the sources are put together
//! - `locate`: lines of keys
//! - `size`, `period`: quantities as people write them

mod error;
mod example;
mod keys;
mod layers;
mod locate;
mod period;
mod sections;
mod size;

mod validate;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, Place};
pub use example::example;
pub use layers::{layered, parse, Override};
pub use period::{Period, PeriodError};
pub use sections::{
    Config, FlushConfig, FlushMode, HugePages, LimitsConfig, LogConfig, LogLevel, PoolConfig, SlabConfig,
    StoreConfig,
};
pub use size::{ByteSize, ByteSizeError};
pub use validate::is_instance_name;
