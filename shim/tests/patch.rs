//! The patcher on the real libc, in children of the test: internal callers reach the handlers, and the trampolines
//! do the real thing.
#![cfg(target_arch = "x86_64")]

#[allow(dead_code, reason = "the shim uses what this test does not")]
#[path = "../src/patch/mod.rs"]
mod patch;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::mem::transmute;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use patch::{Outcome, Request};

/// Calls seen, and where the original is.
struct Hook {
    calls: AtomicUsize,
    original: AtomicUsize,
}

impl Hook {
    const fn new() -> Self {
        Self { calls: AtomicUsize::new(0), original: AtomicUsize::new(0) }
    }

    fn enter(&self) -> usize {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.original.load(Ordering::Relaxed)
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

static READ: Hook = Hook::new();
static WRITE: Hook = Hook::new();
static OPEN: Hook = Hook::new();
static OPEN_NOCANCEL: Hook = Hook::new();
static CLOSE: Hook = Hook::new();
static CLOSE_NOCANCEL: Hook = Hook::new();
static FSTAT: Hook = Hook::new();
static LSEEK: Hook = Hook::new();

type Transfer = extern "C" fn(c_int, *mut c_void, usize) -> isize;
type Open = extern "C" fn(*const c_char, c_int, libc::mode_t) -> c_int;

extern "C" fn on_read(fd: c_int, buffer: *mut c_void, len: usize) -> isize {
    // SAFETY: the trampoline of a function of this signature; so in all that follow.
    unsafe { transmute::<usize, Transfer>(READ.enter())(fd, buffer, len) }
}

extern "C" fn on_write(fd: c_int, buffer: *mut c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { transmute::<usize, Transfer>(WRITE.enter())(fd, buffer, len) }
}

extern "C" fn on_open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: as above; on x86-64 the mode is the third register however the function is declared.
    unsafe { transmute::<usize, Open>(OPEN.enter())(path, flags, mode) }
}

extern "C" fn on_open_nocancel(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: as above.
    unsafe { transmute::<usize, Open>(OPEN_NOCANCEL.enter())(path, flags, mode) }
}

extern "C" fn on_close(fd: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { transmute::<usize, extern "C" fn(c_int) -> c_int>(CLOSE.enter())(fd) }
}

extern "C" fn on_close_nocancel(fd: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { transmute::<usize, extern "C" fn(c_int) -> c_int>(CLOSE_NOCANCEL.enter())(fd) }
}

extern "C" fn on_fstat(fd: c_int, stat: *mut libc::stat64) -> c_int {
    type Fstat = extern "C" fn(c_int, *mut libc::stat64) -> c_int;
    // SAFETY: as above.
    unsafe { transmute::<usize, Fstat>(FSTAT.enter())(fd, stat) }
}

extern "C" fn on_lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
    type Lseek = extern "C" fn(c_int, i64, c_int) -> i64;
    // SAFETY: as above.
    unsafe { transmute::<usize, Lseek>(LSEEK.enter())(fd, offset, whence) }
}

/// Runs `body` in a child and gives what it returned as exit status.
fn in_child(body: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the child uses its own memory only and leaves by `_exit`.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            libc::_exit(result.unwrap_or(101));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert!(libc::WIFEXITED(status), "the child died of signal {}", libc::WTERMSIG(status));
        libc::WEXITSTATUS(status)
    }
}

fn patch_hooks() {
    let hooks: [(&'static CStr, *const (), &Hook); 8] = [
        (c"read", on_read as *const (), &READ),
        (c"write", on_write as *const (), &WRITE),
        (c"open64", on_open as *const (), &OPEN),
        (c"__open64_nocancel", on_open_nocancel as *const (), &OPEN_NOCANCEL),
        (c"close", on_close as *const (), &CLOSE),
        (c"__close_nocancel", on_close_nocancel as *const (), &CLOSE_NOCANCEL),
        (c"fstat64", on_fstat as *const (), &FSTAT),
        (c"lseek64", on_lseek as *const (), &LSEEK),
    ];
    let requests = hooks.map(|(symbol, handler, _)| Request { symbol, handler });
    let mut outcomes = [Outcome::Missing; 8];
    // SAFETY: the handlers have the signatures of what they stand for; the child has one thread.
    let stats = unsafe {
        patch::patch_all_with(&requests, &mut outcomes, |outcomes| {
            for ((name, _, hook), outcome) in hooks.iter().zip(outcomes) {
                let Outcome::Patched(original) = outcome else { panic!("{name:?}: {outcome:?}") };
                hook.original.store(*original as usize, Ordering::Relaxed);
            }
        })
    }
    .expect("patching");
    assert_eq!((stats.patched, stats.left_writable), (8, false));
}

#[test]
fn stdio_reaches_the_handlers_and_the_originals_work() {
    let status = in_child(|| {
        patch_hooks();
        let name = format!("/tmp/millpond-patch-{}\0", std::process::id());
        let path: *const c_char = name.as_ptr().cast();
        // SAFETY: plain C calls with valid arguments.
        unsafe {
            let file = libc::fopen(path, c"w+".as_ptr());
            assert!(!file.is_null());
            assert_eq!(OPEN.calls() + OPEN_NOCANCEL.calls(), 1, "fopen's open");
            assert_eq!(libc::fprintf(file, c"line %d\nmore\n".as_ptr(), 7), 12);
            assert_eq!(libc::fflush(file), 0);
            assert_eq!(WRITE.calls(), 1, "fflush's write");
            assert!(FSTAT.calls() > 0, "the stat that sizes the buffer");
            libc::rewind(file);
            assert!(LSEEK.calls() > 0, "rewind's lseek");
            let (mut line, mut capacity) = (std::ptr::null_mut(), 0);
            assert_eq!(libc::getline(&mut line, &mut capacity, file), 7);
            assert_eq!(CStr::from_ptr(line), c"line 7\n");
            assert!(READ.calls() > 0, "getline's read");
            assert_eq!(libc::fclose(file), 0);
            assert_eq!(CLOSE.calls() + CLOSE_NOCANCEL.calls(), 1, "fclose's close");
            libc::unlink(path);
            // Errors come back through the trampoline with errno.
            assert_eq!(libc::close(-1), -1);
            assert_eq!(*libc::__errno_location(), libc::EBADF);
            assert_eq!(libc::open64(c"/millpond/none".as_ptr(), libc::O_RDONLY), -1);
            assert_eq!(*libc::__errno_location(), libc::ENOENT);
        }
        0
    });
    assert_eq!(status, 0);
}

#[test]
fn libcs_text_is_not_left_writable() {
    let status = in_child(|| {
        patch_hooks();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let writable = maps.lines().filter(|line| line.contains("wx")).count();
        assert_eq!(writable, 0, "{maps}");
        assert!(OPEN.calls() > 0, "the open of the map");
        0
    });
    assert_eq!(status, 0);
}

#[test]
fn a_blocked_read_of_a_second_thread_returns_through_the_trampoline() {
    let status = in_child(|| {
        patch_hooks();
        extern "C" fn sleeper(fd: *mut c_void) -> *mut c_void {
            let mut byte = 0u8;
            // SAFETY: a valid descriptor and a byte of room; blocks until the other thread writes.
            unsafe { libc::read(*fd.cast::<c_int>(), (&raw mut byte).cast(), 1) };
            fd
        }
        let mut ends = [0; 2];
        // SAFETY: plain C calls with valid arguments; `ends` outlives the thread.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let mut thread = 0;
            let argument = ends.as_mut_ptr().cast();
            assert_eq!(libc::pthread_create(&mut thread, std::ptr::null(), sleeper, argument), 0);
            while READ.calls() == 0 {
                libc::usleep(1_000);
            }
            assert_eq!(libc::write(ends[1], c"x".as_ptr().cast(), 1), 1);
            let mut result = std::ptr::null_mut();
            assert_eq!(libc::pthread_join(thread, &mut result), 0);
            assert_eq!(result, argument);
        }
        0
    });
    assert_eq!(status, 0);
}

#[test]
fn a_cancelled_thread_unwinds_through_handler_and_trampoline() {
    // A handler of a cancellation point must let the unwinding through: "C-unwind", and no destructors.
    extern "C-unwind" fn on_pause_read(fd: c_int, buffer: *mut c_void, len: usize) -> isize {
        type Unwinding = extern "C-unwind" fn(c_int, *mut c_void, usize) -> isize;
        // SAFETY: the trampoline of a function of this signature.
        unsafe { transmute::<usize, Unwinding>(READ.enter())(fd, buffer, len) }
    }
    extern "C-unwind" fn sleeper(fd: *mut c_void) -> *mut c_void {
        extern "C-unwind" {
            fn read(fd: c_int, buffer: *mut c_void, len: usize) -> isize;
        }
        let mut byte = 0u8;
        // SAFETY: a valid descriptor and a byte of room; nothing with a destructor lives here.
        unsafe { read(*fd.cast::<c_int>(), (&raw mut byte).cast(), 1) };
        fd
    }
    extern "C" {
        fn pthread_cancel(thread: libc::pthread_t) -> c_int;
    }
    let status = in_child(|| {
        let requests = [Request { symbol: c"read", handler: on_pause_read as *const () }];
        let mut outcomes = [Outcome::Missing];
        let mut ends = [0; 2];
        // SAFETY: the handler has the signature of `read`; the rest are plain C calls with valid arguments.
        unsafe {
            patch::patch_all(&requests, &mut outcomes).expect("patching");
            let Outcome::Patched(original) = outcomes[0] else { panic!("{:?}", outcomes[0]) };
            READ.original.store(original as usize, Ordering::Relaxed);
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let start: extern "C" fn(*mut c_void) -> *mut c_void = transmute(sleeper as *const ());
            let mut thread = 0;
            let argument = ends.as_mut_ptr().cast();
            assert_eq!(libc::pthread_create(&mut thread, std::ptr::null(), start, argument), 0);
            while READ.calls() == 0 {
                libc::usleep(1_000);
            }
            libc::usleep(20_000);
            assert_eq!(pthread_cancel(thread), 0);
            let mut result = std::ptr::null_mut();
            assert_eq!(libc::pthread_join(thread, &mut result), 0);
            assert_eq!(result as isize, -1, "PTHREAD_CANCELED");
        }
        0
    });
    assert_eq!(status, 0);
}

#[test]
fn sixty_functions_take_little_time() {
    const NAMES: &[&CStr] = &[
        c"read",
        c"write",
        c"open64",
        c"open",
        c"close",
        c"lseek64",
        c"pread64",
        c"pwrite64",
        c"fstat64",
        c"fstat",
        c"dup",
        c"dup2",
        c"dup3",
        c"_exit",
        c"execve",
        c"fork",
        c"readv",
        c"writev",
        c"preadv64",
        c"pwritev64",
        c"openat64",
        c"fsync",
        c"fdatasync",
        c"__close_nocancel",
        c"__write_nocancel",
        c"__read_nocancel",
        c"__open64_nocancel",
        c"__pread64_nocancel",
        c"ftruncate64",
        c"truncate64",
        c"fcntl64",
        c"close_range",
        c"stat64",
        c"lstat64",
        c"fstatat64",
        c"statx",
        c"mmap64",
        c"munmap",
        c"sendfile64",
        c"copy_file_range",
        c"splice",
        c"rename",
        c"renameat",
        c"renameat2",
        c"unlink",
        c"unlinkat",
        c"link",
        c"linkat",
        c"fallocate64",
        c"flock",
        c"sync",
        c"syncfs",
        c"utimensat",
        c"futimens",
        c"fchmod",
        c"fchown",
        c"posix_spawn",
        c"msync",
        c"mremap",
        c"tee",
    ];
    extern "C" fn never() {}
    let mut ends = [0; 2];
    // SAFETY: a new pipe.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // The handlers do nothing, so the child speaks and leaves by raw system calls only.
    // SAFETY: the child uses its own memory only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let requests: Vec<_> =
            NAMES.iter().map(|symbol| Request { symbol, handler: never as *const () }).collect();
        let mut outcomes = vec![Outcome::Missing; requests.len()];
        let before = Instant::now();
        // SAFETY: nothing calls the patched functions before the child ends.
        let result = unsafe { patch::patch_all(&requests, &mut outcomes) };
        let patched = result.map_or(0, |stats| stats.patched);
        let report = [before.elapsed().as_nanos() as u64, patched as u64];
        // SAFETY: the pipe's end and the report are valid.
        unsafe {
            let bytes = std::slice::from_raw_parts(report.as_ptr().cast::<u8>(), 16);
            let end = std::os::fd::BorrowedFd::borrow_raw(ends[1]);
            let _ = rustix::io::write(end, bytes);
            std::arch::asm!("syscall", in("rax") libc::SYS_exit_group, in("rdi") 0, options(noreturn));
        }
    }
    let mut report = [0u64; 2];
    // SAFETY: the report has room for what is read; the child is ours.
    unsafe {
        libc::close(ends[1]);
        assert_eq!(libc::read(ends[0], report.as_mut_ptr().cast(), 16), 16);
        libc::close(ends[0]);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    println!("{} functions patched in {} ns", report[1], report[0]);
    assert!(report[1] >= 55, "only {} of {} were patched", report[1], NAMES.len());
}
