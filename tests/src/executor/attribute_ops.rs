//! What a file carries besides its bytes, by the rarer names of the calls.

use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::{AttributeOp, TimesCall};

const NAME: *const libc::c_char = c"user.millpond".as_ptr();

fn timeval(seconds: i64) -> [libc::timeval; 2] {
    [libc::timeval { tv_sec: seconds, tv_usec: 0 }; 2]
}

/// What `getxattr` or `fgetxattr` gave.
fn show_attribute(call: impl FnOnce(*mut libc::c_void, usize) -> isize) -> String {
    let mut bytes = [0_u8; 64];
    let outcome = Outcome::of(|| call(bytes.as_mut_ptr().cast(), bytes.len()) as i64);
    let seen = outcome.count().unwrap_or(0).min(bytes.len());
    format!("{outcome} [{}]", data::show(&bytes[..seen]))
}

impl Process {
    pub(super) fn attribute_op(&self, op: &AttributeOp) -> String {
        let at = libc::AT_FDCWD;
        match op {
            AttributeOp::Times { path, call, seconds } => self.times(path, *call, *seconds),
            AttributeOp::Futimes { slot, seconds } => {
                let (fd, times) = (self.fd(*slot), timeval(*seconds));
                // SAFETY: the times outlive the call.
                Outcome::of(|| unsafe { libc::futimes(fd, times.as_ptr()) }).to_string()
            }
            AttributeOp::Chmodat { path, mode } => {
                let path = self.path(path);
                // SAFETY: the path is a live C string.
                Outcome::of(|| unsafe { libc::fchmodat(at, path.as_ptr(), *mode, 0) }).to_string()
            }
            AttributeOp::Chown { path, link } => {
                let path = self.path(path);
                // SAFETY: the path is a live C string; the numbers are those that the file has.
                Outcome::of(|| unsafe {
                    match *link {
                        true => libc::lchown(path.as_ptr(), 0, 0),
                        false => libc::fchownat(at, path.as_ptr(), 0, 0, 0),
                    }
                })
                .to_string()
            }
            AttributeOp::Setxattr { path, seed } => {
                let (path, bytes) = (self.path(path), Process::attribute_bytes(*seed));
                // SAFETY: names are live C strings, the bytes outlive the call.
                Outcome::of(|| unsafe {
                    libc::setxattr(path.as_ptr(), NAME, bytes.as_ptr().cast(), bytes.len(), 0)
                })
                .to_string()
            }
            AttributeOp::Fsetxattr { slot, seed } => {
                let (fd, bytes) = (self.fd(*slot), Process::attribute_bytes(*seed));
                // SAFETY: the name is a live C string, the bytes outlive the call.
                Outcome::of(|| unsafe { libc::fsetxattr(fd, NAME, bytes.as_ptr().cast(), bytes.len(), 0) })
                    .to_string()
            }
            AttributeOp::Getxattr { path } => {
                let path = self.path(path);
                // SAFETY: names are live C strings, the buffer has the length given.
                show_attribute(|out, len| unsafe { libc::getxattr(path.as_ptr(), NAME, out, len) })
            }
            AttributeOp::Fgetxattr { slot } => {
                let fd = self.fd(*slot);
                // SAFETY: the name is a live C string, the buffer has the length given.
                show_attribute(|out, len| unsafe { libc::fgetxattr(fd, NAME, out, len) })
            }
            AttributeOp::Renameat { from, to } => {
                let (from, to) = (self.path(from), self.path(to));
                // SAFETY: the paths are live C strings.
                Outcome::of(|| unsafe { calls::renameat(at, from.as_ptr(), at, to.as_ptr()) }).to_string()
            }
            AttributeOp::Linkat { from, to, follow } => {
                let (from, to) = (self.path(from), self.path(to));
                let flags = if *follow { libc::AT_SYMLINK_FOLLOW } else { 0 };
                // SAFETY: the paths are live C strings.
                Outcome::of(|| unsafe { calls::linkat(at, from.as_ptr(), at, to.as_ptr(), flags) })
                    .to_string()
            }
            AttributeOp::Unlinkat { path, directory } => {
                let path = self.path(path);
                let flags = if *directory { libc::AT_REMOVEDIR } else { 0 };
                // SAFETY: the path is a live C string.
                Outcome::of(|| unsafe { calls::unlinkat(at, path.as_ptr(), flags) }).to_string()
            }
            AttributeOp::Faccessat { path, mode } => {
                let path = self.path(path);
                // SAFETY: the path is a live C string.
                Outcome::of(|| unsafe { libc::faccessat(at, path.as_ptr(), *mode, libc::AT_EACCESS) })
                    .to_string()
            }
            AttributeOp::Readlink { path } => {
                let path = self.path(path);
                self.read_link(&path.to_string_lossy())
            }
        }
    }

    fn times(&self, path: &str, call: TimesCall, seconds: i64) -> String {
        let path = self.path(path);
        let path = path.as_ptr();
        let times = timeval(seconds);
        let single = libc::utimbuf { actime: seconds, modtime: seconds };
        let partly = [
            libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW },
            libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
        ];
        // SAFETY: the path is a live C string, the times outlive the call.
        Outcome::of(|| unsafe {
            match call {
                TimesCall::Utime => libc::utime(path, &single),
                TimesCall::Utimes => libc::utimes(path, times.as_ptr()),
                TimesCall::Lutimes => libc::lutimes(path, times.as_ptr()),
                TimesCall::Futimesat => super::aliases::futimesat(libc::AT_FDCWD, path, times.as_ptr()),
                TimesCall::Omit => calls::utimensat(libc::AT_FDCWD, path, partly.as_ptr(), 0),
            }
        })
        .to_string()
    }
}
