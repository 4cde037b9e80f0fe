//! `syscall`: a call by number goes to the operation of its name. What is not named here touches no file's bytes, and passes.

use super::copies::{copy, ioctl, End};
use super::processes::{before_end, exec, fork, Target};
use super::{
    data, descriptors, durability, listing, mapping, metadata, open, position, rings, sockets, vectors,
    watches,
};
use crate::errno::returned;
use crate::peek::{is_empty_text, value};
use libc::{c_char, c_int, c_long};
use millpond_segment::stats::Reason;
use millpond_segment::sys;

/// `setxattrat`, which libc's headers do not name yet; the same on all processors.
const SYS_SETXATTRAT: c_long = 463;

/// A system call as libc's `syscall` makes it.
fn kernel(number: c_long, a: [usize; 6]) -> c_long {
    // SAFETY: the program's own call.
    returned(unsafe { sys::syscall(number, a) }) as c_long
}

fn opened(number: c_long, a: [usize; 6], oflag: usize) -> c_long {
    let fd = kernel(number, a);
    open::opened(fd as c_int, oflag as c_int);
    fd
}

/// An end of a copy whose own offset counts unless one is given.
fn end(fd: usize, offset: usize) -> Option<End> {
    Some(End { fd: fd as c_int, own_offset: offset == 0 })
}

/// The call, if an operation of ours stands behind its number.
///
/// # Safety
/// The arguments are the program's, as for the system call.
pub unsafe fn syscall(number: c_long, a: [usize; 6]) -> Option<c_long> {
    if !crate::attach::is_possible() {
        return None;
    }
    let fd = a[0] as c_int;
    let call = || kernel(number, a);
    // SAFETY: as the caller promises; each arm hands the arguments on as the kernel would take them.
    unsafe {
        data_call(number, fd, a).or_else(|| match number {
            libc::SYS_open => Some(opened(number, a, a[1])),
            libc::SYS_openat => Some(opened(number, a, a[2])),
            libc::SYS_creat => {
                Some(opened(number, a, (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as usize))
            }
            libc::SYS_openat2 => {
                let fd = kernel(number, a);
                if fd >= 0 {
                    // The kernel has read the flags there, the first word of the structure.
                    open::opened(fd as c_int, (a[2] as *const u64).read_unaligned() as c_int);
                }
                Some(fd)
            }
            libc::SYS_close => Some(descriptors::close(|_| call() as c_int, fd).into()),
            libc::SYS_close_range => {
                descriptors::close_range(a[0] as u32, a[1] as u32, a[2] as c_int).map(c_long::from)
            }
            libc::SYS_dup => Some(descriptors::dup(|| call() as c_int, fd).into()),
            libc::SYS_getdents64 => {
                Some(listing::getdents(|| call() as isize, fd, a[1] as *mut u8) as c_long)
            }
            libc::SYS_dup2 => Some(descriptors::dup_onto(|| call() as c_int, fd, a[1] as c_int, 0).into()),
            libc::SYS_dup3 => {
                Some(descriptors::dup_onto(|| call() as c_int, fd, a[1] as c_int, a[2] as c_int).into())
            }
            libc::SYS_fcntl => {
                let control = |argument| kernel(number, [a[0], a[1], argument, 0, 0, 0]) as c_int;
                Some(descriptors::fcntl(control, fd, a[1] as c_int, a[2]).into())
            }
            libc::SYS_open_by_handle_at => Some(opened(number, a, a[2])),
            libc::SYS_unshare => {
                crate::aside::before_unshare(fd);
                None
            }
            libc::SYS_sendmsg => {
                sockets::before_send(a[1] as *const _);
                None
            }
            libc::SYS_recvmsg => {
                let n = call();
                if n >= 0 {
                    sockets::after_receive(a[1] as *const _);
                }
                Some(n)
            }
            libc::SYS_mmap => {
                Some(mapping::mmap(|| call() as *mut _, a[0] as *mut _, a[1], a[3] as c_int, a[4] as c_int)
                    as c_long)
            }
            libc::SYS_munmap => Some(mapping::munmap(|| call() as c_int, a[0] as *mut _, a[1]).into()),
            libc::SYS_mremap => Some(mapping::mremap(
                || call() as *mut _,
                (a[0] as *mut _, a[1]),
                a[2],
                a[3] as c_int,
                a[4] as *mut _,
            ) as c_long),
            libc::SYS_sendmmsg => {
                sockets::before_send_many(a[1] as *const _, a[2] as u32);
                None
            }
            libc::SYS_recvmmsg => {
                let n = call();
                sockets::after_receive_many(a[1] as *const _, n as c_int);
                Some(n)
            }
            libc::SYS_pidfd_getfd => Some(sockets::taken(call() as c_int, fd, a[1] as c_int).into()),
            _ => {
                before_attributes(number, fd, a);
                metadata_call(number, fd, a).or_else(|| process_call(number, a))
            }
        })
    }
}

unsafe fn data_call(number: c_long, fd: c_int, a: [usize; 6]) -> Option<c_long> {
    let (memory, len, offset) = (a[1], a[2], a[3] as i64);
    let result = match number {
        libc::SYS_read => data::read(fd, memory as *mut _, len),
        libc::SYS_write => data::write(fd, memory as *const _, len),
        libc::SYS_pread64 => data::pread(fd, memory as *mut _, len, offset),
        libc::SYS_pwrite64 => data::pwrite(fd, memory as *const _, len, offset),
        libc::SYS_readv => vectors::readv(fd, memory as *const _, len as c_int),
        libc::SYS_writev => vectors::writev(fd, memory as *const _, len as c_int),
        libc::SYS_preadv => vectors::preadv(fd, memory as *const _, len as c_int, offset),
        libc::SYS_pwritev => vectors::pwritev(fd, memory as *const _, len as c_int, offset),
        libc::SYS_preadv2 => vectors::preadv2(fd, memory as *const _, len as c_int, offset, a[5] as c_int),
        libc::SYS_pwritev2 => vectors::pwritev2(fd, memory as *const _, len as c_int, offset, a[5] as c_int),
        libc::SYS_lseek => return position::lseek(fd, a[1] as i64, a[2] as c_int),
        _ => None,
    };
    result.map(|n| n as c_long)
}

unsafe fn metadata_call(number: c_long, fd: c_int, a: [usize; 6]) -> Option<c_long> {
    let call = || kernel(number, a) as c_int;
    let empty = |path: usize, flags: usize| {
        // A null path means an empty one on kernels that say so.
        let is_empty = || path == 0 || is_empty_text(path as *const c_char);
        (flags as c_int & libc::AT_EMPTY_PATH != 0 && is_empty()).then_some(fd)
    };
    // SAFETY: as the caller's.
    unsafe {
        Some(match number {
            libc::SYS_fstat => metadata::stat(Some(fd), a[1] as *mut _, call).into(),
            libc::SYS_stat | libc::SYS_lstat => metadata::stat(None, a[1] as *mut _, call).into(),
            libc::SYS_newfstatat => metadata::stat(empty(a[1], a[3]), a[2] as *mut _, call).into(),
            libc::SYS_statx => metadata::statx(empty(a[1], a[2]), a[4] as *mut _, call).into(),
            libc::SYS_ftruncate => return metadata::ftruncate(fd, a[1] as i64).map(c_long::from),
            libc::SYS_truncate => return metadata::truncate(a[0] as *const _, a[1] as i64).map(c_long::from),
            libc::SYS_fallocate => metadata::allocate(fd, call).into(),
            libc::SYS_fsync | libc::SYS_fdatasync => durability::fsync(fd, call).into(),
            libc::SYS_sync | libc::SYS_syncfs => {
                durability::before_sync();
                return None;
            }
            libc::SYS_sync_file_range => copy(end(a[0], 1), None, Reason::SyncRange, || call() as i64),
            libc::SYS_sendfile => copy(end(a[1], a[2]), end(a[0], 0), Reason::Sendfile, || kernel(number, a)),
            libc::SYS_splice => copy(end(a[0], a[1]), end(a[2], a[3]), Reason::Splice, || kernel(number, a)),
            libc::SYS_copy_file_range => {
                copy(end(a[0], a[1]), end(a[2], a[3]), Reason::CopyRange, || kernel(number, a))
            }
            libc::SYS_ioctl => ioctl(fd, a[1] as u64, a[2], call).into(),
            _ => return None,
        })
    }
}

/// Before calls that set times, modes, owners or extended attributes.
fn before_attributes(number: c_long, fd: c_int, a: [usize; 6]) {
    use metadata::{before_change_fd, before_change_path};
    use Reason::{Attributes, Times};
    const HERE: c_int = libc::AT_FDCWD;
    const NO_LINK: c_int = libc::AT_SYMLINK_NOFOLLOW;
    let at = |i: usize| a[i] as *const c_char;
    match number {
        libc::SYS_fchmod | libc::SYS_fchown | libc::SYS_fsetxattr => before_change_fd(fd, Attributes),
        libc::SYS_chmod | libc::SYS_chown | libc::SYS_setxattr => {
            before_change_path(HERE, at(0), 0, Attributes)
        }
        libc::SYS_lchown | libc::SYS_lsetxattr => before_change_path(HERE, at(0), NO_LINK, Attributes),
        libc::SYS_fchmodat => before_change_path(fd, at(1), 0, Attributes),
        libc::SYS_fchmodat2 => before_change_path(fd, at(1), a[3] as c_int, Attributes),
        libc::SYS_fchownat => before_change_path(fd, at(1), a[4] as c_int, Attributes),
        SYS_SETXATTRAT => before_change_path(fd, at(1), a[2] as c_int, Attributes),
        libc::SYS_utime | libc::SYS_utimes => before_change_path(HERE, at(0), 0, Times),
        libc::SYS_futimesat => before_change_path(fd, at(1), 0, Times),
        libc::SYS_utimensat => before_change_path(fd, at(1), a[3] as c_int, Times),
        _ => {}
    }
}

/// Whether the arguments of `clone3` ask for a process with memory of its own on the caller's stack.
fn is_fork(arguments: usize) -> bool {
    /// Flags, four words that are of no concern, the stack.
    type Head = [u64; 6];
    // SAFETY: plain numbers, of which any bytes are a value.
    unsafe { value::<Head>(arguments) }
        .is_some_and(|head| head[0] as c_int & libc::CLONE_VM == 0 && head[5] == 0)
}

unsafe fn process_call(number: c_long, a: [usize; 6]) -> Option<c_long> {
    let call = || kernel(number, a);
    // SAFETY: as the caller's.
    unsafe {
        match number {
            libc::SYS_fork => Some(fork(|| kernel(number, a) as c_int).into()),
            // With a stack of its own the child does not come back here; it finds its wiped page when it first calls.
            libc::SYS_clone if a[0] as c_int & libc::CLONE_VM == 0 && a[1] == 0 => {
                crate::aside::before_clone(a[0] as c_int);
                Some(fork(|| kernel(number, a) as c_int).into())
            }
            libc::SYS_clone3 if is_fork(a[0]) => {
                crate::aside::before_clone(value::<c_int>(a[0]).unwrap_or(0));
                Some(fork(|| kernel(number, a) as c_int).into())
            }
            libc::SYS_execve => Some(
                exec(Target::Path(libc::AT_FDCWD, a[0] as *const _, 0), a[2] as *const _, |envp| {
                    kernel(number, [a[0], a[1], envp as usize, 0, 0, 0]) as c_int
                })
                .into(),
            ),
            libc::SYS_execveat => Some(
                exec(
                    Target::Path(a[0] as c_int, a[1] as *const _, a[4] as c_int),
                    a[3] as *const _,
                    |envp| kernel(number, [a[0], a[1], a[2], envp as usize, a[4], 0]) as c_int,
                )
                .into(),
            ),
            libc::SYS_rt_sigaction => {
                if a[1] != 0 {
                    sys::expect_handler(a[0] as c_int);
                }
                let result = call();
                crate::fault::look_again();
                crate::start::settle_guard();
                Some(result)
            }
            libc::SYS_rt_sigprocmask => {
                let result = call();
                if result == 0 {
                    crate::fault::note_mask(a[0] as c_int, a[1] as *const _, a[2] as *const _);
                }
                Some(result)
            }
            libc::SYS_setrlimit | libc::SYS_prlimit64 => {
                let result = call();
                data::note_size_limit();
                Some(result)
            }
            libc::SYS_exit_group => {
                before_end();
                None
            }
            libc::SYS_seccomp
                if matches!(a[0] as u32, libc::SECCOMP_SET_MODE_STRICT | libc::SECCOMP_SET_MODE_FILTER) =>
            {
                crate::attach::lock_in();
                None
            }
            libc::SYS_prctl if a[0] as c_int == libc::PR_SET_SECCOMP => {
                crate::attach::lock_in();
                None
            }
            libc::SYS_swapon => {
                watches::before_kernel_use(a[0] as *const _);
                None
            }
            libc::SYS_inotify_add_watch => {
                watches::before_inotify(a[1] as *const _, a[2] as u32);
                None
            }
            libc::SYS_fanotify_mark => {
                watches::before_fanotify(a[1] as u32, a[2] as u64, a[3] as c_int, a[4] as *const _);
                None
            }
            libc::SYS_io_uring_setup => {
                rings::set_up();
                None
            }
            libc::SYS_io_submit => {
                rings::before_submit(a[1] as c_long, a[2] as *mut *mut rings::Iocb);
                None
            }
            _ => None,
        }
    }
}
