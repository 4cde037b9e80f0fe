//! The calls that make a child, and the child of `vfork`, which lives in its parent's memory.

use std::ffi::CString;

use super::outcome::Outcome;
use super::{aliases, Process};
use crate::data;
use crate::script::op::{ForkCall, SpawnAction};
use crate::script::{NEVER_OPEN, SLOTS};

/// Stack of a cloned function.
const STACK: usize = 1 << 20;
/// Bytes that a child of `vfork` writes at a time.
const WRITE_LEN: usize = 700;

/// Makes a child by one of the calls that return twice; 0 in the child.
pub fn fork_by(call: ForkCall) -> i32 {
    let signal = libc::SIGCHLD as libc::c_long;
    // SAFETY: no other thread is alive here, so the child may do anything; it goes on with a copy of this stack.
    unsafe {
        match call {
            ForkCall::Fork | ForkCall::Daemon | ForkCall::CloneFunction => libc::fork(),
            ForkCall::Bare => aliases::_Fork(),
            #[cfg(target_arch = "x86_64")]
            ForkCall::Syscall => libc::syscall(libc::SYS_fork) as i32,
            #[cfg(not(target_arch = "x86_64"))]
            ForkCall::Syscall => libc::fork(),
            ForkCall::Clone => libc::syscall(libc::SYS_clone, signal, 0, 0, 0, 0) as i32,
            ForkCall::Clone3 => {
                // Flags, three addresses, the signal, and no stack.
                let arguments = [0_u64, 0, 0, 0, signal as u64, 0, 0, 0];
                libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) as i32
            }
        }
    }
}

/// Makes a child that runs a function on a stack of its own.
pub fn clone_function(
    function: extern "C" fn(*mut libc::c_void) -> libc::c_int,
    argument: *mut libc::c_void,
) -> i32 {
    let mut stack = vec![0_u8; STACK];
    let top = stack.as_mut_ptr_range().end;
    // SAFETY: the stack is the child's copy of memory that lives until this function returns.
    unsafe { libc::clone(function, top.cast(), libc::SIGCHLD, argument) }
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    // Calls vfork and, in the child, a function that does not return: the frame that the parent comes back to
    // lies above all that the child does.
    ".globl millpond_tests_vfork",
    "millpond_tests_vfork:",
    "push rbx",
    "push r12",
    "sub rsp, 8",
    "mov rbx, rdi",
    "mov r12, rsi",
    "call vfork@PLT",
    "test eax, eax",
    "jnz 2f",
    "mov rdi, r12",
    "call rbx",
    "2:",
    "add rsp, 8",
    "pop r12",
    "pop rbx",
    "ret",
);

#[cfg(target_arch = "x86_64")]
extern "C" {
    fn millpond_tests_vfork(
        function: unsafe extern "C" fn(*mut libc::c_void) -> !,
        errand: *mut libc::c_void,
    ) -> i32;
}

/// One call of a child of `vfork`, with its arguments ready.
enum Step {
    Dup2(i32, i32),
    Close(i32),
    Open(CString, i32, i32),
    Write(i32, Vec<u8>),
    Seek(i32, i64),
}

/// What a child of `vfork` does before it becomes another program.
pub struct Steps {
    steps: Vec<Step>,
    /// What each call gave; the child shares this memory.
    outcomes: Vec<std::cell::Cell<(i64, i32)>>,
}

/// What the child finds in the memory that it shares.
struct Errand {
    steps: *const Steps,
    arguments: *const *const libc::c_char,
}

extern "C" {
    static environ: *const *const libc::c_char;
}

impl Steps {
    /// Makes the calls ready that `actions` mean, and notes where the next program has the slots.
    pub fn new(process: &Process, actions: &[SpawnAction], slots: &mut [i32; SLOTS]) -> Steps {
        let mut steps = Vec::new();
        for action in actions {
            let (SpawnAction::Dup2 { slot }
            | SpawnAction::Close { slot }
            | SpawnAction::Open { slot, .. }
            | SpawnAction::Write { slot, .. }
            | SpawnAction::Seek { slot, .. }) = action;
            if *slot == NEVER_OPEN {
                continue;
            }
            let index = usize::from(*slot) % SLOTS;
            let fd = slots[index];
            match action {
                SpawnAction::Open { path, flags, .. } => {
                    let flags = flags.0 & !(libc::O_CLOEXEC | libc::O_TMPFILE);
                    slots[index] = 40 + index as i32;
                    steps.push(Step::Open(process.path(path), flags, slots[index]));
                }
                SpawnAction::Dup2 { .. } => {
                    slots[index] = 30 + index as i32;
                    steps.push(Step::Dup2(fd, slots[index]));
                }
                SpawnAction::Close { .. } => steps.push(Step::Close(fd)),
                SpawnAction::Write { seed, .. } => {
                    steps.push(Step::Write(fd, data::pattern(*seed, WRITE_LEN)));
                }
                SpawnAction::Seek { offset, .. } => steps.push(Step::Seek(fd, *offset)),
            }
        }
        let outcomes = steps.iter().map(|_| std::cell::Cell::new((i64::MIN, 0))).collect();
        Steps { steps, outcomes }
    }

    /// Makes the child; it ends as the program of `arguments`, or with status 127.
    pub fn run(&self, arguments: &[*const libc::c_char]) -> i32 {
        let mut errand = Errand { steps: self, arguments: arguments.as_ptr() };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the child only makes calls whose arguments are ready, touches what it must leave behind, and
        // does not return.
        unsafe {
            millpond_tests_vfork(carry_out, (&raw mut errand).cast())
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: as above; where there is no assembly for it, the memory is not shared.
        unsafe {
            match libc::fork() {
                0 => carry_out((&raw mut errand).cast()),
                child => child,
            }
        }
    }

    /// What the calls gave.
    pub fn outcomes(&self) -> String {
        self.outcomes.iter().map(|outcome| format!("{:?} ", outcome.get())).collect()
    }
}

/// The child.
unsafe extern "C" fn carry_out(errand: *mut libc::c_void) -> ! {
    // SAFETY: the errand lies on the stack of the parent, which stands still.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // SAFETY: as above.
    let steps = unsafe { &*errand.steps };
    for (step, outcome) in steps.steps.iter().zip(&steps.outcomes) {
        // SAFETY: all arguments are live.
        let result = Outcome::of(|| unsafe {
            match step {
                Step::Dup2(fd, to) => i64::from(libc::dup2(*fd, *to)),
                Step::Close(fd) => i64::from(libc::close(*fd)),
                Step::Open(path, flags, to) => {
                    let fd = libc::open(path.as_ptr(), *flags, 0o644);
                    if fd >= 0 && fd != *to {
                        libc::dup2(fd, *to);
                        libc::close(fd);
                    }
                    i64::from(fd)
                }
                Step::Write(fd, bytes) => libc::write(*fd, bytes.as_ptr().cast(), bytes.len()) as i64,
                Step::Seek(fd, offset) => libc::lseek(*fd, *offset, libc::SEEK_SET),
            }
        });
        outcome.set((result.value, result.errno));
    }
    // SAFETY: the arguments end in a null pointer and their strings are alive.
    unsafe {
        libc::execve(*errand.arguments, errand.arguments, environ);
        libc::_exit(127)
    }
}
