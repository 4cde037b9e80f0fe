//! Operations under unusual circumstances, and operations that run at once and still have one outcome.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};

use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::{Beside, Scope, ScopeOp};
use crate::script::Op;

/// User and group that a process takes on for a while.
const OTHER_ID: u32 = 65_534;
/// Most members of what runs at once.
const MEMBERS_MAX: u8 = 4;
/// Times that each of them goes over its range.
const ROUNDS: u32 = 3;
/// Bytes that the signal handler writes each time.
const HANDLED_LEN: usize = 512;

/// Number of `SIGXFSZ` that came.
static EXCEEDED: AtomicU32 = AtomicU32::new(0);
/// What the handler of `SIGUSR1` works on, and whether all went well in it.
static HANDLED_FD: AtomicI32 = AtomicI32::new(-1);
static HANDLED_AT: AtomicU32 = AtomicU32::new(0);
static HANDLED_WELL: AtomicBool = AtomicBool::new(true);

extern "C" fn on_exceeded(_signal: libc::c_int) {
    EXCEEDED.fetch_add(1, SeqCst);
}

/// Writes a range and reads it back, in the middle of whatever was interrupted.
extern "C" fn on_signal(_signal: libc::c_int) {
    let (fd, at) = (HANDLED_FD.load(SeqCst), i64::from(HANDLED_AT.load(SeqCst)));
    let mut bytes = [0x5a_u8; HANDLED_LEN];
    // SAFETY: buffers and lengths agree; `errno` is put back.
    unsafe {
        let errno = *libc::__errno_location();
        let wrote = libc::pwrite(fd, bytes.as_ptr().cast(), HANDLED_LEN, at);
        bytes.fill(0);
        let read = libc::pread(fd, bytes.as_mut_ptr().cast(), HANDLED_LEN, at);
        *libc::__errno_location() = errno;
        let whole = HANDLED_LEN as isize;
        if wrote != whole || read != whole || bytes.iter().any(|byte| *byte != 0x5a) {
            HANDLED_WELL.store(false, SeqCst);
        }
    }
}

fn install(signal: i32, handler: extern "C" fn(libc::c_int)) -> libc::sigaction {
    // SAFETY: integers and pointers, for which zero is a value.
    let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both structures outlive the call.
    unsafe { libc::sigaction(signal, &action, &mut before) };
    before
}

fn restore(signal: i32, action: &libc::sigaction) {
    // SAFETY: the structure outlives the call.
    unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Sets a soft limit; gives the one before.
fn limit(resource: libc::__rlimit_resource_t, most: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the calls.
    unsafe {
        libc::getrlimit(resource, &mut limit);
        let before = limit.rlim_cur;
        limit.rlim_cur = most.min(limit.rlim_max);
        libc::setrlimit(resource, &limit);
        before
    }
}

/// Writes one member's range over and over, and reads it back each time; gives what was wrong, 0 if nothing.
fn work(fd: i32, member: u32, start: u32, len: u32, seed: u32) -> i64 {
    let at = i64::from(start) + i64::from(member) * i64::from(len);
    let bytes = data::pattern(seed.wrapping_add(member), len as usize);
    let mut back = vec![0_u8; bytes.len()];
    for round in 0..ROUNDS {
        // SAFETY: pointers and lengths are those of live buffers.
        let (wrote, read) = unsafe {
            let wrote = libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), at);
            (wrote, libc::pread(fd, back.as_mut_ptr().cast(), back.len(), at))
        };
        if wrote != bytes.len() as isize || read != wrote || back != bytes {
            return i64::from(round) + 1;
        }
    }
    0
}

impl Process {
    pub(super) fn scope_op(&mut self, at: &str, op: &ScopeOp) -> String {
        match op {
            ScopeOp::Within { scope, ops } => self.within(at, *scope, ops),
            ScopeOp::AtOnce { slot, beside, members, start, len, seed } => {
                let fd = self.fd(*slot);
                // Where bytes land in any order, or cannot be read back, nothing is certain.
                // SAFETY: takes no memory.
                let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
                if flags < 0 || flags & libc::O_ACCMODE != libc::O_RDWR {
                    return "not for both".into();
                }
                if flags & (libc::O_APPEND | libc::O_DIRECT | libc::O_PATH) != 0 {
                    return "no offsets".into();
                }
                let members = u32::from((*members).clamp(1, MEMBERS_MAX));
                let results = match beside {
                    Beside::Threads => at_once(members, |member| work(fd, member, *start, *len, *seed)),
                    Beside::Forks => beside_forks(fd, members, *start, *len, *seed),
                    Beside::Signals => vec![beside_signals(fd, members, *start, *len, *seed)],
                    Beside::Files => at_once(members, |member| own_file(member, *len, *seed)),
                    Beside::Duplicates => {
                        at_once(members, |member| through_duplicate(fd, member, *start, *len, *seed))
                    }
                };
                format!("{results:?}{}", self.position(fd))
            }
        }
    }

    fn within(&mut self, at: &str, scope: Scope, ops: &[Op]) -> String {
        match scope {
            Scope::ByNumber => {
                let before = calls::set_by_number(true);
                self.perform_all(at, ops);
                calls::set_by_number(before);
                String::new()
            }
            Scope::OtherUser => {
                // SAFETY: takes no memory.
                let taken = Outcome::of(|| unsafe { libc::setegid(OTHER_ID) | libc::seteuid(OTHER_ID) });
                self.perform_all(at, ops);
                // SAFETY: takes no memory.
                let back = Outcome::of(|| unsafe { libc::seteuid(0) | libc::setegid(0) });
                format!("{taken} {back}")
            }
            Scope::FileSize(most) => {
                EXCEEDED.store(0, SeqCst);
                let action = install(libc::SIGXFSZ, on_exceeded);
                let before = limit(libc::RLIMIT_FSIZE, most);
                self.perform_all(at, ops);
                limit(libc::RLIMIT_FSIZE, before);
                restore(libc::SIGXFSZ, &action);
                format!("signals {}", EXCEEDED.load(SeqCst))
            }
            Scope::Descriptors(more) => {
                // SAFETY: takes no memory; finds the lowest number that is free.
                let lowest = unsafe {
                    let free = libc::dup(1);
                    libc::close(free);
                    free
                };
                let before = limit(libc::RLIMIT_NOFILE, u64::from(more) + lowest.max(0) as u64);
                self.perform_all(at, ops);
                limit(libc::RLIMIT_NOFILE, before);
                String::new()
            }
        }
    }
}

/// Runs members in threads and gathers what each says.
fn at_once(members: u32, member: impl Fn(u32) -> i64 + Sync) -> Vec<i64> {
    let member = &member;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..members).map(|number| scope.spawn(move || member(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(-2)).collect()
    })
}

/// One thread writes while this one forks children, each of which writes a range of its own.
fn beside_forks(fd: i32, members: u32, start: u32, len: u32, seed: u32) -> Vec<i64> {
    let bytes: Vec<Vec<u8>> =
        (1..=members).map(|member| data::pattern(seed.wrapping_add(member), len as usize)).collect();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || work(fd, 0, start, len, seed));
        let children: Vec<i32> = (1..=members)
            .zip(&bytes)
            .map(|(member, bytes)| {
                let at = i64::from(start) + i64::from(member) * i64::from(len);
                // SAFETY: the child makes a write and ends; it takes no lock that another thread may hold.
                match unsafe { libc::fork() } {
                    // SAFETY: pointer and length are those of a live buffer.
                    0 => unsafe {
                        let wrote = libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), at);
                        libc::_exit(i32::from(wrote != bytes.len() as isize))
                    },
                    child => child,
                }
            })
            .collect();
        let mut results: Vec<i64> = children
            .into_iter()
            .map(|child| {
                let mut status = 0;
                // SAFETY: the status outlives the call.
                unsafe { libc::waitpid(child, &mut status, 0) };
                status.into()
            })
            .collect();
        results.push(writer.join().unwrap_or(-2));
        results
    })
}

/// Writes while another thread sends signals, whose handler writes behind all ranges.
fn beside_signals(fd: i32, members: u32, start: u32, len: u32, seed: u32) -> i64 {
    HANDLED_FD.store(fd, SeqCst);
    HANDLED_AT.store(start + (members + 1) * len, SeqCst);
    HANDLED_WELL.store(true, SeqCst);
    let action = install(libc::SIGUSR1, on_signal);
    let done = AtomicBool::new(false);
    // SAFETY: takes nothing.
    let this = unsafe { libc::pthread_self() } as usize;
    let result = std::thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            while !done.load(SeqCst) {
                // SAFETY: the thread waits for this one to end.
                unsafe { libc::pthread_kill(this as libc::pthread_t, libc::SIGUSR1) };
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        let result = (0..members).map(|member| work(fd, member, start, len, seed)).sum();
        done.store(true, SeqCst);
        result
    });
    // The last one, which is certain to come.
    // SAFETY: the handler is installed.
    unsafe { libc::raise(libc::SIGUSR1) };
    restore(libc::SIGUSR1, &action);
    if HANDLED_WELL.load(SeqCst) {
        result
    } else {
        -1
    }
}

/// Opens, writes, reads and closes a file of a name of one's own.
fn own_file(member: u32, len: u32, seed: u32) -> i64 {
    let name = std::ffi::CString::new(format!("d/own-{member}")).expect("no null bytes");
    for _ in 0..ROUNDS {
        // SAFETY: the name is a live C string.
        let fd = unsafe { libc::open(name.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC, 0o644) };
        if fd < 0 {
            return -1;
        }
        let result = work(fd, member, 0, len, seed);
        // SAFETY: takes no memory.
        if unsafe { libc::close(fd) } != 0 || result != 0 {
            return result - 1;
        }
    }
    0
}

/// Writes through a duplicate.
fn through_duplicate(fd: i32, member: u32, start: u32, len: u32, seed: u32) -> i64 {
    for _ in 0..ROUNDS {
        // SAFETY: takes no memory.
        let copy = unsafe { libc::dup(fd) };
        let result = work(copy, member, start, len, seed);
        // SAFETY: takes no memory.
        if unsafe { libc::close(copy) } != 0 || result != 0 {
            return result - 1;
        }
    }
    0
}
