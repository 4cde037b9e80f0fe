//! `millpond status`: pool, files and programs, for people or as JSON.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use millpond_model::config::ByteSize;

use super::{print, print_json};
use crate::cli::InstanceArguments;
use crate::coordinator_link::{Connection, FileStatus, Report, Status};
use crate::failure::Outcome;
use crate::instance::Instance;
use crate::settings;

/// Options of `status`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which coordinator.
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the status.
pub fn run(arguments: Arguments) -> Outcome<ExitCode> {
    let instance = Instance::locate(&settings::instance_name(&arguments.instance))?;
    let status = Connection::require(&instance)?.status()?;
    if arguments.json {
        return print_json(&status);
    }
    print(text(&status).as_bytes())
}

fn text(status: &Status) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut text, status);
    text
}

fn write_text(out: &mut String, status: &Status) -> std::fmt::Result {
    writeln!(
        out,
        "coordinator {}: worker {}, supervisor {}, {} restarts",
        status.instance, status.worker, status.supervisor, status.restarts
    )?;
    writeln!(
        out,
        "flush on {}, pages of {}, {}",
        status.flush_mode,
        ByteSize::new(status.page_size),
        status.memory
    )?;
    for store in &status.stores {
        writeln!(out, "store {}", printable(store))?;
    }
    for program in &status.exclude {
        writeln!(out, "left alone: {}", printable(program))?;
    }
    for tier in &status.tiers {
        writeln!(out, "tier {}: {} of {} in use", tier.name, human(tier.used), human(tier.capacity))?;
        for slab in &tier.slabs {
            let size = ByteSize::new(slab.buffer).to_string();
            writeln!(out, "  buffers of {size:>6}: {} of {} free", slab.free, slab.total)?;
        }
    }
    writeln!(out, "files: {}", status.files.len())?;
    for file in &status.files {
        writeln!(out, "  {}", file_line(file))?;
    }
    writeln!(out, "programs: {}", status.clients.len())?;
    for client in &status.clients {
        writeln!(
            out,
            "  {:>7} {} ({} descriptors)",
            client.pid,
            printable(&client.command),
            client.descriptors
        )?;
        write_counts(out, "          ", &client.counts)?;
    }
    writeln!(out, "by program: {}", status.programs.len())?;
    for program in &status.programs {
        writeln!(
            out,
            "  {} ({} running, {} ended)",
            printable(&program.name),
            program.living,
            program.ended
        )?;
        write_counts(out, "    ", &program.counts)?;
    }
    write_totals(out, &status.totals)
}

fn file_line(file: &FileStatus) -> String {
    let mut line = format!(
        "{}: {}, {} dirty, {} opens",
        printable(&file.path),
        human(file.size),
        human(file.dirty_bytes),
        file.opens
    );
    if let Some(reason) = &file.direct {
        line.push_str(&format!(", direct: {reason}"));
    }
    if let Some(error) = &file.error {
        line.push_str(&format!(", flush failed: {error}"));
    }
    line
}

fn write_totals(out: &mut String, totals: &Report) -> std::fmt::Result {
    writeln!(
        out,
        "totals: {} opens, {} read, {} written, {} flushed in {} writes, {} hits, {} misses, {} flush errors",
        totals.files_buffered,
        human(totals.bytes_read),
        human(totals.bytes_written),
        human(totals.bytes_flushed),
        totals.flush_writes,
        totals.page_hits,
        totals.page_misses,
        totals.flush_errors
    )?;
    for down in &totals.sync_downs {
        writeln!(out, "  sync-downs by {}: {}", down.reason, down.count)?;
    }
    for (what, list) in [
        ("files left to the kernel by", &totals.direct_files),
        ("calls on them by", &totals.direct_calls),
        ("escapes by", &totals.escapes),
    ] {
        for entry in list {
            writeln!(out, "  {what} {}: {}", entry.reason, entry.count)?;
        }
    }
    Ok(())
}

/// What one process or program counted: what went through the pool, then what did not, in lines that are left out when there is nothing to say.
fn write_counts(out: &mut String, indent: &str, counts: &Report) -> std::fmt::Result {
    writeln!(
        out,
        "{indent}{} read, {} written through the pool",
        human(counts.bytes_read),
        human(counts.bytes_written)
    )?;
    for (what, list) in [
        ("sync-downs", &counts.sync_downs),
        ("files left to the kernel", &counts.direct_files),
        ("calls on them", &counts.direct_calls),
        ("escapes", &counts.escapes),
    ] {
        if !list.is_empty() {
            let entries: Vec<_> = list.iter().map(|s| format!("{} {}", s.reason, s.count)).collect();
            writeln!(out, "{indent}{what}: {}", entries.join(", "))?;
        }
    }
    Ok(())
}

/// A name of a file or program must not move the cursor or forge a line.
fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}

/// A size in three digits or so, for people.
pub fn human(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator_link::{ClientStatus, ProgramStatus, SlabStatus, SyncDowns, TierStatus};

    fn entry(reason: &str, count: u64) -> SyncDowns {
        SyncDowns { reason: reason.into(), count }
    }

    #[test]
    fn everything_is_said() {
        let status = Status {
            instance: "two".into(),
            worker: 12,
            supervisor: 11,
            stores: vec!["/data".into()],
            flush_mode: "close".into(),
            page_size: 65_536,
            memory: "huge pages".into(),
            tiers: vec![TierStatus {
                name: "ram".into(),
                capacity: 512 << 20,
                used: 3 << 20,
                slabs: vec![SlabStatus { buffer: 4096, total: 10, free: 7 }],
            }],
            files: vec![FileStatus {
                path: "/data/a\nb".into(),
                size: 10,
                dirty_bytes: 2048,
                error: Some("No space left on device".into()),
                ..Default::default()
            }],
            clients: vec![ClientStatus {
                pid: 99,
                command: "sort x".into(),
                descriptors: 2,
                counts: Report { bytes_read: 2048, sync_downs: vec![entry("stat", 2)], ..Default::default() },
                ..Default::default()
            }],
            programs: vec![ProgramStatus {
                name: "fio".into(),
                living: 1,
                ended: 3,
                counts: Report {
                    direct_files: vec![entry("io_uring", 1)],
                    direct_calls: vec![entry("io_uring", 12)],
                    escapes: vec![entry("io_uring", 1), entry("exec_static", 2)],
                    ..Default::default()
                },
            }],
            totals: Report {
                sync_downs: vec![entry("mmap", 3)],
                escapes: vec![entry("exec_go", 4)],
                ..Default::default()
            },
            ..Default::default()
        };
        let text = text(&status);
        for line in [
            "coordinator two: worker 12, supervisor 11, 0 restarts",
            "flush on close, pages of 64KiB, huge pages",
            "store /data",
            "tier ram: 3.0 MiB of 512 MiB in use",
            "  buffers of   4KiB: 7 of 10 free",
            "  /data/a\\nb: 10 B, 2.0 KiB dirty, 0 opens, flush failed: No space left on device",
            "       99 sort x (2 descriptors)",
            "          2.0 KiB read, 0 B written through the pool",
            "          sync-downs: stat 2",
            "by program: 1",
            "  fio (1 running, 3 ended)",
            "    files left to the kernel: io_uring 1",
            "    calls on them: io_uring 12",
            "    escapes: io_uring 1, exec_static 2",
            "  sync-downs by mmap: 3",
            "  escapes by exec_go: 4",
        ] {
            assert!(text.lines().any(|l| l == line), "no line {line:?} in\n{text}");
        }
    }
}
