//! The constructor: what has to be in place before the program's first call.
//!
//! A call that comes before it (from another library's constructor) is let by to the kernel.

use crate::exec::{self, ADOPT};
use crate::fault::{self, RealSigaction};
use crate::hooks::{Row, GROUPS};
use crate::patch::{self, Outcome, Request};
use crate::{aside, attach, errno, ops, process, report, stores};
use millpond_segment::client::{state, COMMAND_BYTES};
use millpond_segment::stats::Reason;
use millpond_segment::{copy, sys};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

static READY: AtomicBool = AtomicBool::new(false);
static SIGACTION: AtomicUsize = AtomicUsize::new(0);

#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: extern "C" fn() = construct;

/// Whether the constructor has run and found what it needs.
pub fn is_ready() -> bool {
    READY.load(Acquire)
}

fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: libc's environment; the constructor runs before there are other threads.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

#[used]
#[link_section = ".fini_array"]
static DESTRUCTOR: extern "C" fn() = destruct;

extern "C" fn destruct() {
    let _ = std::panic::catch_unwind(ops::unseen::at_exit);
}

extern "C" fn construct() {
    let _ = std::panic::catch_unwind(|| errno::preserving(set_up));
}

fn set_up() {
    let (Some(socket), Some(list)) = (variable(c"MILLPOND_SOCKET"), variable(c"MILLPOND_STORES")) else {
        return;
    };
    attach::set_run(variable(c"MILLPOND_RUN").map_or(b"", CStr::to_bytes));
    process::prepare();
    stores::load(list.to_bytes());
    attach::set_socket(socket.to_bytes());
    if !attach::is_possible() {
        return;
    }
    std::panic::set_hook(Box::new(|info| {
        use std::io::Write;
        let mut line = [0u8; 512];
        let mut at = &mut line[..];
        let _ = writeln!(at, "millpond: internal error, the call goes to the kernel: {info}");
        let left = at.len();
        sys::complain(std::str::from_utf8(&line[..512 - left]).unwrap_or("millpond: internal error\n"));
    }));
    if variable(c"MILLPOND_REPORT").is_some_and(|v| v.to_bytes() == b"1") {
        report::want();
    }
    exec::remember_environment(variable);
    for row in GROUPS.iter().flat_map(|g| g.iter()).filter(|r| r.exported) {
        row.next.resolve();
    }
    // SAFETY: the name is a C string.
    SIGACTION.store(unsafe { libc::dlsym(libc::RTLD_NEXT, c"sigaction".as_ptr()) } as usize, Relaxed);
    ops::data::note_size_limit();
    patch_entries();
    // A name that this libc does not have leaves a message behind, which would be taken for one of the program's.
    // SAFETY: no arguments.
    unsafe { libc::dlerror() };
    if variable(c"MILLPOND_EXCLUDE").is_some_and(is_excluded) {
        aside::step(Reason::Excluded);
    }
    READY.store(true, Release);
    inherit();
    if let Some(why) = aside::why() {
        // What the image before has handed on.
        aside::step(why);
    }
}

/// Whether this program is one of those that are named, by the name of its executable or the one that it was called by.
fn is_excluded(names: &CStr) -> bool {
    extern "C" {
        /// The program's first word, as libc keeps it.
        static program_invocation_name: *const libc::c_char;
    }
    let last = |path: &[u8]| path.rsplit(|&b| b == b'/').next().unwrap_or(path).to_vec();
    let mut link = [0u8; 512];
    let call = [
        libc::AT_FDCWD as usize,
        c"/proc/self/exe".as_ptr() as usize,
        link.as_mut_ptr() as usize,
        link.len(),
        0,
        0,
    ];
    // SAFETY: a C string, and a buffer that is as long as said.
    let n = unsafe { sys::syscall(libc::SYS_readlinkat, call) }.unwrap_or(0);
    let executable = last(&link[..n]);
    // SAFETY: libc has set it before any constructor runs: null, or a C string.
    let called = unsafe {
        if program_invocation_name.is_null() {
            Vec::new()
        } else {
            last(CStr::from_ptr(program_invocation_name).to_bytes())
        }
    };
    names
        .to_bytes()
        .split(|&b| b == b':')
        .any(|name| !name.is_empty() && (name == executable || name == called))
}

/// Patches libc's entries. Where that is not allowed, the exported symbols work alone.
fn patch_entries() {
    let mut requests = [const { None::<(&Row, Request)> }; patch::MAX_REQUESTS];
    let mut count = 0;
    for row in GROUPS.iter().flat_map(|g| g.iter()) {
        if let Some(handler) = row.handler {
            requests[count] = Some((row, Request { symbol: row.next.name(), handler }));
            count += 1;
        }
    }
    let mut asked = [const { Request { symbol: c"", handler: std::ptr::null() } }; patch::MAX_REQUESTS];
    let mut rows: [Option<&Row>; patch::MAX_REQUESTS] = [None; patch::MAX_REQUESTS];
    for (i, entry) in requests.into_iter().take(count).enumerate() {
        if let Some((row, request)) = entry {
            rows[i] = Some(row);
            asked[i] = request;
        }
    }
    let mut outcomes = [Outcome::Missing; patch::MAX_REQUESTS];
    let text = patch::libc_text();
    let is_libc = |address: usize| text.is_some_and(|(start, end)| (start..end).contains(&address));
    let keep = |outcomes: &[Outcome]| {
        for (i, outcome) in outcomes.iter().enumerate() {
            let trampoline = match *outcome {
                Outcome::Patched(t) => t,
                Outcome::SameAs(j) => match outcomes[j] {
                    Outcome::Patched(t) => t,
                    _ => continue,
                },
                _ => continue,
            };
            if let Some(row) = rows[i] {
                row.next.patched(trampoline as usize, is_libc);
            }
        }
        alias_symbols(outcomes, &rows[..outcomes.len()], is_libc);
    };
    // An error leaves libc as it was.
    // SAFETY: the handlers have the signatures of their symbols and work from now on; no other thread exists yet.
    let done = unsafe { patch::patch_all_with(&asked[..count], &mut outcomes[..count], keep) };
    let refused =
        |i: usize| matches!(outcomes[i], Outcome::Refused(_)) && asked[i].symbol != patch::LAST_WORDS;
    if done.is_err() || (0..count).any(refused) {
        // Streams would go past the pool: one file seen by two of a program's own calls would be two files.
        aside::step(Reason::Unpatched);
        ops::unseen::note_quick_exit();
    }
}

/// Exported names that are not patched themselves but are other names of a patched entry (`open` of `open64`): they go to its
/// trampoline, so that their calls are not looked at twice.
fn alias_symbols(outcomes: &[Outcome], rows: &[Option<&Row>], is_libc: impl Fn(usize) -> bool) {
    const ALIASES: [(&CStr, &CStr); 12] = [
        (c"open", c"open64"),
        (c"openat", c"openat64"),
        (c"pread", c"pread64"),
        (c"pwrite", c"pwrite64"),
        (c"lseek", c"lseek64"),
        (c"fcntl", c"fcntl64"),
        (c"fstat", c"fstat64"),
        (c"stat", c"stat64"),
        (c"lstat", c"lstat64"),
        (c"ftruncate", c"ftruncate64"),
        (c"mmap", c"mmap64"),
        (c"_Exit", c"_exit"),
    ];
    for row in GROUPS.iter().flat_map(|g| g.iter()).filter(|r| r.exported && r.handler.is_none()) {
        let Some((_, target)) = ALIASES.iter().find(|(alias, _)| *alias == row.next.name()) else { continue };
        let patched = rows.iter().zip(outcomes).find(|(r, _)| r.is_some_and(|r| r.next.name() == *target));
        if let (Some((_, Outcome::Patched(trampoline))), true) = (patched, is_libc(row.next.symbol())) {
            row.next.patched(*trampoline as usize, &is_libc);
        }
    }
}

/// libc's `sigaction`, once the guard is in place.
pub fn real_sigaction() -> Option<RealSigaction> {
    let address = GUARD.load(Acquire).then(|| SIGACTION.load(Relaxed)).filter(|&a| a != 0)?;
    // SAFETY: the address is sigaction's.
    Some(unsafe { std::mem::transmute::<usize, RealSigaction>(address) })
}

static GUARD: AtomicBool = AtomicBool::new(false);

/// Takes over the two signals by which a bad pointer shows, before the first copy.
pub fn guard_copies() {
    let address = SIGACTION.load(Relaxed);
    if address == 0 || GUARD.load(Acquire) {
        return;
    }
    // SAFETY: the address is sigaction's; the landing addresses are made for it.
    unsafe { fault::install(copy::fixup, std::mem::transmute::<usize, RealSigaction>(address)) };
    GUARD.store(true, Release);
    settle_guard();
}

/// Copies are guarded while the kernel holds our handler for both signals.
pub fn settle_guard() {
    if GUARD.load(Acquire) {
        copy::set_guarded(fault::armed(libc::SIGSEGV) && fault::armed(libc::SIGBUS));
    }
}

/// Takes over the descriptors that this image was started with.
fn inherit() {
    if let Some(value) = variable(ADOPT) {
        // What cannot be adopted is met below, as the kernel's.
        adopt(value.to_bytes());
        // SAFETY: the constructor runs before there are other threads.
        unsafe { libc::unsetenv(ADOPT.as_ptr()) };
    }
    for_open_descriptors(|fd| {
        if crate::managed::entry(fd).is_none() {
            ops::open::adopt_foreign(fd, Reason::Inherited);
        }
    });
}

/// Takes over the slot and the descriptions that the image before the `exec` named.
fn adopt(value: &[u8]) {
    let Some((slot, survivors)) = exec::adopted(value) else { return };
    let Some((pool, who)) = attach::attach(Some(slot)) else { return };
    if who.client() != slot {
        return;
    }
    pool.repair_after_exec(who);
    let mut gone = [(0u32, 0u32); 64];
    loop {
        let mut count = 0;
        pool.for_entries(slot, |fd, description| {
            let named =
                fd < millpond_pool::FIRST_PIN && survivors.clone().any(|s| s == (fd as i32, description));
            let file = pool.segment().description(description).file.load(Relaxed);
            if !(named && ops::open::is_file_of(fd as i32, pool, file).unwrap_or(false)) && count < gone.len()
            {
                gone[count] = (fd, description);
                count += 1;
            }
        });
        for &(fd, _) in &gone[..count] {
            if let Some(description) = pool.take_entry(slot, fd) {
                pool.drop_description(description);
            }
        }
        if count < gone.len() {
            break;
        }
    }
    let program = attach::Identity::read();
    pool.become_program(who, program.name(), program.command(&mut [0; COMMAND_BYTES]));
    pool.segment().client(slot).state.store(state::LIVE, Release);
}

/// Calls `f` with each descriptor that is open now, from `/proc/self/fd`.
pub fn for_open_descriptors(mut f: impl FnMut(i32)) {
    let Ok(dir) = sys::openat(
        libc::AT_FDCWD,
        c"/proc/self/fd",
        libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        0,
    ) else {
        return (0..3).for_each(f);
    };
    let mut buf = [0u8; 2048];
    loop {
        // SAFETY: buf is ours and as long as said.
        let n = unsafe {
            sys::syscall(libc::SYS_getdents64, [dir as usize, buf.as_mut_ptr() as usize, buf.len(), 0, 0, 0])
        };
        let Ok(n @ 1..) = n else { break };
        let mut at = 0;
        while at + 19 < n {
            let len = usize::from(u16::from_le_bytes([buf[at + 16], buf[at + 17]]));
            let name = buf[at + 19..].split(|&b| b == 0).next().unwrap_or(&[]);
            let fd = std::str::from_utf8(name).ok().and_then(|n| n.parse::<i32>().ok());
            if let Some(fd) = fd.filter(|&fd| fd != dir && fd != attach::own_descriptor()) {
                f(fd);
            }
            at += len.max(1);
        }
    }
    sys::close(dir);
}
