//! The report of `millpond run --report`, as far as the rows prove something by it.

use std::path::Path;

use serde::Deserialize;

/// Counters of one run.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Report {
    /// Files that were opened buffered.
    #[serde(default)]
    pub files_buffered: u64,
    /// Bytes read through the pool.
    pub bytes_read: u64,
    /// Bytes written through the pool.
    pub bytes_written: u64,
    /// Bytes that went into real files.
    #[serde(default)]
    pub bytes_flushed: u64,
    /// Files that were handed to the kernel, by reason.
    #[serde(default)]
    pub sync_downs: Vec<SyncDown>,
    /// Flushes that failed.
    #[serde(default)]
    pub flush_errors: u64,
}

/// How often a reason led to a sync-down.
#[derive(Clone, Debug, Deserialize)]
pub struct SyncDown {
    /// The reason's name.
    pub reason: String,
    /// How often.
    pub count: u64,
}

impl Report {
    /// Reads a report file.
    ///
    /// # Errors
    /// A text that says what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("report {}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("report is not as described: {error}\n{text}"))
    }

    /// Bytes through the pool, both ways.
    pub fn bytes_through_pool(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// The reasons for sync-downs with their counts, for a line of the table.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<String> = self
            .sync_downs
            .iter()
            .filter(|s| s.count > 0)
            .map(|s| format!("{} {}", s.reason, s.count))
            .collect();
        reasons.sort();
        reasons.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let text = r#"{"files_buffered": 2, "bytes_read": 10, "bytes_written": 20, "bytes_flushed": 20,
            "flush_writes": 1, "page_hits": 3, "page_misses": 1, "flush_errors": 0,
            "sync_downs": [{"reason": "mmap", "count": 2}, {"reason": "aio", "count": 0}]}"#;
        let report: Report = serde_json::from_str(text).expect("parse");
        assert_eq!((report.bytes_through_pool(), report.reasons()), (30, "mmap 2".to_string()));
    }
}
