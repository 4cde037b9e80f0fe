//! What a coordinator shows of itself: plain values, made from the segment by whoever looks.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use millpond_pool::{FileView, Named, Pool, ProgramView, TotalsView};
use millpond_segment::header::modes;
use millpond_segment::Run;
use serde::{Deserialize, Serialize};

use crate::reserve::Memory;

/// What the segment does not say about its coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The coordinator's name.
    pub instance: String,
    /// Process that holds the descriptors and restarts the worker.
    pub supervisor: u32,
    /// The directories that are served.
    pub stores: Vec<String>,
    /// The programs that are left alone.
    pub exclude: Vec<String>,
    /// What the segment lies in.
    pub memory: Memory,
    /// What that costs, in a line.
    pub warning: Option<String>,
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
    /// The programs that are left alone.
    pub exclude: Vec<String>,
    /// `close` or `async`.
    pub flush_mode: String,
    /// Bytes of a page.
    pub page_size: u64,
    /// What the segment lies in, such as `huge pages`.
    pub memory: String,
    /// The pool as a whole.
    pub pool: PoolStatus,
    /// The tiers of the pool, fastest first.
    pub tiers: Vec<TierStatus>,
    /// Files with dirty bytes or latched errors, and those that are open.
    pub files: Vec<FileStatus>,
    /// Attached processes.
    pub clients: Vec<ClientStatus>,
    /// Programs by name: what all processes of each counted, those that have ended too.
    pub programs: Vec<ProgramStatus>,
    /// Totals since the start.
    pub totals: Totals,
}

/// The pool as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoolStatus {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Bytes of all buffers.
    pub capacity: u64,
    /// Whether it lies in huge pages.
    pub huge_pages: bool,
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
    /// The latched error of a failed flush whose bytes are still here.
    pub error: Option<String>,
    /// Its error number.
    pub errno: Option<i32>,
}

/// One attached program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientStatus {
    /// Process.
    pub pid: u32,
    /// Its command line.
    pub command: String,
    /// What it is doing, such as `running`.
    pub state: String,
    /// The program's name.
    pub name: String,
    /// Its buffered descriptors.
    pub descriptors: u64,
    /// What it counted, in all images that it ran.
    pub counts: Totals,
}

/// All processes of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramStatus {
    /// Its name; `others` stands for all programs that found no row in the segment.
    pub name: String,
    /// Processes that run and have counted something.
    pub living: u64,
    /// Processes that have ended and had counted something.
    pub ended: u64,
    /// What they counted.
    pub counts: Totals,
}

/// What the programs of one run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunReport {
    /// All of them together.
    #[serde(flatten)]
    pub totals: Totals,
    /// Each by its name.
    pub programs: Vec<ProgramStatus>,
}

/// Totals; the fields of a run's report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Files that were buffered.
    pub files_buffered: u64,
    /// Bytes that programs read through the pool.
    pub bytes_read: u64,
    /// Bytes that programs wrote through the pool.
    pub bytes_written: u64,
    /// Bytes written to real files.
    pub bytes_flushed: u64,
    /// Write calls to real files.
    pub flush_writes: u64,
    /// Spans of pages that were there.
    pub page_hits: u64,
    /// Spans of pages that had to be fetched or made.
    pub page_misses: u64,
    /// Files that were written out and calls on them handed to the kernel, by reason.
    pub sync_downs: Vec<SyncDowns>,
    /// Files that became the kernel's, by reason.
    pub direct_files: Vec<SyncDowns>,
    /// Reads and writes of files that are the kernel's, by the reason why they are.
    pub direct_calls: Vec<SyncDowns>,
    /// What the shim saw happen that it cannot see into, by kind.
    pub escapes: Vec<SyncDowns>,
    /// Flushes that failed.
    pub flush_errors: u64,
    /// Bytes that went through to the file because no buffer was free.
    pub bytes_through: u64,
    /// Clean pages that were dropped to make room.
    pub pages_evicted: u64,
}

/// How often something happened for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncDowns {
    /// The reason.
    pub reason: String,
    /// How often.
    pub count: u64,
}

impl Totals {
    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let added = |pick: fn(&Self) -> u64| pick(self).saturating_sub(pick(earlier));
        let list = |pick: fn(&Self) -> &Vec<SyncDowns>| {
            let before =
                |reason: &str| pick(earlier).iter().find(|s| s.reason == reason).map_or(0, |s| s.count);
            let added = pick(self).iter().map(|s| SyncDowns {
                reason: s.reason.clone(),
                count: s.count.saturating_sub(before(&s.reason)),
            });
            added.filter(|s| s.count > 0).collect()
        };
        Self {
            files_buffered: added(|t| t.files_buffered),
            bytes_read: added(|t| t.bytes_read),
            bytes_written: added(|t| t.bytes_written),
            bytes_flushed: added(|t| t.bytes_flushed),
            flush_writes: added(|t| t.flush_writes),
            page_hits: added(|t| t.page_hits),
            page_misses: added(|t| t.page_misses),
            sync_downs: list(|t| &t.sync_downs),
            direct_files: list(|t| &t.direct_files),
            direct_calls: list(|t| &t.direct_calls),
            escapes: list(|t| &t.escapes),
            flush_errors: added(|t| t.flush_errors),
            bytes_through: added(|t| t.bytes_through),
            pages_evicted: added(|t| t.pages_evicted),
        }
    }
}

impl From<TotalsView> for Totals {
    fn from(view: TotalsView) -> Self {
        let list = |named: Named| {
            named.into_iter().map(|(reason, count)| SyncDowns { reason: reason.into(), count }).collect()
        };
        Self {
            files_buffered: view.files_buffered,
            bytes_read: view.bytes_read,
            bytes_written: view.bytes_written,
            bytes_flushed: view.bytes_flushed,
            flush_writes: view.flush_writes,
            page_hits: view.page_hits,
            page_misses: view.page_misses,
            sync_downs: list(view.sync_downs),
            direct_files: list(view.direct_files),
            direct_calls: list(view.direct_calls),
            escapes: list(view.escapes),
            flush_errors: view.flush_errors,
            bytes_through: view.bytes_through,
            pages_evicted: view.pages_evicted,
        }
    }
}

impl From<ProgramView> for ProgramStatus {
    fn from(view: ProgramView) -> Self {
        let name = if view.name.is_empty() { "others".into() } else { view.name };
        Self { name, living: view.living, ended: view.ended, counts: view.counts.into() }
    }
}

/// What the programs of `run` have done so far.
pub fn run_report(pool: &Pool, run: Run) -> RunReport {
    RunReport {
        totals: pool.view_totals(Some(run)).into(),
        programs: pool.view_programs(Some(run)).into_iter().map(Into::into).collect(),
    }
}

fn file_status(view: FileView) -> Option<FileStatus> {
    if view.opens == 0 && view.dirty_pages == 0 {
        return None;
    }
    let errno = (view.errors > 0 && view.error != 0 && view.dirty_pages > 0).then_some(view.error);
    Some(FileStatus {
        path: view.name,
        device: view.dev,
        inode: view.ino,
        size: view.size,
        dirty_bytes: view.dirty_bytes,
        opens: u64::from(view.opens),
        direct: (!view.direct.is_empty()).then(|| view.direct.join(", ")),
        error: errno.map(|e| nix::errno::Errno::from_raw(e).desc().to_owned()),
        errno,
    })
}

/// The status of a pool whose coordinator says `info` of itself.
pub fn status(pool: &Pool, info: &Info) -> Status {
    let view = pool.view();
    let header = pool.segment().header();
    let mut tiers: BTreeMap<u32, TierStatus> = BTreeMap::new();
    for slab in &view.slabs {
        let name = if slab.device == 0 { "ram".into() } else { format!("device {}", slab.device) };
        let tier = tiers.entry(slab.device).or_insert_with(|| TierStatus { name, ..TierStatus::default() });
        let buffer = u64::from(slab.buffer_bytes);
        tier.capacity += buffer * u64::from(slab.total);
        tier.used += buffer * u64::from(slab.total.saturating_sub(slab.free));
        tier.slabs.push(SlabStatus { buffer, total: u64::from(slab.total), free: u64::from(slab.free) });
    }
    let clients = view.clients.into_iter().map(|client| ClientStatus {
        pid: client.pid,
        command: client.command,
        state: client.state.into(),
        name: client.name,
        descriptors: u64::from(client.descriptors),
        counts: client.counts.into(),
    });
    let is_async = header.modes.load(Relaxed) & modes::ASYNC_FLUSH != 0;
    Status {
        instance: info.instance.clone(),
        supervisor: info.supervisor,
        worker: header.worker.load(Relaxed),
        restarts: u64::from(header.incarnation.load(Relaxed).saturating_sub(1)),
        stores: info.stores.clone(),
        exclude: info.exclude.clone(),
        flush_mode: if is_async { "async" } else { "close" }.into(),
        page_size: u64::from(view.page_bytes),
        memory: info.memory.text().into(),
        pool: PoolStatus {
            page_bytes: u64::from(view.page_bytes),
            capacity: view.capacity,
            huge_pages: info.memory == Memory::HugePages,
        },
        tiers: tiers.into_values().collect(),
        files: view.files.into_iter().filter_map(file_status).collect(),
        clients: clients.collect(),
        programs: view.programs.into_iter().map(Into::into).collect(),
        totals: view.totals.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_keep_what_was_added() {
        let downs = |count| vec![SyncDowns { reason: "mmap".into(), count }];
        let earlier = Totals { bytes_read: 5, sync_downs: downs(2), ..Default::default() };
        let later = Totals { bytes_read: 9, sync_downs: downs(3), escapes: downs(1), ..Default::default() };
        let added = later.since(&earlier);
        assert_eq!((added.bytes_read, added.sync_downs, added.escapes), (4, downs(1), downs(1)));
        assert!(later.since(&later).sync_downs.is_empty());
    }

    #[test]
    fn a_run_report_has_its_sums_at_the_top() {
        let program = ProgramStatus { name: "cat".into(), ended: 2, ..Default::default() };
        let report =
            RunReport { totals: Totals { bytes_read: 7, ..Default::default() }, programs: vec![program] };
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["bytes_read"], &json["programs"][0]["name"]), (&7.into(), &"cat".into()));
        assert_eq!(serde_json::from_value::<RunReport>(json).unwrap(), report);
    }
}
