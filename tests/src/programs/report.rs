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
    /// What the shim saw happen that it cannot see into, by kind.
    #[serde(default)]
    pub escapes: Vec<SyncDown>,
    /// Flushes that failed.
    #[serde(default)]
    pub flush_errors: u64,
    /// The same by program.
    #[serde(default)]
    pub programs: Vec<Program>,
}

/// Counters of all processes of one program.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What they counted.
    pub counts: Report,
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

    /// The reasons for sync-downs, and the escapes, with their counts.
    pub fn reasons(&self) -> String {
        let said = |list: &[SyncDown]| -> Vec<String> {
            list.iter().filter(|s| s.count > 0).map(|s| format!("{} {}", s.reason, s.count)).collect()
        };
        let mut reasons = said(&self.sync_downs);
        reasons.sort();
        reasons.extend(said(&self.escapes).into_iter().map(|escape| format!("escaped: {escape}")));
        reasons.join(", ")
    }

    /// The reasons by program, for a line of the table.
    pub fn reasons_by_program(&self) -> String {
        let told = self.programs.iter().map(|p| (&p.name, p.counts.reasons())).filter(|(_, r)| !r.is_empty());
        told.map(|(name, reasons)| format!("{name}: {reasons}")).collect::<Vec<_>>().join("; ")
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
        let text = r#"{"bytes_read": 1, "bytes_written": 0, "programs": [
            {"name": "cat", "counts": {"bytes_read": 1, "bytes_written": 0, "sync_downs": [{"reason": "stat", "count": 1}]}},
            {"name": "ls", "counts": {"bytes_read": 0, "bytes_written": 0}},
            {"name": "busybox", "counts": {"bytes_read": 0, "bytes_written": 0, "escapes": [{"reason": "exec_static", "count": 3}]}}]}"#;
        let report: Report = serde_json::from_str(text).expect("parse");
        assert_eq!(report.reasons_by_program(), "cat: stat 1; busybox: escaped: exec_static 3");
    }
}
