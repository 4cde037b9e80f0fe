//! Direct mode: the kernel serves a file for every process on the node.
//!
//! A file turns direct for a reason. Most reasons last until nobody has the file open; a *mapping* lasts until the last process that has the
//! file mapped says that it has not. Nobody is told then: the next call that finds the file direct for no other reason than mappings,
//! and none left, ends direct mode by itself ([`Pool::is_direct_still`]).
//!
//! **direct-write-counted**: a write that the kernel serves is counted while it lasts. Direct mode does not end over it, since its bytes would
//! come into the file behind the pool's back, and an append of it would not know of bytes that wait in memory.
//! **mapping-before-look**: a mapping is counted before it looks whether somebody is ending direct mode, and who ends it says so before looking at
//! the count: one of the two sees the other.

use crate::flush::HELD_UP;
use crate::{Caller, Pool, Store, FIRST_PIN, NO_WRITER};
use millpond_segment::description::flags;
use millpond_segment::lock::Held;
use millpond_segment::stats::Reason;
use millpond_segment::sys::Masked;
use millpond_segment::{Errno, File};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// A write that the kernel serves. While it lives, the file stays direct.
pub struct DirectWrite<'a> {
    file: &'a File,
    // Dropped in this order: a handler finds nothing held.
    _appender: Option<Held<'a>>,
    _masked: Option<Masked>,
}

impl Drop for DirectWrite<'_> {
    fn drop(&mut self) {
        self.file.direct_calls.fetch_sub(1, SeqCst);
    }
}

impl Pool {
    /// Hands a file to the kernel for every process.
    ///
    /// # Errors
    /// The flush's error; the file then stays buffered.
    pub fn make_direct(
        &self,
        who: Caller,
        file: u32,
        store: &impl Store,
        reason: Reason,
    ) -> Result<(), Errno> {
        let f = self.segment.file(file);
        self.wait_for_ending(who, f);
        let bit = reason.direct_bit();
        let before = f.direct.fetch_or(bit, SeqCst);
        if before & bit != 0 && f.dirty_pages.load(SeqCst) == 0 {
            return Ok(());
        }
        self.count_turn(who, reason, before & bit == 0);
        self.under_flush_lock(who, file, || {
            let _size = f.lock.lock(who.me, &self.segment);
            // Somebody whose flush failed may have taken it back.
            f.direct.fetch_or(bit, SeqCst);
            match self.flush_locked(who, file, store) {
                Ok(_) => {}
                // In the first case the caller has the file written by somebody else and comes again. Writers flush for themselves from now on.
                Err(e @ (NO_WRITER | HELD_UP)) => return Err(e),
                Err(e) => {
                    if before & bit == 0 {
                        f.direct.fetch_and(!bit, SeqCst);
                    }
                    return Err(e);
                }
            }
            self.drop_pages(who, file, |page| page.dirty.is_empty());
            Ok(())
        })
    }

    /// Whether a file that was found direct is so still. It is not if mappings were the only reason and the last one has gone:
    /// then it is buffered again when this returns.
    #[cold]
    pub fn is_direct_still(&self, who: Caller, file: u32, store: &impl Store) -> bool {
        let f = self.segment.file(file);
        let now = f.direct.load(SeqCst);
        if now != Reason::Mapping.direct_bit() || f.mapped.load(SeqCst) > 0 {
            return now != 0;
        }
        // Whoever holds these may be at it for long, and the kernel serves the call as well.
        let _masked = Masked::begin();
        let Some(_flusher) = f.flush_lock.try_lock(who.me) else { return true };
        let Some(_size) = f.lock.try_lock(who.me) else { return true };
        if f.epoch.load(SeqCst) & 1 == 1 || f.dirty_pages.load(SeqCst) > 0 {
            return true;
        }
        f.ending.store(1, SeqCst);
        let ended = f.mapped.load(SeqCst) == 0
            && f.direct_calls.load(SeqCst) == 0
            && self.take_over_direct(who, file, store);
        f.ending.store(0, SeqCst);
        !ended
    }

    /// Takes the file over as the kernel has it, and says that it is buffered, unless another reason has come up.
    fn take_over_direct(&self, who: Caller, file: u32, store: &impl Store) -> bool {
        let Ok(stamp) = store.stamp() else { return false };
        // Pages that a reader made who had looked before the file turned direct.
        self.drop_clean(who, file);
        self.adopt_stamp(who, file, stamp);
        self.segment
            .file(file)
            .direct
            .compare_exchange(Reason::Mapping.direct_bit(), 0, SeqCst, SeqCst)
            .is_ok()
    }

    /// Begins a write that the kernel is to serve because the file is direct; one that `appends` waits for appends that began before the file turned.
    /// `None` when it is direct no longer: then the caller looks again.
    pub fn begin_direct_write(&self, who: Caller, file: u32, appends: bool) -> Option<DirectWrite<'_>> {
        let f = self.segment.file(file);
        f.direct_calls.fetch_add(1, SeqCst);
        let mut call = DirectWrite { file: f, _appender: None, _masked: None };
        let decided = f.ending.load(SeqCst) == 0;
        if decided && f.direct.load(SeqCst) != 0 || !decided && self.is_own_ending(who, f) {
            call._masked = appends.then(Masked::if_handlers);
            call._appender = appends.then(|| self.hold_appends(who, file));
            return Some(call);
        }
        drop(call);
        self.wait_for_ending(who, f);
        None
    }

    /// Keeps others from appending to the file, for a call that the kernel makes at what it takes for the end.
    pub fn hold_appends(&self, who: Caller, file: u32) -> Held<'_> {
        let f = self.segment.file(file);
        let held = f.append_lock.lock(who.me, &self.segment);
        if held.is_recovered() {
            f.reserved.store(0, Relaxed);
        }
        held
    }

    /// If somebody is ending direct mode, waits until that is decided.
    fn wait_for_ending(&self, who: Caller, f: &File) {
        if f.ending.load(SeqCst) != 0 && !self.is_own_ending(who, f) {
            let _size = f.lock.lock(who.me, &self.segment);
            // Set only under this lock: whoever set it died.
            f.ending.store(0, SeqCst);
        }
    }

    /// Whether this thread itself was ending direct mode when a signal came, whose handler this is. It cannot wait for itself, and what it
    /// decides must not be decided behind the handler's back: the file stays direct.
    fn is_own_ending(&self, who: Caller, f: &File) -> bool {
        let own = f.lock.is_held_by(who.me);
        if own && f.direct.load(SeqCst) != 0 {
            f.direct.fetch_or(Reason::Interrupted.direct_bit(), SeqCst);
        }
        own
    }

    /// When a file is opened that nobody had open: whatever was the reason is gone.
    pub(crate) fn forget_direct(&self, file: u32) {
        let f = self.segment.file(file);
        f.direct.store(0, SeqCst);
        self.forget_direct_calls(file);
    }

    /// What is counted of mappings and calls is nobody's.
    pub(crate) fn forget_direct_calls(&self, file: u32) {
        let f = self.segment.file(file);
        for word in [&f.mapped, &f.direct_calls, &f.ending] {
            word.store(0, SeqCst);
        }
    }

    /// Keeps `file` counted as open, and as mapped if `mapped`, for as long as the client lives or until [`Pool::unpin`]. `false` when there is
    /// no room; the file then stays counted as open until the pool is idle, so that nothing is ever buffered that should not be.
    pub fn pin_file(&self, who: Caller, file: u32, mapped: bool) -> bool {
        let wanted = flags::RELEASED | if mapped { flags::MAPPED } else { 0 };
        if self.pin_of(who.client(), file, wanted).is_some() {
            return true;
        }
        let f = self.segment.file(file);
        f.opens.fetch_add(1, SeqCst);
        if mapped {
            f.mapped.fetch_add(1, SeqCst);
        }
        let Some(description) = self.new_description(who, file, wanted, 0) else {
            f.opens.fetch_add(1, SeqCst);
            return false;
        };
        // Without an entry the description stays, as nobody's.
        let pinned = self.set_pin(who.client(), description);
        self.settle_description(description);
        pinned
    }

    /// Takes back what [`Pool::pin_file`] did for a mapping.
    pub fn unpin(&self, who: Caller, file: u32) {
        if let Some(number) = self.pin_of(who.client(), file, flags::RELEASED | flags::MAPPED) {
            if let Some(description) = self.take_entry(who.client(), number) {
                self.drop_description(description);
            }
        }
    }

    fn pin_of(&self, client: u32, file: u32, wanted: u32) -> Option<u32> {
        let mut found = None;
        self.for_entries(client, |number, description| {
            let d = self.segment.description(description);
            if number >= FIRST_PIN && d.file.load(Relaxed) == file && d.flags.load(Relaxed) == wanted {
                found = Some(number);
            }
        });
        found
    }
}
