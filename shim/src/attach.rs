//! Attaching to the node's segment: one question to the coordinator, at the first file of a store.
//!
//! Every wait is bounded. Without an answer, the program goes on with the kernel alone.

use crate::numbers::lift;
use crate::{errno, process, report, stores};
use millpond_pool::{Caller, Claim, Pool};
use millpond_segment::account::Escape;
use millpond_segment::client::{state, COMMAND_BYTES};
use millpond_segment::nesting;
use millpond_segment::sys::{self, Errno, Process};
use millpond_segment::wire::{Kind, Message, BYTES};
use millpond_segment::{AttachError, Run, Segment};
use once_cell::sync::OnceCell;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst,
};

/// How long a new program waits for the coordinator, in milliseconds.
const HELLO_WAIT_MS: i64 = 10_000;
/// The same for a program that was handed descriptors by the image before it: without its answer, they would be one thing here and another there.
const ADOPTION_WAIT_MS: i64 = 60_000;
/// How long a request waits for its answer.
const REQUEST_WAIT_MS: i64 = 60_000;
/// How long a descriptor may wait for room in the coordinator's socket.
const SEND_WAIT_MS: i64 = 10_000;
/// Further attempts when what is asked for is held up: some five seconds, as the coordinator waits a quarter of one itself.
const BUSY_AGAIN: u32 = 20;
/// How often a question is asked again, every 50 ms, when the coordinator's worker has died over it.
const ASK_AGAIN: u32 = 20;
const SOCKET_PATH: usize = 108;

/// The coordinator's socket, padded with zeros.
static SOCKET: OnceCell<[u8; SOCKET_PATH]> = OnceCell::new();
/// The connection, -1 when there is none.
static LINK: AtomicI32 = AtomicI32::new(-1);
/// Its inode, by which it is known.
static LINK_INODE: AtomicU64 = AtomicU64::new(0);
/// Process that is attaching, 0 when none; `u32::MAX` when it has been tried in vain.
static ATTACHING: AtomicU32 = AtomicU32::new(0);

/// Notes the coordinator's socket. Called once, by the constructor.
pub fn set_socket(path: &[u8]) {
    if path.is_empty() || path.len() >= SOCKET_PATH {
        return;
    }
    let mut padded = [0; SOCKET_PATH];
    padded[..path.len()].copy_from_slice(path);
    let _ = SOCKET.set(padded);
}

/// The process is about to restrict its system calls: what it has open becomes the kernel's, and nothing new is buffered.
pub fn lock_in() {
    if is_possible() {
        crate::managed::for_each(|m| m.release_quietly(millpond_segment::stats::Reason::LockedIn));
        report::note(Escape::LockedIn);
        // Afterwards, calls of ours could end the process.
        report::at_end();
        process::lock_in();
        forget_link();
    }
}

/// Closes the connection, which a process that is on its own has no use for: hiding it from the program takes calls of ours.
fn forget_link() {
    let link = LINK.load(Relaxed);
    let ours = is_ours(link);
    LINK.store(-1, Relaxed);
    if ours {
        sys::close(link);
    }
}

/// Whether this process could be attached.
pub fn is_possible() -> bool {
    !process::is_locked_in() && SOCKET.get().is_some() && stores::any() && process::is_prepared()
}

/// The number of our connection, -1 when there is none; not for the program to close.
pub fn own_descriptor() -> i32 {
    LINK.load(Relaxed)
}

/// Whether `fd` is our connection. The program does not know of it: to it, the number is not open.
#[inline]
pub fn is_own(fd: i32) -> bool {
    fd >= 0 && fd == LINK.load(Relaxed) && is_ours(fd)
}

/// Whether entry `name` of directory `dir` leads to our connection, as one in a directory of descriptors does.
pub fn leads_to_own(dir: i32, name: &CStr) -> bool {
    let inode = LINK_INODE.load(Relaxed);
    inode != 0
        && sys::stat_at(dir, name, 0).is_ok_and(|s| s.ino == inode && s.mode & libc::S_IFMT == libc::S_IFSOCK)
}

/// The pool, attaching now if need be. `None` when there is no coordinator, or for a `vfork` child of a process that is not attached.
pub fn pool() -> Option<(&'static Pool, Caller)> {
    if let Some(found) = process::attached() {
        return Some(found);
    }
    if !is_possible() || process::is_vfork_child() {
        return None;
    }
    attach(None)
}

/// Attaches; takes client slot `adopt`, which this process had before an `exec`, instead of a new one.
pub fn attach(adopt: Option<u32>) -> Option<(&'static Pool, Caller)> {
    let me = sys::gettid();
    loop {
        match ATTACHING.compare_exchange(0, me, SeqCst, Acquire) {
            Ok(_) => break,
            // In vain before, or this very thread, interrupted by a handler.
            Err(u32::MAX) => return None,
            Err(other) if other == me => return None,
            Err(other) => {
                if !is_thread_of_ours(other) {
                    // The parent's, caught by a fork that nobody saw.
                    let _ = ATTACHING.compare_exchange(other, 0, SeqCst, Relaxed);
                    continue;
                }
                sys::futex_wait(&ATTACHING, other, 20_000_000);
                if let Some(found) = process::attached() {
                    return Some(found);
                }
            }
        }
    }
    let attached = errno::preserving(|| process::attached().is_some() || connect_and_map(adopt));
    ATTACHING.store(if attached { 0 } else { u32::MAX }, SeqCst);
    sys::futex_wake(&ATTACHING, u32::MAX >> 1);
    process::attached()
}

/// Whether this process has a thread of that number.
fn is_thread_of_ours(thread: u32) -> bool {
    // SAFETY: no pointers, and no signal is sent.
    let asked =
        unsafe { sys::syscall(libc::SYS_tgkill, [sys::getpid() as usize, thread as usize, 0, 0, 0, 0]) };
    asked != Err(Errno(libc::ESRCH))
}

/// In a forked child: attaching that was under way in another thread of the parent is not under way here.
pub fn after_fork_in_child() {
    if ATTACHING.load(Relaxed) != u32::MAX {
        ATTACHING.store(0, Relaxed);
    }
}

/// Set when there is a coordinator, but no room for its segment in this process, or none for this process in the segment.
static NO_ROOM: AtomicBool = AtomicBool::new(false);

/// Before a process without room uses a file of a store: what waits for the file's sake is written, as nobody here can look at it.
pub fn flush_without_room() {
    if NO_ROOM.load(Relaxed) {
        let _ = ask_once(&Message::new(Kind::Flush, millpond_segment::wire::ALL));
    }
}

fn connect_and_map(adopt: Option<u32>) -> bool {
    let wait = if adopt.is_some() { ADOPTION_WAIT_MS } else { SEND_WAIT_MS };
    let Ok(link) = connect(wait) else {
        report::note(Escape::NoCoordinator);
        return false;
    };
    let mut pid = 0;
    let mapped = hello(link, if adopt.is_some() { ADOPTION_WAIT_MS } else { HELLO_WAIT_MS }).and_then(
        |(fd, answer)| {
            // SAFETY: the descriptor came with the answer and is open until the line below.
            let segment = Segment::attach(unsafe { BorrowedFd::borrow_raw(fd) });
            sys::close(fd);
            match segment {
                Ok(segment) if answer.kind == Kind::Welcome => {
                    pid = answer.b as u32;
                    process::set_coordinators_space(answer.c as u32, pid);
                    Some(segment)
                }
                Ok(_) => None,
                Err(AttachError::Map { .. }) => {
                    // The program's own limit: nothing that it wants to read of.
                    NO_ROOM.store(true, Relaxed);
                    None
                }
                Err(e) => {
                    complain(&e);
                    None
                }
            }
        },
    );
    let Some(segment) = mapped else {
        let why = if NO_ROOM.load(Relaxed) { Escape::NoMemory } else { Escape::NoCoordinator };
        report::note(why);
        sys::close(link);
        return false;
    };
    let pool = Pool::new(segment);
    let Some(slot) = adopt.or_else(|| claim(&pool, pid)) else {
        NO_ROOM.store(true, Relaxed);
        report::note(Escape::NoClient);
        sys::close(link);
        return false;
    };
    keep_link(link);
    crate::start::guard_copies();
    if !process::set_attached(pool, slot) {
        return false;
    }
    if let Some((pool, who)) = process::attached() {
        report::deliver(pool, who);
    }
    true
}

/// A client slot for this process, which the coordinator knows as `pid`.
fn claim(pool: &Pool, pid: u32) -> Option<u32> {
    let (who, mut buf) = (Identity::read(), [0; COMMAND_BYTES]);
    let claim = Claim {
        process: Process::here(pid),
        start: 0,
        command: who.command(&mut buf),
        name: who.name(),
        run: run(),
        state: state::LIVE,
        parent: None,
    };
    // The image before an `exec` that had nothing to hand on left its slot behind, under the one name or the other.
    pool.reclaim_client(claim)
        .or_else(|| pool.reclaim_client(Claim { process: process::identity(), ..claim }))
        .or_else(|| pool.claim_client(claim))
}

/// The run that this program belongs to.
static RUN: AtomicU64 = AtomicU64::new(0);

/// Notes the run. Called once, by the constructor.
pub fn set_run(text: &[u8]) {
    let number = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
    RUN.store(number.unwrap_or(Run::NONE.0), Relaxed);
}

/// The run that this program belongs to, and its children.
pub fn run() -> Run {
    Run(RUN.load(Relaxed))
}

/// The program's name and arguments, as far as they fit.
pub struct Identity {
    words: [u8; 256],
    len: usize,
}

impl Identity {
    /// As the kernel has them now.
    pub fn read() -> Self {
        let mut words = [0u8; 256];
        let fd = sys::openat(libc::AT_FDCWD, c"/proc/self/cmdline", libc::O_RDONLY | libc::O_CLOEXEC, 0).ok();
        let len = fd.map_or(0, |fd| {
            // SAFETY: words is ours and as long as said.
            let n = unsafe {
                sys::syscall(libc::SYS_read, [fd as usize, words.as_mut_ptr() as usize, words.len(), 0, 0, 0])
            };
            sys::close(fd);
            n.unwrap_or(0)
        });
        Self { words, len }
    }

    /// The last part of the path that the program was called by.
    pub fn name(&self) -> &[u8] {
        last_part(self.words[..self.len].split(|&b| b == 0).next().unwrap_or(b""))
    }

    /// All words, parted by blanks, for the inspector.
    pub fn command<'a>(&self, buf: &'a mut [u8; COMMAND_BYTES]) -> &'a [u8] {
        buf.copy_from_slice(&self.words[..COMMAND_BYTES]);
        let words = &mut buf[..self.len.min(COMMAND_BYTES)];
        words.iter_mut().filter(|b| **b == 0).for_each(|b| *b = b' ');
        words.trim_ascii_end()
    }
}

/// What stands behind the last slash.
pub fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|&b| b == b'/').next().unwrap_or(path)
}

fn complain(e: &AttachError) {
    use std::io::Write;
    let mut line = [0u8; 512];
    let mut at = &mut line[..];
    let _ = writeln!(at, "millpond: {e}");
    let left = at.len();
    let used = line.len() - left;
    sys::complain(std::str::from_utf8(&line[..used]).unwrap_or("millpond: the segment cannot be used\n"));
}

/// A new connection, on a high descriptor.
fn connect(wait_ms: i64) -> Result<i32, Errno> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let fd = unsafe { sys::syscall(libc::SYS_socket, [libc::AF_UNIX as usize, kind as usize, 0, 0, 0, 0])? }
        as i32;
    let fd = lift(fd);
    // SAFETY: all-zero is a value of sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sun_family = libc::AF_UNIX as u16;
    let path = SOCKET.get().ok_or(Errno(libc::ENOENT))?;
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    set_timeout(fd, libc::SO_SNDTIMEO, wait_ms);
    // SAFETY: the address is valid and as long as said.
    let connected = unsafe {
        sys::syscall(
            libc::SYS_connect,
            [fd as usize, &raw const address as usize, size_of::<libc::sockaddr_un>(), 0, 0, 0],
        )
    };
    connected.map(|_| fd).inspect_err(|_| sys::close(fd))
}

fn set_timeout(fd: i32, which: i32, ms: i64) {
    let time = libc::timeval { tv_sec: ms / 1000, tv_usec: (ms % 1000) * 1000 };
    // SAFETY: the option's value is a timeval.
    let _ = unsafe {
        sys::syscall(
            libc::SYS_setsockopt,
            [
                fd as usize,
                libc::SOL_SOCKET as usize,
                which as usize,
                &raw const time as usize,
                size_of::<libc::timeval>(),
                0,
            ],
        )
    };
}

fn hello(link: i32, wait_ms: i64) -> Option<(i32, Message)> {
    send(link, &Message::new(Kind::Hello, u64::from(sys::getpid())), None).ok()?;
    set_timeout(link, libc::SO_RCVTIMEO, wait_ms);
    let (message, fd) = receive(link).ok()?;
    Some((fd?, message))
}

/// A message with room for one descriptor beside it.
#[repr(C, align(8))]
struct Control([u8; 24]);

fn send(link: i32, message: &Message, fd: Option<i32>) -> Result<(), Errno> {
    let bytes = message.encode();
    let part = libc::iovec { iov_base: bytes.as_ptr() as *mut _, iov_len: bytes.len() };
    let mut control = Control([0; 24]);
    // SAFETY: all-zero is a value of msghdr; what it points to lives until the call returns; the control buffer has room for
    // a header and one descriptor (CMSG_SPACE(4) = 24).
    unsafe {
        let mut header: libc::msghdr = MaybeUninit::zeroed().assume_init();
        header.msg_iov = &raw const part as *mut _;
        header.msg_iovlen = 1;
        if let Some(fd) = fd {
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = 24;
            let cmsg = libc::CMSG_FIRSTHDR(&header);
            (*cmsg).cmsg_level = libc::SOL_SOCKET;
            (*cmsg).cmsg_type = libc::SCM_RIGHTS;
            (*cmsg).cmsg_len = libc::CMSG_LEN(4) as usize;
            libc::CMSG_DATA(cmsg).cast::<i32>().write_unaligned(fd);
        }
        loop {
            match sys::syscall(
                libc::SYS_sendmsg,
                [link as usize, &raw const header as usize, libc::MSG_NOSIGNAL as usize, 0, 0, 0],
            ) {
                Err(Errno(libc::EINTR)) => {}
                other => return other.map(drop),
            }
        }
    }
}

fn receive(link: i32) -> Result<(Message, Option<i32>), Errno> {
    let mut bytes = [0u8; BYTES];
    let part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: BYTES };
    let mut control = Control([0; 24]);
    // SAFETY: as for sending.
    unsafe {
        let mut header: libc::msghdr = MaybeUninit::zeroed().assume_init();
        header.msg_iov = &raw const part as *mut _;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = 24;
        let n = loop {
            match sys::syscall(
                libc::SYS_recvmsg,
                [link as usize, &raw mut header as usize, libc::MSG_CMSG_CLOEXEC as usize, 0, 0, 0],
            ) {
                Err(Errno(libc::EINTR)) => {}
                other => break other?,
            }
        };
        let cmsg = libc::CMSG_FIRSTHDR(&header);
        let fd = (!cmsg.is_null() && (*cmsg).cmsg_type == libc::SCM_RIGHTS)
            .then(|| libc::CMSG_DATA(cmsg).cast::<i32>().read_unaligned());
        Message::decode(&bytes[..n]).map(|m| (m, fd)).ok_or(Errno(libc::EPROTO))
    }
}

/// Sends a message that is not answered, with a descriptor.
///
/// # Errors
/// When the coordinator is gone or does not take it within the bound.
pub fn tell(message: &Message, fd: i32) -> Result<(), Errno> {
    let link = LINK.load(Relaxed);
    let ours = is_ours(link);
    if ours && send(link, message, Some(fd)).is_ok() {
        return Ok(());
    }
    // It is gone (a program that closed everything, a coordinator started anew): once more by a new one.
    let fresh = connect(SEND_WAIT_MS)?;
    send(fresh, message, Some(fd)).inspect_err(|_| sys::close(fresh))?;
    keep_link(fresh);
    if ours {
        sys::close(link);
    }
    Ok(())
}

/// Sends a message that is not answered and need not arrive. Whether it was sent.
pub fn mention(message: &Message) -> bool {
    let link = LINK.load(Relaxed);
    is_ours(link) && send(link, message, None).is_ok()
}

fn keep_link(link: i32) {
    LINK_INODE.store(sys::stat_fd(link).map_or(0, |s| s.ino), Relaxed);
    LINK.store(link, Relaxed);
}

/// Whether descriptor `link` still is our connection, and not something of the program's under the same number.
fn is_ours(link: i32) -> bool {
    link >= 0 && sys::stat_fd(link).is_ok_and(|s| s.ino == LINK_INODE.load(Relaxed) && s.ino != 0)
}

/// Moves our connection away from number `fd`, which the program wants for itself.
pub fn make_way(fd: i32) {
    if LINK.load(Relaxed) == fd && is_ours(fd) {
        if let Ok(other) = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, fd as usize + 1) {
            LINK.store(other as i32, Relaxed);
            sys::close(fd);
        }
    }
}

/// Asks the coordinator and waits for its answer, on a connection of its own.
///
/// # Errors
/// The error number in the answer, or that of the connection.
pub fn ask(message: &Message) -> Result<u64, Errno> {
    let mut answer = ask_past_deaths(message);
    // Somebody is in the middle of a page, and may be for long: in a signal handler. If this thread is in the middle of one itself, or was
    // forked there, it may be the one.
    for _ in 0..BUSY_AGAIN {
        if answer != Err(Errno(libc::EBUSY)) || nesting::mark().is_some() {
            break;
        }
        sys::sleep_ns(20_000_000);
        answer = ask_past_deaths(message);
    }
    answer
}

fn ask_past_deaths(message: &Message) -> Result<u64, Errno> {
    let mut answer = ask_once(message);
    for _ in 0..ASK_AGAIN {
        // A worker that died between the question and the answer; the next one is there in a moment, and all questions may be asked twice.
        if !matches!(answer, Err(Errno(libc::ECONNRESET | libc::EPIPE | libc::ECONNREFUSED | libc::EPROTO))) {
            break;
        }
        sys::sleep_ns(50_000_000);
        answer = ask_once(message);
    }
    answer
}

fn ask_once(message: &Message) -> Result<u64, Errno> {
    let link = connect(SEND_WAIT_MS)?;
    set_timeout(link, libc::SO_RCVTIMEO, REQUEST_WAIT_MS);
    let answer = send(link, message, None).and_then(|()| receive(link));
    sys::close(link);
    let (answer, fd) = answer?;
    if let Some(fd) = fd {
        sys::close(fd);
    }
    match answer {
        Message { kind: Kind::Done, a: 0, b, .. } => Ok(b),
        Message { kind: Kind::Done | Kind::Refused, a, .. } => Err(Errno(a as i32)),
        _ => Err(Errno(libc::EPROTO)),
    }
}
