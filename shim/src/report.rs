//! What this process was seen to let out of sight, and the line in which it says at its end what it had served (`MILLPOND_REPORT=1`).
//!
//! Counts go to the process's slot in the segment; what is seen before there is one waits here. The line goes to standard error, if that still is
//! what it was when the program started: a number that has become a data file or somebody's connection since is not ours to write to.

use crate::{aside, attach, errno, ops, process};
use millpond_pool::{Caller, Pool, ProcessSums};
use millpond_segment::account::{Escape, ESCAPES};
use millpond_segment::program::NAME_BYTES;
use millpond_segment::stats::Reason;
use millpond_segment::sys;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Longest line.
const LINE: usize = 1024;
/// How long standard error may take to have room for the line, in milliseconds.
const ROOM_WAIT_MS: u32 = 100;
const STDERR: i32 = 2;

/// Escapes that were seen while there was no slot.
static WAITING: [AtomicU32; ESCAPES] = [const { AtomicU32::new(0) }; ESCAPES];
/// Set while the line is wanted and has not been written.
static WANTED: AtomicBool = AtomicBool::new(false);
/// What standard error was at the start.
static STDERR_DEV: AtomicU64 = AtomicU64::new(0);
static STDERR_INO: AtomicU64 = AtomicU64::new(0);

/// Programs that were started and cannot be followed: worth a slot of a process that has none.
const STARTED: [Escape; 7] = [
    Escape::ExecStatic,
    Escape::ExecGo,
    Escape::ExecOther,
    Escape::ExecOtherLibc,
    Escape::ExecPrivileged,
    Escape::ExecUnreadable,
    Escape::ExecUnreached,
];

/// Notes that the line is wanted. Called once, by the constructor.
pub fn want() {
    if let Ok(stat) = sys::stat_fd(STDERR) {
        STDERR_DEV.store(stat.dev, Relaxed);
        STDERR_INO.store(stat.ino, Relaxed);
        WANTED.store(true, Relaxed);
    }
}

/// Whether the line is wanted.
pub fn is_wanted() -> bool {
    WANTED.load(Relaxed)
}

/// Counts an escape.
pub fn note(escape: Escape) {
    match process::attached() {
        Some((pool, who)) => pool.count_escapes(who, escape, 1),
        None => drop(WAITING[escape as usize].fetch_add(1, Relaxed)),
    }
}

/// Takes back what was noted for something that then did not happen.
pub fn take_back(escape: Escape) {
    match process::attached() {
        Some((pool, who)) => pool.uncount_escape(who, escape),
        None => drop(WAITING[escape as usize].fetch_sub(1, Relaxed)),
    }
}

/// Counts what has waited for the process's slot, and what is so for all processes of this program.
pub fn deliver(pool: &Pool, who: Caller) {
    for &escape in Escape::ALL {
        let n = WAITING[escape as usize].swap(0, Relaxed);
        if n > 0 {
            pool.count_escapes(who, escape, u64::from(n));
        }
    }
    if let Some(escape) = of_program() {
        pool.count_escapes(who, escape, 1);
    }
}

/// In a forked child with a slot of its own.
pub fn after_fork_in_child(pool: &Pool, who: Caller) {
    forget_started();
    deliver(pool, who);
}

/// In a forked child: what the parent started is the parent's to tell.
pub fn forget_started() {
    for escape in STARTED {
        WAITING[escape as usize].store(0, Relaxed);
    }
}

/// The process is about to end, or to lock itself in: what waits is counted, the line is written.
pub fn at_end() {
    if STARTED.iter().any(|&e| WAITING[e as usize].load(Relaxed) > 0) {
        // Attaching delivers.
        let _ = attach::pool();
    }
    if is_wanted() && WANTED.swap(false, SeqCst) {
        let mut line = Cursor::new([0u8; LINE]);
        // What does not fit is cut off.
        let _ = compose(&mut line);
        let used = (line.position() as usize).min(LINE - 1);
        let mut line = line.into_inner();
        line[used] = b'\n';
        emit(&line[..=used]);
    }
}

/// A stream is about to be closed: many programs close the one on standard error as the last thing they do.
pub fn before_stream_closes(stream: *mut libc::FILE) {
    if !is_wanted() || stream.is_null() || process::is_vfork_child() {
        return;
    }
    // SAFETY: the program's stream, which is open still.
    if unsafe { libc::fileno(stream) } == STDERR {
        errno::preserving(at_end);
    }
}

fn compose(out: &mut Cursor<[u8; LINE]>) -> std::io::Result<()> {
    let attached = process::attached();
    out.write_all(b"millpond: ")?;
    match attached {
        Some((pool, who)) => {
            let mut buf = [0; NAME_BYTES];
            write_name(out, pool.segment().client(who.client()).name.get(&mut buf))?;
        }
        None => write_name(out, attach::Identity::read().name())?,
    }
    write!(out, "[{}]: ", sys::getpid())?;
    let nothing = b"nothing through the pool";
    let Some((pool, who)) = attached else {
        out.write_all(nothing)?;
        return section(out, "escapes", Escape::ALL.iter().map(|&e| (e.name(), waiting(e))));
    };
    let sums = pool.of_process(who.client());
    let (read, written) = sums.bytes();
    match (read, written) {
        (0, 0) => out.write_all(nothing)?,
        _ => write!(out, "{read} bytes read, {written} written through the pool")?,
    }
    let by = |which: usize, sums: &ProcessSums<'_>, r: Reason| (r.name(), sums.by_reason(r)[which]);
    section(out, "sync-downs", Reason::ALL.iter().map(|&r| by(0, &sums, r)))?;
    section(out, "files left to the kernel", Reason::ALL.iter().map(|&r| by(1, &sums, r)))?;
    section(out, "calls on them", Reason::ALL.iter().map(|&r| by(2, &sums, r)))?;
    section(out, "escapes", Escape::ALL.iter().map(|&e| (e.name(), sums.escapes(e))))
}

/// What is so for every process of this program.
fn of_program() -> Option<Escape> {
    match aside::why()? {
        Reason::Unpatched => Some(Escape::SymbolLayer),
        Reason::Excluded => Some(Escape::Excluded),
        _ => None,
    }
}

/// What was seen and has no slot to be counted in.
fn waiting(escape: Escape) -> u64 {
    u64::from(WAITING[escape as usize].load(Relaxed)) + u64::from(of_program() == Some(escape))
}

fn section(
    out: &mut Cursor<[u8; LINE]>,
    title: &str,
    counts: impl Iterator<Item = (&'static str, u64)>,
) -> std::io::Result<()> {
    let mut first = true;
    for (name, n) in counts.filter(|(_, n)| *n > 0) {
        if first {
            write!(out, "; {title}:")?;
        }
        write!(out, "{} {name} {n}", if first { "" } else { "," })?;
        first = false;
    }
    Ok(())
}

/// A name that can neither move the cursor nor forge a line.
fn write_name(out: &mut Cursor<[u8; LINE]>, name: &[u8]) -> std::io::Result<()> {
    for &byte in name {
        out.write_all(&[if byte.is_ascii_control() { b'?' } else { byte }])?;
    }
    Ok(())
}

/// Writes the line to standard error: through the pool when that is a buffered file, else by a raw call; with no signal, and no endless wait.
fn emit(line: &[u8]) {
    let same = |s: sys::FileStat| s.dev == STDERR_DEV.load(Relaxed) && s.ino == STDERR_INO.load(Relaxed);
    if !sys::stat_fd(STDERR).is_ok_and(same) || !sys::has_room(STDERR, ROOM_WAIT_MS) {
        return;
    }
    sys::without_signals(|| {
        // A failure is nobody's concern, but for the signal that comes with it.
        match ops::data::write(STDERR, line.as_ptr().cast(), line.len()) {
            Some(_) => {}
            None => drop(sys::write(STDERR, line)),
        }
    });
}
