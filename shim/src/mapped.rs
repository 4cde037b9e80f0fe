//! Which files this process has mapped, and where.
//!
//! A file that is mapped anywhere on the node is direct, and each process that has it mapped holds a pin on it. The table here says when this process's
//! last mapping of a file may have gone; the kernel is then asked whether it has, and only if it has the pin is dropped.
//!
//! **pinned-while-mapped**: a file is pinned from before its first mapping is made until after its last one is gone. A mapping that is being made has
//! its place in the table already. Whenever the table cannot say, nothing is unpinned: the file stays direct until the process ends.

mod lock;
mod maps;
mod span;

use crate::managed::Managed;
use crate::process;
use lock::Held;
use millpond_pool::{Caller, Pool};
use span::{Span, SPANS};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

/// Spans in use: with none, nothing has to be looked at.
static USED: AtomicU32 = AtomicU32::new(0);
/// Something was mapped that the table does not have: no pin is dropped any more.
static INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Files that one call can unmap the last of; more stay pinned.
const MOST_FILES: usize = 16;

/// A mapping that is about to be made.
pub struct Announced(Option<&'static Span>);

/// Whether this process has mapped any file of a store, as far as is known. Not in one that has restricted its system calls: nothing may be asked
/// of the kernel there, and its pins stay until it ends.
#[inline]
pub fn any() -> bool {
    USED.load(Relaxed) > 0 && !process::is_locked_in()
}

fn give_up() {
    INCOMPLETE.store(true, SeqCst);
}

/// Before the file is mapped: pins it.
pub fn announce(m: &Managed) -> Announced {
    let held = if INCOMPLETE.load(SeqCst) { None } else { Held::take() };
    let span = match held {
        Some(_held) => {
            let span = take_span(m.file, identity_of(m.pool, m.file));
            if span.is_none() {
                // Under the lock: who takes it next must not unpin the file in the belief that the table is whole.
                give_up();
            }
            span
        }
        None => {
            give_up();
            None
        }
    };
    if !m.pool.pin_file(m.who, m.file, true) {
        // Counted as open for ever, and so direct for ever.
        give_up();
    }
    Announced(span)
}

/// Takes a free span for a file of that device and inode.
fn take_span(file: u32, identity: (u64, u64)) -> Option<&'static Span> {
    let span = SPANS.iter().find(|s| s.is_free())?;
    span.claim(file, identity);
    USED.fetch_add(1, SeqCst);
    Some(span)
}

/// Device and inode of a file slot.
fn identity_of(pool: &Pool, file: u32) -> (u64, u64) {
    let f = pool.segment().file(file);
    (f.dev.load(Relaxed), f.ino.load(Relaxed))
}

fn free(span: &Span) {
    span.free();
    USED.fetch_sub(1, SeqCst);
}

/// After the file was mapped at `place`.
pub fn confirm(announced: &Announced, place: Range<usize>) {
    let Some(span) = announced.0 else { return };
    with_table(|table| {
        // Nothing else can be there now.
        table.remove(&place);
        span.set(place.clone());
    });
}

/// The mapping was not made.
pub fn retract(announced: &Announced) {
    let Some(span) = announced.0 else { return };
    with_table(|table| {
        table.lost(span.file());
        free(span);
    });
}

/// Before `place` is unmapped or mapped over: learns from what is there how the kernel names its files' devices.
pub fn before_removal(place: &Range<usize>) {
    if !any() || INCOMPLETE.load(Relaxed) {
        return;
    }
    let Some(_held) = Held::take() else { return };
    for span in SPANS.iter().filter(|s| s.meets(place) && maps::is_unknown(s.identity().0)) {
        maps::learn(span.range().start, span.identity());
    }
}

/// After `place` was unmapped, or mapped over.
pub fn removed(place: &Range<usize>) {
    if any() {
        with_table(|table| table.remove(place));
    }
}

/// After what was at `old` is at `new`, or also there if `kept`.
pub fn moved(old: &Range<usize>, new: &Range<usize>, kept: bool) {
    if !any() {
        return;
    }
    with_table(|table| {
        let source = old.start..old.end.max(old.start + 1);
        let file = SPANS.iter().find(|s| s.meets(&source)).map(|s| (s.file(), s.identity()));
        if !kept {
            table.remove(old);
        }
        table.remove(new);
        if let Some((file, identity)) = file {
            table.add(file, identity, new.clone());
        }
    });
}

/// In a forked child: another thread of the parent may have been at the table. What the child has mapped it pins, if the parent's pin is not among
/// those that were copied for it.
pub fn after_fork_in_child() {
    if lock::after_fork_in_child() {
        give_up();
    }
    if any() {
        if let Some((pool, who)) = process::attached() {
            for span in SPANS.iter().filter(|s| !s.is_free()) {
                if is_file_of(pool, span) {
                    pool.pin_file(who, span.file(), true);
                }
            }
        }
    }
}

/// Whether the span's file slot is still its file's.
fn is_file_of(pool: &Pool, span: &Span) -> bool {
    let (dev, ino) = span.identity();
    pool.segment().file(span.file()).is(dev, ino)
}

/// The table under its lock, and the files that may have lost their last span.
struct Table {
    lost: [u32; MOST_FILES],
    count: usize,
}

fn with_table(change: impl FnOnce(&mut Table)) {
    if INCOMPLETE.load(SeqCst) {
        // Nothing is unpinned any more, so that nobody need wait for a table whose holder may have jumped away.
        return;
    }
    // A signal handler that came in the middle of a change leaves the table alone; so does whoever cannot get it.
    let Some(_held) = Held::take() else { return give_up() };
    let mut table = Table { lost: [0; MOST_FILES], count: 0 };
    change(&mut table);
    if INCOMPLETE.load(SeqCst) {
        return;
    }
    if let Some((pool, who)) = process::attached() {
        for &file in &table.lost[..table.count] {
            unpin_if_gone(pool, who, file);
        }
    }
}

impl Table {
    fn lost(&mut self, file: u32) {
        if self.lost[..self.count].contains(&file) {
            return;
        }
        match self.lost.get_mut(self.count) {
            Some(place) => {
                *place = file;
                self.count += 1;
            }
            None => give_up(),
        }
    }

    fn add(&mut self, file: u32, identity: (u64, u64), place: Range<usize>) {
        match take_span(file, identity) {
            Some(span) => span.set(place),
            None => give_up(),
        }
    }

    /// Takes `place` out of all spans.
    fn remove(&mut self, place: &Range<usize>) {
        for span in SPANS.iter().filter(|s| s.meets(place)) {
            let (file, identity, range) = (span.file(), span.identity(), span.range());
            self.lost(file);
            let (before, after) = (range.start..place.start, place.end..range.end);
            match (before.is_empty(), after.is_empty()) {
                (true, true) => free(span),
                (false, true) => span.set(before),
                (true, false) => span.set(after),
                (false, false) => {
                    span.set(before);
                    self.add(file, identity, after);
                }
            }
        }
    }
}

/// Drops the pin of a file that has no span, if the kernel says that it is not mapped.
fn unpin_if_gone(pool: &Pool, who: Caller, file: u32) {
    if SPANS.iter().any(|s| !s.is_free() && s.file() == file) {
        return;
    }
    let identity = identity_of(pool, file);
    match maps::find(identity) {
        maps::Found::Nowhere => pool.unpin(who, file),
        maps::Found::At(place) => Table { lost: [0; MOST_FILES], count: 0 }.add(file, identity, place),
        maps::Found::Unknown => {}
    }
}
