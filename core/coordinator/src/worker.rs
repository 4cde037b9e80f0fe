//! The worker: one thread that answers messages, watches the attached processes and looks after files that nobody has open.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::time::{Duration, Instant};

use millpond_pool::{Caller, Pool};
use millpond_segment::client::state;
use millpond_segment::header::modes;
use millpond_segment::lock::set_release_of_stopped;
use millpond_segment::sys::{self, Process};
use millpond_segment::wire::{self, Kind, Message};
use millpond_segment::{AttachError, Errno, Segment};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::net::{accept_with, SocketFlags};

use crate::clients::Clients;
use crate::closer::Closer;
use crate::reserve::Memory;
use crate::session::{Next, Session};
use crate::start::{Lifetime, Shared};
use crate::{inherited, keeper, organizer, process, stopped};

/// Between two looks round.
const TICK: Duration = Duration::from_millis(50);
/// The same when nobody is attached.
const IDLE_TICK: Duration = Duration::from_millis(200);
/// After messages that nobody waits for an answer to, others are let come together.
const NAP: Duration = Duration::from_millis(2);
/// Descriptors that are taken from one connection before the next one's turn.
const TURN: usize = 64;
/// Flushes of one growing file in a row, before others have their turn.
const BEHIND_ROUNDS: u32 = 4;
/// Dirty bytes of a growing file that are left to its close.
const BEHIND_LEAST: u32 = 2 << 20;
/// Looks for a descriptor that is on its way, before the file is reached by its name or not at all.
const ARRIVALS: u32 = 20;
/// Rounds of messages, one of each connection, before the worker looks round again.
const ROUNDS: usize = 64;
/// Bytes that are cleared between two looks for messages: some milliseconds' worth.
const PIECE: u64 = 8 << 20;
/// How long a coordinator that stays while it is held waits for the first to hold it.
const FIRST_HOLD: Duration = Duration::from_secs(30);

/// Why a worker ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to stop, or nobody needs it.
    Done,
    /// The supervisor is gone.
    Orphaned,
}

struct Worker<'a> {
    shared: &'a Shared,
    pool: Pool,
    who: Caller,
    sessions: Vec<Rc<Session>>,
    clients: Clients,
    /// When to try again, by file slot, and the error that was met.
    retry: HashMap<u32, (Instant, Errno)>,
    /// Growing files whose dirty bytes are to be written while they grow.
    behind: HashSet<u32>,
    /// How much of the segment has been cleared.
    cleared: u64,
    closer: Closer,
    begun: Instant,
    held: bool,
    stop_when_empty: bool,
    done: bool,
}

/// Is the worker until there is nothing more to do.
///
/// # Errors
/// When the segment cannot be attached.
pub fn run(shared: &Shared, supervisor: u32) -> Result<Ended, AttachError> {
    // When it takes the supervisor's place, its descriptors are the next worker's.
    let mut worker = ManuallyDrop::new(Worker::new(shared)?);
    let ended = worker.serve(supervisor);
    // Whoever forks next must be alone.
    worker.closer.finish();
    Ok(ended)
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared) -> Result<Self, AttachError> {
        let pool = Pool::new(Segment::attach(shared.segment.as_fd())?);
        let header = pool.segment().header();
        let incarnation = header.incarnation.fetch_add(1, SeqCst) + 1;
        let pool_length = pool.segment().layout().length;
        let who = Caller::new(0, incarnation);
        header.client_top.fetch_max(1, SeqCst);
        set_release_of_stopped(stopped::let_go_on);
        if incarnation > 1 {
            recover_own(&pool, who);
        }
        become_client(&pool);
        let mut keep: HashSet<i32> = shared.descriptors().into();
        keep.extend(keeper::known(&pool));
        let sessions: Vec<_> = inherited::connections(&keep)
            .into_iter()
            .filter_map(Session::new)
            .filter(|session| session.uid == rustix::process::geteuid().as_raw())
            .map(Rc::new)
            .collect();
        header.worker.store(std::process::id(), Release);
        tracing::info!(
            "worker {} serves, number {incarnation}, with {} connections",
            std::process::id(),
            sessions.len()
        );
        let held = !sessions.is_empty();
        Ok(Self {
            shared,
            pool,
            who,
            sessions,
            clients: Clients::default(),
            retry: HashMap::new(),
            // Another worker than the first finds it in use, and cleared or not: programs are being served.
            behind: HashSet::new(),
            closer: Closer::default(),
            cleared: if incarnation > 1 { pool_length } else { 0 },
            begun: Instant::now(),
            held,
            stop_when_empty: false,
            done: false,
        })
    }

    fn serve(&mut self, supervisor: u32) -> Ended {
        let mut looked = None::<Instant>;
        loop {
            self.pool.segment().header().heartbeat.store(sys::monotonic_ns(), Relaxed);
            let tick = if self.clear_some() {
                Duration::ZERO
            } else if self.sessions.is_empty() && self.clients.is_empty() {
                IDLE_TICK
            } else {
                TICK
            };
            let woken = self.wait(tick);
            if self.told_by_signal() {
                self.stop(1, 0);
            }
            let only_keeps = self.answer_all() & !self.write_behind();
            // Processes can have died only while there was something to wait for.
            if woken || looked.is_none_or(|at| at.elapsed() >= tick) {
                self.bury();
            }
            if looked.is_none_or(|at| at.elapsed() >= tick) {
                looked = Some(Instant::now());
                self.look_round();
            }
            if self.done {
                return Ended::Done;
            }
            if std::os::unix::process::parent_id() != supervisor {
                return Ended::Orphaned;
            }
            if only_keeps {
                std::thread::sleep(NAP);
            }
        }
    }

    /// Writes the dirty bytes of growing files. Whether there were some to look at.
    fn write_behind(&mut self) -> bool {
        let slots = std::mem::take(&mut self.behind);
        let files = self.pool.segment().layout().sizes.files;
        for &slot in slots.iter().filter(|&&slot| slot < files) {
            for _ in 0..BEHIND_ROUNDS {
                let left = self.pool.segment().file(slot).dirty_pages.load(SeqCst);
                if left * self.pool.segment().geometry().bytes() < BEHIND_LEAST
                    || self.flush(slot, false).is_err()
                {
                    break;
                }
            }
            self.pool.segment().file(slot).behind.store(0, SeqCst);
        }
        !slots.is_empty()
    }

    /// Has the next piece of a fresh segment cleared: reserved memory is cleared at its first use, for which no program should have to wait. Whether
    /// there is more to do.
    fn clear_some(&mut self) -> bool {
        let length = self.pool.segment().layout().length;
        if self.cleared >= length || self.shared.info.memory == Memory::Directory {
            return false;
        }
        let piece = PIECE.min(length - self.cleared);
        // It only saves time: what fails here is done at the first use.
        let done = process::populate(&self.shared.segment, self.cleared, piece).is_ok();
        self.cleared = if done { self.cleared + piece } else { length };
        true
    }

    /// Waits for something to happen. Whether a process may have ended.
    fn wait(&self, tick: Duration) -> bool {
        let mut ready = vec![
            PollFd::new(&self.shared.listener, PollFlags::IN),
            PollFd::new(&self.shared.signals, PollFlags::IN),
        ];
        ready.extend(
            self.sessions.iter().map(|session| PollFd::from_borrowed_fd(session.fd(), PollFlags::IN)),
        );
        let processes = ready.len();
        ready
            .extend(self.clients.processes().map(|process| PollFd::from_borrowed_fd(process, PollFlags::IN)));
        let limit = Timespec { tv_sec: 0, tv_nsec: tick.as_nanos() as i64 };
        // Interrupted or not, what is there is looked at.
        let _ = poll(&mut ready, Some(&limit));
        ready[processes..].iter().any(|process| !process.revents().is_empty())
    }

    fn told_by_signal(&self) -> bool {
        self.shared.signals.read_signal().is_ok_and(|signal| signal.is_some())
    }

    fn accept(&mut self) {
        let own = rustix::process::geteuid().as_raw();
        loop {
            match accept_with(&self.shared.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) => match Session::new(socket) {
                    Some(session) if session.uid == own => {
                        self.held = true;
                        self.sessions.push(Rc::new(session));
                    }
                    Some(other) => {
                        tracing::warn!("user {} (process {}) is refused", other.uid, other.pid);
                        other.send(Message::new(Kind::Refused, libc::EACCES as u64), None);
                    }
                    None => {}
                },
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
                Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => {
                    tracing::warn!("out of descriptors: {} connections", self.sessions.len());
                    self.give_up_idle();
                    std::thread::sleep(NAP);
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// Deals with the messages that are there. Whether there were some, and none of them is waited for.
    fn answer_all(&mut self) -> bool {
        let (mut some, mut awaited) = (false, false);
        for _ in 0..ROUNDS {
            some |= self.take_keeps();
            let mut quiet = true;
            for session in self.sessions.clone() {
                let stays = match session.peek() {
                    Next::Nothing | Next::Message(Message { kind: Kind::Keep | Kind::Behind, .. }) => true,
                    Next::End => false,
                    Next::Garbage => {
                        // An unread message would reset the connection and take the answer along.
                        session.take();
                        session.send(Message::new(Kind::Refused, libc::EPROTO as u64), None);
                        false
                    }
                    Next::Message(message) => {
                        (some, awaited, quiet) = (true, true, false);
                        // What was handed over before this was asked counts, whoever handed it over.
                        self.take_keeps();
                        self.answer(&session, message)
                    }
                };
                if !stays {
                    self.sessions.retain(|other| !Rc::ptr_eq(other, &session));
                }
            }
            if quiet || self.done {
                break;
            }
        }
        some && !awaited
    }

    /// Takes all descriptors that are next on their connections. Whether there were some.
    fn take_keeps(&mut self) -> bool {
        self.accept();
        let mut some = false;
        for session in &self.sessions {
            for _ in 0..TURN {
                let Next::Message(message @ Message { kind: Kind::Keep | Kind::Behind, .. }) = session.peek()
                else {
                    break;
                };
                some = true;
                match session.take() {
                    Some(descriptor) => keeper::keep(&self.pool, message.a, descriptor),
                    None if message.kind == Kind::Behind => self.behind.extend(u32::try_from(message.a).ok()),
                    None => {}
                }
            }
        }
        some
    }

    /// Deals with one message. Whether the connection stays.
    fn answer(&mut self, session: &Session, message: Message) -> bool {
        let done = |errno: i32, count: u64| Message { kind: Kind::Done, a: errno as u64, b: count, c: 0 };
        let reply = match message.kind {
            Kind::Hello => {
                session.take();
                let length = self.pool.segment().layout().length;
                // Who has no number here cannot be watched, and goes without.
                if session.pid == 0 {
                    session.send(Message::new(Kind::Refused, libc::ESRCH as u64), None);
                    return false;
                }
                let welcome = Message {
                    kind: Kind::Welcome,
                    a: length,
                    b: u64::from(session.pid),
                    c: u64::from(sys::own_space()),
                };
                return session.send(welcome, Some(self.shared.segment.as_fd()));
            }
            Kind::Flush if message.a == wire::ALL => {
                let (errno, count) = self.flush_all(message.b != 0);
                done(errno, count)
            }
            Kind::Flush => match self.slot_of(message.a).map(|slot| self.flush(slot, message.b != 0)) {
                Some(Ok(flushed)) => done(0, flushed.bytes),
                Some(Err(errno)) => done(errno.0, 0),
                None => done(libc::EINVAL, 0),
            },
            Kind::Release => {
                if let Some(slot) = self.slot_of(message.a) {
                    self.release(slot);
                }
                done(0, 0)
            }
            Kind::Stop => {
                let (errno, count) = self.stop(message.a, session.pid);
                done(errno, count)
            }
            Kind::Keep | Kind::Behind | Kind::Welcome | Kind::Done | Kind::Refused => {
                session.take();
                session.send(Message::new(Kind::Refused, libc::EPROTO as u64), None);
                return false;
            }
        };
        session.take();
        session.send(reply, None)
    }

    fn slot_of(&self, number: u64) -> Option<u32> {
        u32::try_from(number).ok().filter(|&slot| slot < self.pool.segment().layout().sizes.files)
    }

    /// Flushes all files. The first error, and how many files were flushed or, on an error, were not.
    /// Flushes file `slot` through the descriptor that was handed over for it.
    fn flush(&mut self, slot: u32, durable: bool) -> Result<millpond_pool::Flushed, Errno> {
        for _ in 0..ARRIVALS {
            if !keeper::is_on_its_way(&self.pool, slot) {
                break;
            }
            // Whoever dirtied the file has sent it before: it is in a queue, or will be in a moment.
            if !self.take_keeps() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let result = keeper::flush(&self.pool, self.who, slot, durable);
        // A file that is held up has not failed.
        let failed = result.is_err_and(|errno| errno != Errno(libc::EBUSY));
        self.pool.attribute_flush(self.who, slot, result.unwrap_or_default(), failed);
        result
    }

    fn flush_all(&mut self, durable: bool) -> (i32, u64) {
        let (mut errno, mut flushed, mut failed) = (0, 0, 0);
        for slot in
            keeper::files(&self.pool, |f| f.dirty_pages.load(SeqCst) > 0 || f.flush_lock.holder().is_some())
        {
            match self.flush(slot, durable) {
                Ok(_) => flushed += 1,
                Err(e) => {
                    tracing::error!("{}: {e}", self.pool.segment().file(slot).name.text());
                    errno = if errno == 0 { e.0 } else { errno };
                    failed += 1;
                }
            }
        }
        if errno == 0 {
            (0, flushed)
        } else {
            (errno, failed)
        }
    }

    /// Stops: `mode` 0 unless programs are attached or bytes cannot be flushed, 1 in any case, 2 when no program is left.
    fn stop(&mut self, mode: u64, asker: u32) -> (i32, u64) {
        if mode == 2 {
            self.stop_when_empty = true;
            return (0, self.clients.attached(&self.pool, asker));
        }
        let bits = &self.pool.segment().header().modes;
        bits.fetch_or(modes::STOPPING, SeqCst);
        let attached = self.clients.attached(&self.pool, asker);
        let refused = if mode == 0 && attached > 0 { Some((libc::EBUSY, attached)) } else { None };
        let (errno, count) = refused.unwrap_or_else(|| self.flush_all(false));
        if errno != 0 && mode == 0 {
            self.pool.segment().header().modes.fetch_and(!modes::STOPPING, SeqCst);
            return (errno, count);
        }
        if errno != 0 {
            tracing::error!(
                "stopped by force: {count} files keep bytes that were not written ({})",
                Errno(errno)
            );
        }
        // Programs that stay attached learn of it at their next write, which then is the kernel's.
        for slot in keeper::files(&self.pool, |f| f.handed.load(SeqCst) != 0) {
            self.release(slot);
        }
        // Nobody new finds it; who asked learns from the end of the connection that it is over.
        let _ = fs::remove_file(self.shared.place.socket());
        self.done = true;
        (errno, count)
    }

    /// Deals with processes that have died: what they held is repaired, what they had written is flushed.
    fn bury(&mut self) {
        let dead = self.clients.scan(&self.pool);
        if dead.is_empty() {
            return;
        }
        // What they handed over before they died is needed now.
        self.answer_all();
        for slot in dead {
            // Between the look and now, nobody else may have touched it; looked at again all the same, as a mistake here takes a living program's files.
            if !self.clients.is_gone(&self.pool, slot) {
                continue;
            }
            let begun = self.pool.segment().client(slot).state.load(SeqCst) == state::DEAD;
            if !begun && !self.pool.begin_recovery(slot) {
                continue;
            }
            let found = self.pool.repair(self.who, slot);
            let mut files = HashSet::new();
            self.pool.for_entries(slot, |_, description| {
                files.insert(self.pool.segment().description(description).file.load(Relaxed));
            });
            for file in files {
                self.flush_quietly(file);
            }
            tracing::info!(
                "client {slot} is gone: {} locks and {} slots recovered",
                found.locks,
                found.slots
            );
            self.pool.release_client(self.who, slot);
            self.clients.forget(&self.pool, slot);
        }
    }

    fn release(&mut self, slot: u32) {
        if let Some(descriptor) = keeper::release(&self.pool, slot) {
            self.closer.close(descriptor);
        }
    }

    fn give_up_idle(&mut self) {
        for descriptor in keeper::give_up_idle(&self.pool) {
            self.closer.close(descriptor);
        }
    }

    /// Takes back what killed processes have left counted, once nobody is left.
    fn settle_counts(&self) {
        let settled = if self.clients.is_empty() { self.pool.settle_counts() } else { 0 };
        if settled > 0 {
            tracing::info!("{settled} files were still counted as open by processes that were killed");
        }
    }

    /// Flushes a file for which nobody waits; a failure is tried again later.
    fn flush_quietly(&mut self, slot: u32) {
        match self.flush(slot, false) {
            Ok(_) => {
                self.retry.remove(&slot);
            }
            Err(errno) => {
                let again = Instant::now() + self.shared.config.flush.retry_interval.duration();
                if self.retry.insert(slot, (again, errno)).is_none_or(|(_, before)| before != errno) {
                    let name = self.pool.segment().file(slot).name.text();
                    tracing::error!(
                        "{name}: flush failed: {errno}; its bytes stay in the pool and are tried again"
                    );
                }
            }
        }
    }

    fn look_round(&mut self) {
        if let Some(lock) = self.pool.segment().take_held_up() {
            lock.press(self.pool.segment());
        }
        // What somebody else has flushed meanwhile needs no other attempt.
        let pool = &self.pool;
        self.retry.retain(|&slot, _| pool.segment().file(slot).dirty_pages.load(SeqCst) > 0);
        let left = keeper::files(&self.pool, |f| f.dirty_pages.load(SeqCst) > 0 && f.opens.load(SeqCst) == 0);
        let old = organizer::due(&self.pool, &self.shared.config, sys::monotonic_ns());
        let now = Instant::now();
        for slot in left.into_iter().chain(old) {
            if self.retry.get(&slot).is_none_or(|(again, _)| *again <= now) {
                self.flush_quietly(slot);
            }
        }
        self.settle_counts();
        self.give_up_idle();
        self.end_if_unneeded();
    }

    fn end_if_unneeded(&mut self) {
        let unheld = self.shared.lifetime == Lifetime::WhileHeld
            && self.sessions.is_empty()
            && (self.held || self.begun.elapsed() > FIRST_HOLD);
        if (unheld || self.stop_when_empty)
            && self.retry.is_empty()
            && self.clients.attached(&self.pool, 0) == 0
        {
            // Refused when somebody comes at this moment or bytes cannot be written: then it stays.
            self.stop(0, 0);
        }
    }
}

/// Repairs what the worker before this one held when it was killed.
fn recover_own(pool: &Pool, who: Caller) {
    // Locks that the dead worker holds count as a dead client's while they are being taken over.
    pool.segment().client(0).state.store(state::DEAD, SeqCst);
    pool.segment().header().modes.fetch_and(!modes::SETTLING, SeqCst);
    let found = pool.repair(who, 0);
    tracing::info!("recovered {} locks and {} slots of the worker before", found.locks, found.slots);
}

/// Enters the worker in its client slot, so that who waits for a lock of its can see whether it lives.
fn become_client(pool: &Pool) {
    let client = pool.segment().client(0);
    let pid = std::process::id();
    client.start.store(sys::process_state(pid).map_or(0, |(_, began)| began), Relaxed);
    client.command.set(b"millpond coordinator");
    client.name.set(millpond_pool::COORDINATOR_NAME);
    client.set_process(Process::here(pid));
    client.state.store(state::LIVE, SeqCst);
}
