//! What tools ask a coordinator, and what it answers: JSON on its socket.

use serde::{Deserialize, Serialize};

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub enum Request {
    /// What the pool holds and for whom.
    Status,
    /// The totals since the coordinator started.
    Report,
    /// Answer when the dirty bytes are in the real files, of one file or directory or of all.
    Drain {
        /// An absolute physical path.
        path: Option<String>,
    },
    /// Flush and end; refused while programs are attached unless forced.
    Stop {
        /// End although programs are attached.
        force: bool,
    },
    /// Stay up as long as this connection lives.
    Hold,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub enum Response {
    /// To `Status`.
    Status(Box<Status>),
    /// To `Report`.
    Report(Report),
    /// It is done.
    Done,
    /// It cannot be done.
    Refused {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
}

/// What the pool holds and for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The coordinator's name.
    pub instance: String,
    /// Process that holds the descriptors and restarts the worker.
    pub supervisor: u32,
    /// Process that does the work.
    pub worker: u32,
    /// How often the worker was restarted.
    pub restarts: u64,
    /// The directories that are served.
    pub stores: Vec<String>,
    /// `close` or `async`.
    pub flush_mode: String,
    /// Bytes of a page.
    pub page_size: u64,
    /// What the segment lies in, such as `huge pages`.
    pub memory: String,
    /// The tiers of the pool, fastest first.
    pub tiers: Vec<TierStatus>,
    /// Files with dirty bytes or latched errors, and those that are open.
    pub files: Vec<FileStatus>,
    /// Attached programs.
    pub clients: Vec<ClientStatus>,
    /// Totals since the start.
    pub totals: Report,
}

/// One tier of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TierStatus {
    /// Such as `ram`.
    pub name: String,
    /// Bytes of all buffers.
    pub capacity: u64,
    /// Bytes of buffers in use.
    pub used: u64,
    /// The buffers by size.
    pub slabs: Vec<SlabStatus>,
}

/// The buffers of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlabStatus {
    /// Bytes of one buffer.
    pub buffer: u64,
    /// Buffers.
    pub total: u64,
    /// Buffers that hold nothing.
    pub free: u64,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileStatus {
    /// Its path, as far as it is known.
    pub path: String,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size as programs see it.
    pub size: u64,
    /// Bytes that the real file does not have yet.
    pub dirty_bytes: u64,
    /// Open file descriptions.
    pub opens: u64,
    /// Why the kernel serves it, if it does.
    pub direct: Option<String>,
    /// The latched error of a failed flush.
    pub error: Option<String>,
}

/// One attached program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientStatus {
    /// Process.
    pub pid: u32,
    /// Its command line.
    pub command: String,
    /// Its buffered descriptors.
    pub descriptors: u64,
}

/// Totals; the fields of `run --report`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Opens that were served by the pool.
    pub files_buffered: u64,
    /// Bytes that programs read through the pool.
    pub bytes_read: u64,
    /// Bytes that programs wrote through the pool.
    pub bytes_written: u64,
    /// Bytes written to real files.
    pub bytes_flushed: u64,
    /// Write calls to real files.
    pub flush_writes: u64,
    /// Pages that were there.
    pub page_hits: u64,
    /// Pages that had to be read.
    pub page_misses: u64,
    /// What was handed to the kernel, by reason.
    pub sync_downs: Vec<SyncDowns>,
    /// Flushes that failed.
    pub flush_errors: u64,
}

/// How often one reason led to a sync-down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncDowns {
    /// The reason.
    pub reason: String,
    /// How often.
    pub count: u64,
}

impl Report {
    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Report) -> Report {
        let before =
            |reason: &str| earlier.sync_downs.iter().find(|s| s.reason == reason).map_or(0, |s| s.count);
        Report {
            files_buffered: self.files_buffered.saturating_sub(earlier.files_buffered),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            bytes_flushed: self.bytes_flushed.saturating_sub(earlier.bytes_flushed),
            flush_writes: self.flush_writes.saturating_sub(earlier.flush_writes),
            page_hits: self.page_hits.saturating_sub(earlier.page_hits),
            page_misses: self.page_misses.saturating_sub(earlier.page_misses),
            sync_downs: self
                .sync_downs
                .iter()
                .map(|s| SyncDowns {
                    reason: s.reason.clone(),
                    count: s.count.saturating_sub(before(&s.reason)),
                })
                .filter(|s| s.count > 0)
                .collect(),
            flush_errors: self.flush_errors.saturating_sub(earlier.flush_errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_a_stable_form() {
        let text = |request: &Request| serde_json::to_string(request).unwrap();
        assert_eq!(text(&Request::Status), r#"{"ask":"status"}"#);
        assert_eq!(text(&Request::Stop { force: true }), r#"{"ask":"stop","force":true}"#);
        let answer: Response =
            serde_json::from_str(r#"{"answer":"refused","why":"a","remedy":"b"}"#).unwrap();
        assert_eq!(answer, Response::Refused { why: "a".into(), remedy: "b".into() });
        let status = Response::Status(Box::default());
        assert_eq!(
            serde_json::from_str::<Response>(&serde_json::to_string(&status).unwrap()).unwrap(),
            status
        );
    }

    #[test]
    fn differences_keep_what_was_added() {
        let downs = |count| vec![SyncDowns { reason: "mmap".into(), count }];
        let earlier = Report { bytes_read: 5, sync_downs: downs(2), ..Default::default() };
        let later = Report { bytes_read: 9, sync_downs: downs(3), ..Default::default() };
        let added = later.since(&earlier);
        assert_eq!((added.bytes_read, added.sync_downs), (4, downs(1)));
        assert!(later.since(&later).sync_downs.is_empty());
    }
}
