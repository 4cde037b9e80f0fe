//! Data and position.

use crate::ops::{data, position, vectors};
use libc::{c_int, c_void, iovec, off_t, size_t, ssize_t};

rows! {
    patch point read(fd: c_int, buf: *mut c_void, n: size_t) -> ssize_t { data::read(fd, buf, n) }
    patch point write(fd: c_int, buf: *const c_void, n: size_t) -> ssize_t { data::write(fd, buf, n) }
    plain point pread(fd: c_int, buf: *mut c_void, n: size_t, offset: off_t) -> ssize_t { data::pread(fd, buf, n, offset) }
    patch point pread64(fd: c_int, buf: *mut c_void, n: size_t, offset: off_t) -> ssize_t { data::pread(fd, buf, n, offset) }
    plain point pwrite(fd: c_int, buf: *const c_void, n: size_t, offset: off_t) -> ssize_t { data::pwrite(fd, buf, n, offset) }
    patch point pwrite64(fd: c_int, buf: *const c_void, n: size_t, offset: off_t) -> ssize_t { data::pwrite(fd, buf, n, offset) }
    plain point __read_chk(fd: c_int, buf: *mut c_void, n: size_t, room: size_t) -> ssize_t { data::read_checked(fd, buf, n, room) }
    plain point __pread_chk(fd: c_int, buf: *mut c_void, n: size_t, offset: off_t, room: size_t) -> ssize_t { data::pread_checked(fd, buf, n, offset, room) }
    plain point __pread64_chk(fd: c_int, buf: *mut c_void, n: size_t, offset: off_t, room: size_t) -> ssize_t { data::pread_checked(fd, buf, n, offset, room) }
    patch point readv(fd: c_int, iov: *const iovec, count: c_int) -> ssize_t { vectors::readv(fd, iov, count) }
    patch point writev(fd: c_int, iov: *const iovec, count: c_int) -> ssize_t { vectors::writev(fd, iov, count) }
    plain point preadv(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t { vectors::preadv(fd, iov, count, offset) }
    plain point preadv64(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t { vectors::preadv(fd, iov, count, offset) }
    plain point pwritev(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t { vectors::pwritev(fd, iov, count, offset) }
    plain point pwritev64(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t { vectors::pwritev(fd, iov, count, offset) }
    plain point preadv2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> ssize_t { vectors::preadv2(fd, iov, count, offset, rwf) }
    plain point preadv64v2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> ssize_t { vectors::preadv2(fd, iov, count, offset, rwf) }
    plain point pwritev2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> ssize_t { vectors::pwritev2(fd, iov, count, offset, rwf) }
    plain point pwritev64v2(fd: c_int, iov: *const iovec, count: c_int, offset: off_t, rwf: c_int) -> ssize_t { vectors::pwritev2(fd, iov, count, offset, rwf) }
    plain hook lseek(fd: c_int, offset: off_t, whence: c_int) -> off_t { position::lseek(fd, offset, whence) }
    patch hook lseek64(fd: c_int, offset: off_t, whence: c_int) -> off_t { position::lseek(fd, offset, whence) }
}
