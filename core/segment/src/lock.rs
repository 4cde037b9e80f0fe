//! A lock word in the segment that names its holder.
//!
//! The word is a futex: 0 when free, else the holder's client slot and thread; beside it stands the number of those who sleep on it. A lock whose
//! holder has died can therefore be found and taken over; whoever takes it over is told so and repairs what the dead one left half done.
//! A thread that comes again while it holds the lock (a signal handler that interrupted it) is let in; so is a child that such a handler forked.

use crate::Segment;
use crate::{nesting, sys};
use std::sync::atomic::{AtomicU32, Ordering};

/// Who holds a lock: client slot and thread of that client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder(u32);

const THREAD_BITS: u32 = 19;
/// Rounds of spinning before a waiter sleeps: a copy of a page is done within them.
const SPINS: u32 = 400;
/// How long a waiter sleeps before it looks again whether the holder lives.
const NAP_NS: u64 = 20_000_000;
/// Naps after which a waiter looks whether the holder is stopped.
const NAPS_BEFORE_PRESSING: u32 = 3;
/// Naps after which a waiter itself takes the lock of a dead holder, in case no coordinator does.
const NAPS_BEFORE_TAKEOVER: u32 = 10;
/// After which a patient waiter gives up: some naps more than it takes to replace a dead holder.
const PATIENCE_NS: u64 = (NAPS_BEFORE_TAKEOVER as u64 + 2) * NAP_NS;

impl Holder {
    /// The holder that is thread `thread` of client slot `client`. Thread numbers are taken modulo 2^19.
    pub fn new(client: u32, thread: u32) -> Self {
        Self(((client + 1) << THREAD_BITS) | (thread & ((1 << THREAD_BITS) - 1)))
    }

    /// The client slot.
    pub fn client(self) -> u32 {
        (self.0 >> THREAD_BITS) - 1
    }

    /// The word that stands in a lock.
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// Thread number within the client.
    pub fn thread(self) -> u32 {
        self.0 & ((1 << THREAD_BITS) - 1)
    }
}

/// Whose locks are to be taken over.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// All of a client that has died.
    Client(u32),
    /// Those of one thread, by itself: it has left what it was doing.
    Thread(Holder),
}

impl Whose {
    fn has(self, holder: Holder) -> bool {
        match self {
            Self::Client(client) => holder.client() == client,
            Self::Thread(thread) => holder == thread,
        }
    }
}

/// A futex word that is 0 or names a [`Holder`].
#[repr(C)]
#[derive(Default)]
pub struct FutexLock {
    word: AtomicU32,
    sleepers: AtomicU32,
}
crate::assert_shared!(FutexLock, 8);

/// A lock that is held until this goes out of scope.
#[must_use]
pub struct Held<'a> {
    lock: &'a FutexLock,
    nested: bool,
    recovered: bool,
    forks: u32,
}

impl Held<'_> {
    /// Whether the same thread held the lock already: what it was doing is half done, underneath.
    pub fn is_nested(&self) -> bool {
        self.nested
    }

    /// Whether the lock was taken from a holder that had died: what it guards may be half changed.
    pub fn is_recovered(&self) -> bool {
        self.recovered
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // A copy of it in a forked child: the parent gives it back.
        if !self.nested && self.forks == nesting::forks() {
            self.lock.release();
        }
        nesting::leave();
    }
}

impl FutexLock {
    /// Takes the lock, waiting as long as its holder lives.
    #[inline]
    pub fn lock(&self, me: Holder, segment: &Segment) -> Held<'_> {
        // Counted before it is taken and until it has been given back: what is interrupted in between is then no lock that nobody knows of.
        nesting::enter();
        match self.word.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => self.held(false, false),
            Err(_) => self.lock_slow(me, segment),
        }
    }

    /// As [`FutexLock::lock`], for a caller that holds something else which the holder may be waiting for: it gives up after a time in which
    /// a copy of a page would be done, a stopped holder would have been made to go on, and a dead one be replaced.
    pub fn lock_patiently(&self, me: Holder, segment: &Segment) -> Option<Held<'_>> {
        nesting::enter();
        let held = match self.word.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(self.held(false, false)),
            Err(_) => self.wait(me, segment, Some(PATIENCE_NS)),
        };
        if held.is_none() {
            nesting::leave();
        }
        held
    }

    /// Takes the lock if that needs no waiting.
    #[inline]
    pub fn try_lock(&self, me: Holder) -> Option<Held<'_>> {
        nesting::enter();
        match self.word.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(self.held(false, false)),
            Err(_) => {
                nesting::leave();
                None
            }
        }
    }

    /// Takes the lock over if it is one of theirs.
    pub fn take_from(&self, whose: Whose, me: Holder) -> Option<Held<'_>> {
        let holder = self.holder().filter(|&h| whose.has(h))?;
        nesting::enter();
        match self.word.compare_exchange(holder.0, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(self.held(false, true)),
            Err(_) => {
                nesting::leave();
                None
            }
        }
    }

    /// Who holds the lock now, if anybody.
    pub fn holder(&self) -> Option<Holder> {
        let word = self.word.load(Ordering::Relaxed);
        (word != 0).then_some(Holder(word))
    }

    /// Whether `me` holds the lock.
    #[inline]
    pub fn is_held_by(&self, me: Holder) -> bool {
        nesting::is_own(self.word.load(Ordering::Relaxed), me)
    }

    fn held(&self, nested: bool, recovered: bool) -> Held<'_> {
        Held { lock: self, nested, recovered, forks: nesting::forks() }
    }

    #[cold]
    #[inline(never)]
    fn lock_slow(&self, me: Holder, segment: &Segment) -> Held<'_> {
        loop {
            if let Some(held) = self.wait(me, segment, None) {
                return held;
            }
        }
    }

    /// Waits for the lock, with `patience` no longer than so many nanoseconds.
    fn wait(&self, me: Holder, segment: &Segment, patience: Option<u64>) -> Option<Held<'_>> {
        for _ in 0..SPINS {
            let word = self.word.load(Ordering::Relaxed);
            if nesting::is_own(word, me) {
                return Some(self.held(true, false));
            }
            if word == 0 && self.word.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return Some(self.held(false, false));
            }
            std::hint::spin_loop();
        }
        // If this thread dies here the count stays too high, which costs needless wakes and nothing else.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let held = self.sleep(me, segment, patience);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        held
    }

    fn sleep(&self, me: Holder, segment: &Segment, patience: Option<u64>) -> Option<Held<'_>> {
        let mut naps = 0;
        // A nap ends early when the word changes, or by a signal.
        let until = patience.map(|ns| sys::monotonic_ns() + ns);
        while until.is_none_or(|until| sys::monotonic_ns() < until) {
            let word = self.word.load(Ordering::SeqCst);
            if word == 0 {
                if self.word.compare_exchange(0, me.0, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return Some(self.held(false, false));
                }
                continue;
            }
            if nesting::is_own(word, me) {
                return Some(self.held(true, false));
            }
            sys::futex_wait(&self.word, word, NAP_NS);
            naps += 1;
            if naps % NAPS_BEFORE_PRESSING == 0 {
                self.press(segment);
                if patience.is_some() && self.has_stopped_holder(segment) {
                    return None;
                }
            }
            if naps % NAPS_BEFORE_TAKEOVER == 0 {
                if let Some(held) = self
                    .holder()
                    .filter(|h| segment.client_is_dead(h.client()))
                    .and_then(|h| self.take_from(Whose::Client(h.client()), me))
                {
                    // Counted by `take_from` as well.
                    nesting::leave();
                    return Some(held);
                }
            }
        }
        None
    }

    /// If the holder is stopped by a signal, sees to it that it goes on until it has given the lock back: by itself, in a process that can (see
    /// [`set_release_of_stopped`]), else by the coordinator, which is told.
    pub fn press(&self, segment: &Segment) {
        let Some(holder) = self.holder().filter(|h| segment.is_client(h.client())) else { return };
        let Some(pid) = segment.client(holder.client()).process().pid_here() else {
            // From another namespace of process numbers, nobody can tell; the coordinator can.
            return segment.tell_held_up(&self.word);
        };
        if sys::process_state(pid).is_none_or(|(letter, _)| letter != b'T') {
            return;
        }
        match RELEASE.get() {
            Some(release) => drop(release(pid, &|| self.holder() != Some(holder))),
            None => segment.tell_held_up(&self.word),
        }
    }

    /// Whether whoever holds the lock is held itself, by a signal or a debugger.
    pub fn has_stopped_holder(&self, segment: &Segment) -> bool {
        self.holder()
            .filter(|h| segment.is_client(h.client()))
            .and_then(|h| segment.client(h.client()).process().pid_here())
            .and_then(sys::process_state)
            .is_some_and(|(letter, _)| matches!(letter, b'T' | b't'))
    }

    /// Gives the lock back without a locked instruction. A sleeper that came at this very moment may be overlooked: the
    /// kernel looks at the word again before it lets the sleeper sleep, and a nap is short.
    #[inline]
    fn release(&self) {
        self.word.store(0, Ordering::Release);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            sys::futex_wake(&self.word, 1);
        }
    }
}

/// Lets a stopped process run until it has done something; whether it has.
pub type Release = fn(pid: u32, done: &dyn Fn() -> bool) -> bool;

static RELEASE: std::sync::OnceLock<Release> = std::sync::OnceLock::new();

/// Says how this process, the coordinator, lets a stopped one go on.
pub fn set_release_of_stopped(release: Release) {
    let _ = RELEASE.set(release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_names_its_client_and_thread() {
        for (client, thread) in [(0, 0), (4094, 7), (12, (1 << THREAD_BITS) - 1)] {
            let holder = Holder::new(client, thread);
            assert_eq!((holder.client(), holder.thread()), (client, thread));
        }
    }
}
