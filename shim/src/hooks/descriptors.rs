//! Descriptors.

use crate::ops::{descriptors, listing, locks, sockets};
use libc::{c_int, c_uint, c_void, mmsghdr, msghdr, off_t, size_t, ssize_t, timespec};

rows! {
    patch held close(fd: c_int) -> c_int |next| {
        // SAFETY: the program's own close.
        unsafe { descriptors::close(next, fd) }
    }
    plain hook close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int { descriptors::close_range(first, last, flags) }
    plain hook closefrom(first: c_int) -> () { descriptors::closefrom(first) }
    patch held dup(fd: c_int) -> c_int |next| { descriptors::dup(|| next(fd), fd) }
    patch held dup2(old: c_int, new: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { descriptors::dup_onto(|| next(old, new), old, new, 0) }
    }
    patch held dup3(old: c_int, new: c_int, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { descriptors::dup_onto(|| next(old, new, flags), old, new, flags) }
    }
    plain held fcntl(fd: c_int, command: c_int, argument: usize) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { descriptors::fcntl(|argument| next(fd, command, argument), fd, command, argument) }
    }
    patch held fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int |next| {
        // SAFETY: the program's own call.
        unsafe { descriptors::fcntl(|argument| next(fd, command, argument), fd, command, argument) }
    }
    plain held lockf(fd: c_int, command: c_int, len: off_t) -> c_int |next| {
        // SAFETY: the program's own call, by the function that libc makes of it.
        unsafe { locks::lockf(fd, command, len, |c, a| fcntl64::real(fcntl64::NEXT.symbol(), fd, c, a), || next(fd, command, len)) }
    }
    plain held lockf64(fd: c_int, command: c_int, len: off_t) -> c_int |next| {
        // SAFETY: the program's own call, by the function that libc makes of it.
        unsafe { locks::lockf(fd, command, len, |c, a| fcntl64::real(fcntl64::NEXT.symbol(), fd, c, a), || next(fd, command, len)) }
    }
    plain around unshare(flags: c_int) -> c_int |next| {
        crate::aside::before_unshare(flags);
        next(flags)
    }
    patch around getdents64(dir: c_int, buf: *mut c_void, n: size_t) -> ssize_t |next| {
        // SAFETY: the program's own call, or readdir's.
        unsafe { listing::getdents(|| next(dir, buf, n), dir, buf.cast()) }
    }
    plain around sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t |next| {
        // SAFETY: the program's own message.
        unsafe { sockets::before_send(message) };
        next(fd, message, flags)
    }
    plain around recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t |next| {
        let received = next(fd, message, flags);
        if received >= 0 {
            // SAFETY: the program's own message, filled in by the kernel.
            unsafe { sockets::after_receive(message) };
        }
        received
    }
    plain around sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int |next| {
        // SAFETY: the program's own messages.
        unsafe { sockets::before_send_many(messages, count) };
        next(fd, messages, count, flags)
    }
    plain around recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, bound: *mut timespec) -> c_int |next| {
        let received = next(fd, messages, count, flags, bound);
        // SAFETY: the program's own messages, filled in by the kernel.
        unsafe { sockets::after_receive_many(messages, received) };
        received
    }
    plain around pidfd_getfd(pidfd: c_int, target: c_int, flags: c_uint) -> c_int |next| {
        sockets::taken(next(pidfd, target, flags), pidfd, target)
    }
}
