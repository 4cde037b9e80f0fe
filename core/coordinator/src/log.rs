//! The daemon's log: events on standard error, which is the log file of the coordinator's place or the configured one.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use millpond_model::config::{LogConfig, LogLevel};
use tracing::level_filters::LevelFilter;

/// Sends events of the configured level to the configured file.
pub fn begin(config: &LogConfig) -> std::io::Result<()> {
    if !config.file.is_empty() {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&config.file)?;
        // One descriptor for events and for what a panic says; it is not among those that a new worker clears away.
        rustix::stdio::dup2_stderr(&file)?;
    }
    let level = match config.level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    // A process that logs already (a test, say) goes on as it does.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(|| Unfailing(std::io::stderr()))
        .log_internal_errors(false)
        .try_init();
    Ok(())
}

/// Takes every event and writes what it can. Where a disk is full, the log may be on it: an event that does not fit is lost, and nobody
/// may stumble over that while there are bytes of programs to keep.
struct Unfailing(std::io::Stderr);

impl Write for Unfailing {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.write_all(event);
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
