//! The order of work: plan every patch, write the trampolines, then change libc's text in one go.
//!
//! What holds here: until the text has become writable nothing is visible, and an error undoes what there is;
//! from then on nothing fails, and no function of libc is called until the text has its protection back.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{mprotect, MprotectFlags};

use super::arena::{Arena, PAGE};
use super::head::{Head, JUMP_LEN, MAX_HEAD};
use super::image::{Function, Image, Lookup, Span};
use super::inner;
use super::outcome::{Outcome, PatchError, Refusal, Request, Stats};
use super::relocate::{distance, trampoline, MAX_TRAMPOLINE};
use super::MAX_REQUESTS;

/// `jmp [rip + 0]` with the address behind it: reaches a handler anywhere.
const STUB_LEN: usize = 16;
/// One patch's share of the arena: the stub, then the trampoline.
const SLOT: usize = STUB_LEN + MAX_TRAMPOLINE;

/// The protection of libc's text.
const TEXT: MprotectFlags = MprotectFlags::READ.union(MprotectFlags::EXEC);

/// A patch that will be written.
#[derive(Clone, Copy)]
struct Plan {
    entry: usize,
    head: Head,
    stub: usize,
}

/// The plans of all requests, in their order.
struct Plans {
    of: [Option<Plan>; MAX_REQUESTS],
}

impl Plans {
    fn earlier(&self, index: usize) -> impl Iterator<Item = (usize, &Plan)> {
        self.of[..index].iter().enumerate().filter_map(|(i, plan)| plan.as_ref().map(|plan| (i, plan)))
    }

    /// Plans one patch with its slot at `slot`, and writes its code there.
    ///
    /// # Safety
    ///
    /// `function` must be readable code.
    unsafe fn add(
        &mut self,
        index: usize,
        function: Function,
        handler: *const (),
        slot: usize,
        arena: &mut Arena,
    ) -> Outcome {
        if let Some((earlier, _)) = self.earlier(index).find(|(_, plan)| plan.entry == function.entry) {
            return Outcome::SameAs(earlier);
        }
        // SAFETY: the caller says that it is readable, and nobody changes it while this slice lives.
        let code = unsafe { std::slice::from_raw_parts(function.entry as *const u8, function.size) };
        let head = match Head::find(code, function.entry) {
            Ok(head) => head,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        if self.earlier(index).any(|(_, plan)| plan.head.overlaps(&head)) {
            return Outcome::Refused(Refusal::Overlap);
        }
        let original = slot + STUB_LEN;
        let (bytes, len) = match trampoline(&head, original) {
            Ok(built) => built,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        arena.write(slot, &stub(handler));
        arena.write(original, &bytes[..len]);
        self.of[index] = Some(Plan { entry: function.entry, head, stub: slot });
        Outcome::Patched(original as *const ())
    }

    /// The pages that will be written to.
    fn span(&self) -> Option<Span> {
        let heads = || self.of.iter().flatten().map(|plan| plan.head);
        let start = heads().map(|head| head.start).min()?;
        let end = heads().map(|head| head.start + head.len).max()?;
        Some(Span { start: start & !(PAGE - 1), end: end.next_multiple_of(PAGE) })
    }
}

fn stub(handler: *const ()) -> [u8; STUB_LEN] {
    let mut code = [0xcc; STUB_LEN];
    code[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
    code[6..14].copy_from_slice(&(handler as usize).to_le_bytes());
    code
}

/// Patches the functions that `requests` name in `libc`.
///
/// # Safety
///
/// As for [`super::patch_all_with`].
pub unsafe fn apply(
    libc: &Image,
    requests: &[Request],
    outcomes: &mut [Outcome],
    ready: impl FnOnce(&[Outcome]),
) -> Result<Stats, PatchError> {
    let find = |index: usize| (inner::find(libc, requests[index].symbol), requests[index].handler);
    // SAFETY: what `find` gives lies in libc's text; the rest is the caller's promise.
    unsafe { run(libc.text, requests.len(), find, outcomes, ready) }
}

/// Patches functions given as entry, size and handler, all inside `text`.
///
/// # Safety
///
/// As for [`super::patch_all_with`], and `text` must be readable code.
#[cfg(test)]
pub unsafe fn apply_entries(
    text: std::ops::Range<usize>,
    entries: &[(usize, usize, *const ())],
    outcomes: &mut [Outcome],
) -> Result<Stats, PatchError> {
    let text = Span { start: text.start, end: text.end };
    let find = |index: usize| {
        let (entry, size, handler) = entries[index];
        (Lookup::Found(Function { entry, size }), handler)
    };
    // SAFETY: the caller's promises are the ones that are asked for.
    unsafe { run(text, entries.len(), find, outcomes, |_| {}) }
}

/// # Safety
///
/// As for [`super::patch_all_with`], and what `find` gives must be readable code inside `text`.
unsafe fn run(
    text: Span,
    count: usize,
    find: impl Fn(usize) -> (Lookup, *const ()),
    outcomes: &mut [Outcome],
    ready: impl FnOnce(&[Outcome]),
) -> Result<Stats, PatchError> {
    let mut arena = Arena::near(text, count * SLOT)?;
    let mut plans = Plans { of: [None; MAX_REQUESTS] };
    for (index, outcome) in outcomes.iter_mut().enumerate().take(count) {
        let slot = arena.start() + index * SLOT;
        let (lookup, handler) = find(index);
        *outcome = match lookup {
            // SAFETY: `find` gives readable code.
            Lookup::Found(function) => unsafe { plans.add(index, function, handler, slot, &mut arena) },
            Lookup::Missing => Outcome::Missing,
            Lookup::Unusable(refusal) => Outcome::Refused(refusal),
        };
    }
    let mut stats = Stats::default();
    if let Some(span) = plans.span() {
        if let Err(error) = arena.seal().and_then(|()| make_writable(span)) {
            // The trampolines go away with the arena.
            outcomes.fill(Outcome::Missing);
            return Err(error);
        }
        ready(outcomes);
        for (plan, outcome) in plans.of.iter().zip(outcomes.iter_mut()) {
            let Some(plan) = plan else { continue };
            // SAFETY: the head lies in `span`, which is writable now, and no thread executes it.
            if !unsafe { write(plan) } {
                *outcome = Outcome::Refused(Refusal::Changed);
            }
        }
        stats.left_writable = protect(span, TEXT).is_err();
        arena.keep();
    }
    count_outcomes(outcomes, &mut stats);
    Ok(stats)
}

fn count_outcomes(outcomes: &mut [Outcome], stats: &mut Stats) {
    for index in 0..outcomes.len() {
        if let Outcome::SameAs(earlier) = outcomes[index] {
            // What became of the entry after planning is true of all its names.
            if let refused @ Outcome::Refused(_) = outcomes[earlier] {
                outcomes[index] = refused;
            }
        }
        *match outcomes[index] {
            Outcome::Patched(_) => &mut stats.patched,
            Outcome::SameAs(_) => &mut stats.aliases,
            Outcome::Missing => &mut stats.missing,
            Outcome::Refused(_) => &mut stats.refused,
        } += 1;
    }
}

/// Makes the text writable, all of it or none.
fn make_writable(span: Span) -> Result<(), PatchError> {
    protect(span, TEXT | MprotectFlags::WRITE).inspect_err(|_| {
        // The kernel stops at the first mapping that it refuses.
        let _ = protect(span, TEXT);
    })
}

fn protect(span: Span, flags: MprotectFlags) -> Result<(), PatchError> {
    // SAFETY: the span lies in libc's text; it stays readable and executable throughout.
    unsafe { mprotect(span.start as *mut c_void, span.end - span.start, flags) }
        .map_err(|errno| PatchError::Protect(errno.raw_os_error()))
}

/// Writes the jump to the stub over the head, if the head is still what was planned for.
///
/// # Safety
///
/// The head must be writable, and no thread may be executing it.
unsafe fn write(plan: &Plan) -> bool {
    let head = &plan.head;
    let target = head.start as *mut u8;
    let Some(jump) = distance(head.start + JUMP_LEN, plan.stub) else { return false };
    // What is left of the last instruction is never run; a trap there shows it if it ever were.
    let mut bytes = [0xcc; MAX_HEAD];
    bytes[0] = 0xe9;
    bytes[1..JUMP_LEN].copy_from_slice(&jump.to_le_bytes());
    // SAFETY: all accesses stay within the head, or within the aligned word that holds the jump: same page.
    unsafe {
        if (0..head.len).any(|at| target.add(at).read_volatile() != head.bytes[at]) {
            return false;
        }
        let tail = if head.start % 8 + JUMP_LEN <= 8 {
            // One store makes the entry the old or the new one for a thread that is about to enter.
            let word = AtomicU64::from_ptr((head.start & !7) as *mut u64);
            let mut value = word.load(Ordering::Relaxed).to_le_bytes();
            let at = head.start % 8;
            value[at..at + JUMP_LEN].copy_from_slice(&bytes[..JUMP_LEN]);
            word.store(u64::from_le_bytes(value), Ordering::Relaxed);
            JUMP_LEN
        } else {
            0
        };
        for (at, byte) in bytes.iter().enumerate().take(head.len).skip(tail) {
            target.add(at).write_volatile(*byte);
        }
    }
    true
}
