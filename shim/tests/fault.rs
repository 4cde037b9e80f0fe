//! The fault guard, in children of the test: what the program sees of its signals must be what it would see
//! without the guard, and a bad pointer in the guarded copy must be an error.
#![cfg(target_arch = "x86_64")]

#[allow(dead_code, reason = "the shim uses what this test does not")]
#[path = "../src/fault/mod.rs"]
mod fault;

use std::ffi::{c_int, c_void};
use std::mem::{zeroed, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

// A guarded copy of the smallest kind: 0 when done, 1 when a byte could not be reached.
std::arch::global_asm!(
    ".pushsection .text.guarded_copy,\"ax\",@progbits",
    ".globl guarded_copy, guarded_copy_at, guarded_copy_landing",
    "guarded_copy:",
    "mov rcx, rdx",
    "guarded_copy_at:",
    "rep movsb",
    "xor eax, eax",
    "ret",
    "guarded_copy_landing:",
    "mov eax, 1",
    "ret",
    ".popsection",
);

extern "C" {
    fn guarded_copy(to: *mut u8, from: *const u8, len: usize) -> c_int;
    fn guarded_copy_at();
    fn guarded_copy_landing();
}

fn fixup(ip: usize) -> Option<usize> {
    (ip == guarded_copy_at as *const () as usize).then_some(guarded_copy_landing as *const () as usize)
}

fn install() {
    // SAFETY: libc's own function, and a landing that fits the copy.
    unsafe { fault::install(fixup, libc::sigaction) };
}

/// Whether a guarded copy from `page` ends in an error.
fn copy_fails(page: *const u8) -> bool {
    let mut byte = 0;
    // SAFETY: the target is valid; the source is what is tested.
    unsafe { guarded_copy(&mut byte, page, 1) != 0 }
}

/// A page that must not be touched.
fn bad_page() -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping.
    unsafe { libc::mmap(ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0).cast() }
}

/// A mapped page behind the end of its file.
fn page_behind_the_end() -> *mut u8 {
    // SAFETY: a new file and a new mapping of it.
    unsafe {
        let file = libc::memfd_create(c"empty".as_ptr(), 0);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(ptr::null_mut(), 4096, protection, libc::MAP_SHARED, file, 0).cast()
    }
}

/// A fault of the program's own, outside the guarded copy.
fn touch(page: *mut u8) {
    // SAFETY: the fault is the point.
    unsafe { page.write_volatile(1) };
}

/// How a child ended: its exit code, or the signal.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exit(c_int),
    Signal(c_int),
}

fn in_child(body: impl FnOnce() -> c_int) -> End {
    // SAFETY: the child uses its own memory only and leaves by `_exit`.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            // The test runtime has handlers of its own; the program under test starts with the defaults.
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            libc::_exit(result.unwrap_or(101));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        if libc::WIFSIGNALED(status) {
            End::Signal(libc::WTERMSIG(status))
        } else {
            End::Exit(libc::WEXITSTATUS(status))
        }
    }
}

static SEEN: AtomicUsize = AtomicUsize::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);

/// A handler that repairs the page, so that the instruction succeeds when it is run again.
extern "C" fn repair(sig: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    unsafe {
        assert!(!context.is_null());
        SEEN.fetch_add(1, Ordering::Relaxed);
        CODE.store((*info).si_code, Ordering::Relaxed);
        if sig == libc::SIGSEGV && (*info).si_code > 0 {
            let page = ((*info).si_addr() as usize & !4095) as *mut c_void;
            libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_WRITE);
        }
    }
}

extern "C" fn count(_: c_int) {
    SEEN.fetch_add(1, Ordering::Relaxed);
}

fn action(handler: usize, flags: c_int) -> libc::sigaction {
    // SAFETY: all fields may be zero.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    action
}

/// The hook of `sigaction` as the shim has it.
fn set(sig: c_int, new: &libc::sigaction) -> libc::sigaction {
    let mut old = MaybeUninit::zeroed();
    // SAFETY: valid arguments.
    unsafe {
        assert_eq!(fault::sigaction(sig, new, old.as_mut_ptr(), libc::sigaction), 0);
        old.assume_init()
    }
}

fn get(sig: c_int) -> libc::sigaction {
    let mut old = MaybeUninit::zeroed();
    // SAFETY: valid arguments.
    unsafe {
        assert_eq!(fault::sigaction(sig, ptr::null(), old.as_mut_ptr(), libc::sigaction), 0);
        old.assume_init()
    }
}

fn handler(function: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)) -> usize {
    function as *const () as usize
}

#[test]
fn a_bad_pointer_in_the_guarded_copy_is_an_error() {
    let end = in_child(|| {
        assert!(!fault::armed(libc::SIGSEGV));
        install();
        assert!(fault::armed(libc::SIGSEGV) && fault::armed(libc::SIGBUS));
        assert!(!fault::armed(libc::SIGILL) && !fault::guards(libc::SIGILL));
        for _ in 0..3 {
            assert!(copy_fails(bad_page()), "no access");
            assert!(copy_fails(page_behind_the_end()), "behind the end of the file: SIGBUS");
            assert!(copy_fails((1usize << 62) as *const u8), "not an address at all");
            assert!(copy_fails(ptr::null()), "null");
            assert!(!copy_fails(b"x".as_ptr()));
        }
        0
    });
    assert_eq!(end, End::Exit(0));
}

#[test]
fn faults_of_the_program_still_kill_it() {
    assert_eq!(
        in_child(|| {
            install();
            touch(bad_page());
            0
        }),
        End::Signal(libc::SIGSEGV)
    );
    assert_eq!(
        in_child(|| {
            install();
            touch(page_behind_the_end());
            0
        }),
        End::Signal(libc::SIGBUS)
    );
}

#[test]
fn a_signal_that_is_sent_kills_too() {
    let end = in_child(|| {
        install();
        // SAFETY: sends a signal to this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGSEGV) };
        0
    });
    assert_eq!(end, End::Signal(libc::SIGSEGV));
    let end = in_child(|| {
        install();
        std::thread::spawn(|| {
            // SAFETY: sends a signal to this thread.
            unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGBUS) };
        })
        .join()
        .unwrap();
        0
    });
    assert_eq!(end, End::Signal(libc::SIGBUS));
}

#[test]
fn handlers_set_before_and_after_see_the_programs_faults_only() {
    let end = in_child(|| {
        let before = action(handler(repair), libc::SA_SIGINFO);
        // SAFETY: a valid action.
        unsafe { libc::sigaction(libc::SIGSEGV, &before, ptr::null_mut()) };
        install();
        assert!(copy_fails(bad_page()));
        assert_eq!(SEEN.load(Ordering::Relaxed), 0);
        touch(bad_page());
        assert_eq!(SEEN.load(Ordering::Relaxed), 1);
        assert_eq!(CODE.load(Ordering::Relaxed), 2, "SEGV_ACCERR");

        let old = set(libc::SIGSEGV, &action(libc::SIG_DFL, 0));
        assert_eq!(old.sa_sigaction, handler(repair));
        let old = set(libc::SIGSEGV, &action(handler(repair), libc::SA_SIGINFO | libc::SA_NODEFER));
        assert_eq!(old.sa_sigaction, libc::SIG_DFL);
        assert!(copy_fails(bad_page()));
        touch(bad_page());
        assert_eq!(SEEN.load(Ordering::Relaxed), 2);
        // SAFETY: sends a signal to this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGSEGV) };
        assert_eq!((SEEN.load(Ordering::Relaxed), CODE.load(Ordering::Relaxed)), (3, libc::SI_USER));
        0
    });
    assert_eq!(end, End::Exit(0));
}

#[test]
fn what_is_reported_is_what_the_kernel_would_report() {
    // The same questions with and without the guard; the answers must be the same to the last bit.
    let ask = |guarded: bool| {
        let mut ends = [0; 2];
        // SAFETY: a new pipe.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let end = in_child(|| {
            if guarded {
                install();
            }
            let mut answers = Vec::new();
            let mut note = |old: libc::sigaction| {
                // SAFETY: a signal set begins with the kernel's 64 bits.
                let mask = unsafe { (&raw const old.sa_mask).cast::<u64>().read() };
                let restorer = old.sa_restorer.map_or(0, |restorer| restorer as usize);
                answers.extend([old.sa_sigaction, old.sa_flags as u32 as usize, mask as usize, restorer]);
            };
            for sig in [libc::SIGSEGV, libc::SIGBUS] {
                note(get(sig));
                let mut all = action(count as *const () as usize, !libc::SA_RESETHAND);
                // SAFETY: fills a set.
                unsafe { libc::sigfillset(&mut all.sa_mask) };
                note(set(sig, &all));
                note(set(sig, &action(libc::SIG_IGN, libc::SA_RESTART)));
                note(set(sig, &action(count as *const () as usize, libc::SA_RESETHAND)));
                note(get(sig));
                // SAFETY: sends a signal to this process, which uses its handler up.
                unsafe { libc::kill(libc::getpid(), sig) };
                note(get(sig));
                note(set(sig, &action(libc::SIG_DFL, libc::SA_ONSTACK)));
                note(get(sig));
            }
            // SAFETY: the vector is valid, and a pipe takes that much.
            unsafe { libc::write(ends[1], answers.as_ptr().cast(), answers.len() * 8) };
            0
        });
        assert_eq!(end, End::Exit(0));
        let mut answers = [0usize; 64];
        // SAFETY: the array has that much room.
        unsafe {
            let len = libc::read(ends[0], answers.as_mut_ptr().cast(), size_of_val(&answers));
            assert_eq!(len as usize, size_of_val(&answers));
            libc::close(ends[0]);
            libc::close(ends[1]);
        }
        answers
    };
    assert_eq!(ask(true).chunks(4).collect::<Vec<_>>(), ask(false).chunks(4).collect::<Vec<_>>());
}

#[test]
fn a_handler_for_one_signal_is_used_up() {
    let end = in_child(|| {
        install();
        set(libc::SIGSEGV, &action(handler(repair), libc::SA_SIGINFO | libc::SA_RESETHAND));
        assert!(copy_fails(bad_page()), "a fault of the copy uses nothing up");
        touch(bad_page());
        assert_eq!(SEEN.load(Ordering::Relaxed), 1);
        assert_eq!(get(libc::SIGSEGV).sa_sigaction, libc::SIG_DFL);
        assert!(copy_fails(bad_page()), "the guard outlives it");
        touch(bad_page());
        0
    });
    assert_eq!(end, End::Signal(libc::SIGSEGV));
}

#[test]
fn the_mask_holds_while_the_handler_runs() {
    extern "C" fn look(_: c_int) {
        let mut set = MaybeUninit::zeroed();
        // SAFETY: asks for the mask only.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), set.as_mut_ptr());
            let set = set.assume_init();
            let bits = [libc::SIGSEGV, libc::SIGUSR1, libc::SIGUSR2].map(|sig| libc::sigismember(&set, sig));
            SEEN.store(bits.iter().fold(0, |all, bit| all << 1 | *bit as usize), Ordering::Relaxed);
        }
    }
    let end = in_child(|| {
        install();
        let mut masked = action(look as *const () as usize, 0);
        // SAFETY: adds to a valid set, and sends signals to this process.
        unsafe {
            libc::sigaddset(&mut masked.sa_mask, libc::SIGUSR1);
            set(libc::SIGSEGV, &masked);
            libc::raise(libc::SIGSEGV);
            assert_eq!(SEEN.load(Ordering::Relaxed), 0b110);
            masked.sa_flags = libc::SA_NODEFER;
            set(libc::SIGSEGV, &masked);
            libc::raise(libc::SIGSEGV);
            assert_eq!(SEEN.load(Ordering::Relaxed), 0b010);
        }
        0
    });
    assert_eq!(end, End::Exit(0));
}

#[test]
fn an_overflowing_stack_is_handled_on_the_alternate_one() {
    extern "C" fn overflowed(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: leaves the process.
        unsafe { libc::_exit(33) };
    }
    #[allow(unconditional_recursion, reason = "the point")]
    #[inline(never)]
    fn deeper(level: u64) -> u64 {
        let frame = std::hint::black_box([level; 64]);
        frame[1] + deeper(level + 1) + frame[2]
    }
    let overflow = |with_handler: bool| {
        in_child(|| {
            install();
            let mut stack = vec![0u8; libc::MINSIGSTKSZ.max(16 << 10)];
            // SAFETY: the stack lives until the process ends.
            unsafe {
                let alternate =
                    libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
                assert_eq!(libc::sigaltstack(&alternate, ptr::null_mut()), 0);
            }
            if with_handler {
                set(libc::SIGSEGV, &action(handler(overflowed), libc::SA_SIGINFO | libc::SA_ONSTACK));
            }
            deeper(0) as c_int
        })
    };
    assert_eq!(overflow(true), End::Exit(33));
    assert_eq!(overflow(false), End::Signal(libc::SIGSEGV));
}

#[test]
fn an_ignored_signal_is_ignored_and_disarms() {
    let end = in_child(|| {
        install();
        set(libc::SIGSEGV, &action(libc::SIG_IGN, 0));
        assert!(!fault::armed(libc::SIGSEGV) && fault::armed(libc::SIGBUS));
        // SAFETY: sends a signal to this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGSEGV) };
        assert_eq!(set(libc::SIGSEGV, &action(libc::SIG_DFL, 0)).sa_sigaction, libc::SIG_IGN);
        assert!(fault::armed(libc::SIGSEGV));
        assert!(copy_fails(bad_page()));
        set(libc::SIGSEGV, &action(libc::SIG_IGN, 0));
        touch(bad_page());
        0
    });
    assert_eq!(end, End::Signal(libc::SIGSEGV), "a fault kills although it is ignored");

    let end = in_child(|| {
        // SAFETY: a valid disposition.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_IGN) };
        install();
        assert!(!fault::armed(libc::SIGBUS) && fault::armed(libc::SIGSEGV));
        assert_eq!(get(libc::SIGBUS).sa_sigaction, libc::SIG_IGN);
        0
    });
    assert_eq!(end, End::Exit(0));
}

#[test]
fn a_handler_may_leave_by_longjmp() {
    extern "C" {
        #[link_name = "__sigsetjmp"]
        fn sigsetjmp(buffer: *mut [u64; 32], save: c_int) -> c_int;
        fn siglongjmp(buffer: *mut [u64; 32], value: c_int) -> !;
    }
    static mut BUFFER: [u64; 32] = [0; 32];
    extern "C" fn jump(_: c_int) {
        // SAFETY: the frame that set the buffer is still there.
        unsafe { siglongjmp(&raw mut BUFFER, 1) };
    }
    let end = in_child(|| {
        install();
        set(libc::SIGSEGV, &action(jump as *const () as usize, 0));
        let page = bad_page();
        // SAFETY: nothing with a destructor lives between the two; the counter is in memory.
        unsafe {
            if sigsetjmp(&raw mut BUFFER, 1) != 0 {
                SEEN.fetch_add(1, Ordering::Relaxed);
            }
            if SEEN.load(Ordering::Relaxed) < 3 {
                touch(page);
            }
        }
        assert!(copy_fails(page));
        SEEN.load(Ordering::Relaxed) as c_int
    });
    assert_eq!(end, End::Exit(3));
}

#[test]
fn a_forked_child_and_a_vforked_one_have_their_own() {
    let end = in_child(|| {
        install();
        set(libc::SIGSEGV, &action(handler(repair), libc::SA_SIGINFO));
        // SAFETY: the `vfork` child calls only what does not disturb its parent, and leaves by `_exit`.
        let child = unsafe { vforked(set_default) };
        assert_eq!(child, End::Exit(0));
        assert_eq!(get(libc::SIGSEGV).sa_sigaction, handler(repair), "a vfork child changed the parent's");
        touch(bad_page());
        assert_eq!(SEEN.load(Ordering::Relaxed), 1);

        let page = bad_page();
        // SAFETY: the child uses its own memory only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            fault::after_fork_in_child();
            touch(page);
            assert!(copy_fails(bad_page()));
            set(libc::SIGSEGV, &action(libc::SIG_DFL, 0));
            touch(bad_page());
        }
        let mut status = 0;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV);
        assert_eq!(get(libc::SIGSEGV).sa_sigaction, handler(repair));
        0
    });
    assert_eq!(end, End::Exit(0));
}

fn set_default() {
    set(libc::SIGSEGV, &action(libc::SIG_DFL, 0));
}

/// Runs `body` in a child that shares this memory, on a stack of its own.
///
/// # Safety
///
/// `body` must leave the memory as it was.
unsafe fn vforked(body: fn()) -> End {
    extern "C" fn run(body: *mut c_void) -> c_int {
        // SAFETY: the function pointer that `vforked` passes.
        unsafe { std::mem::transmute::<*mut c_void, fn()>(body)() };
        0
    }
    let mut stack = vec![0u128; 4096];
    // SAFETY: the stack outlives the child, for which CLONE_VFORK waits.
    unsafe {
        let top = stack.as_mut_ptr().add(stack.len()).cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let child = libc::clone(run, top, flags, body as *mut c_void);
        assert!(child > 0);
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        if libc::WIFSIGNALED(status) {
            End::Signal(libc::WTERMSIG(status))
        } else {
            End::Exit(libc::WEXITSTATUS(status))
        }
    }
}

#[test]
fn the_older_calls_do_what_they_did() {
    let end = in_child(|| {
        install();
        let counter = count as *const () as usize;
        let (segv, real) = (libc::SIGSEGV, libc::sigaction);
        // SAFETY: valid arguments; signals are sent to this process.
        unsafe {
            assert_eq!(fault::signal(segv, counter, real), libc::SIG_DFL);
            assert_ne!(get(segv).sa_flags & libc::SA_RESTART, 0);
            assert_eq!(libc::sigismember(&get(segv).sa_mask, segv), 1);
            assert_eq!(fault::siginterrupt(segv, true, real), 0);
            assert_eq!(get(segv).sa_flags & libc::SA_RESTART, 0);
            assert_eq!(fault::signal(segv, counter, real), counter);
            assert_eq!(get(segv).sa_flags & libc::SA_RESTART, 0, "siginterrupt holds for later ones");
            assert_eq!(fault::signal(segv, libc::SIG_ERR, real), libc::SIG_ERR);
            assert_eq!(*libc::__errno_location(), libc::EINVAL);

            assert_eq!(fault::sysv_signal(segv, counter, real), counter);
            libc::raise(segv);
            assert_eq!((SEEN.load(Ordering::Relaxed), get(segv).sa_sigaction), (1, libc::SIG_DFL));

            assert_eq!(fault::sigset(segv, counter, real), libc::SIG_DFL);
            assert_eq!(fault::sigset(segv, 2, real), counter, "SIG_HOLD");
            libc::raise(segv);
            assert_eq!(SEEN.load(Ordering::Relaxed), 1, "held");
            assert_eq!(fault::sigset(segv, counter, real), 2);
            assert_eq!(SEEN.load(Ordering::Relaxed), 2, "let go");

            assert_eq!(fault::sigignore(segv, real), 0);
            libc::raise(segv);
            assert!(!fault::armed(segv));
        }
        0
    });
    assert_eq!(end, End::Exit(0));
}

#[test]
fn threads_that_fault_and_set_at_once_agree() {
    let end = in_child(|| {
        install();
        set(libc::SIGSEGV, &action(handler(repair), libc::SA_SIGINFO));
        std::thread::scope(|scope| {
            for flags in [0, libc::SA_NODEFER, libc::SA_RESTART] {
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        let old = set(libc::SIGSEGV, &action(handler(repair), libc::SA_SIGINFO | flags));
                        assert_eq!(old.sa_sigaction, handler(repair));
                    }
                });
            }
            scope.spawn(|| {
                let page = bad_page();
                for _ in 0..2_000 {
                    assert!(copy_fails(page));
                }
                for _ in 0..200 {
                    touch(bad_page());
                }
            });
        });
        assert_eq!(SEEN.load(Ordering::Relaxed), 200);
        0
    });
    assert_eq!(end, End::Exit(0));
}
