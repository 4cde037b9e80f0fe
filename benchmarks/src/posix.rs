//! Plain libc calls as a C program makes them, through the dynamic symbol table, so that a preloaded library sees
//! them. The only place of the measuring loops that is unsafe.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path as libc takes it; made once, outside the measured loop.
pub fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

/// An open file. Closed on drop; [`File::close`] also tells whether that went well.
#[derive(Debug)]
pub struct File {
    fd: RawFd,
}

fn count(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn status(result: i32) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

impl File {
    /// `open(path, flags, 0644)`.
    #[inline]
    pub fn open(path: &CString, flags: i32) -> io::Result<Self> {
        // SAFETY: `path` is NUL-terminated and lives through the call.
        let fd = unsafe { libc::open(path.as_ptr(), flags, 0o644 as libc::c_uint) };
        status(fd).map(|()| Self { fd })
    }

    /// `read`, once.
    #[inline]
    pub fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the pointer and length name writable memory of this process.
        count(unsafe { libc::read(self.fd, buf.as_mut_ptr().cast(), buf.len()) })
    }

    /// `write`, once.
    #[inline]
    pub fn write(&self, buf: &[u8]) -> io::Result<usize> {
        // SAFETY: the pointer and length name readable memory of this process.
        count(unsafe { libc::write(self.fd, buf.as_ptr().cast(), buf.len()) })
    }

    /// `pread`, once.
    #[inline]
    pub fn pread(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        // SAFETY: the pointer and length name writable memory of this process.
        count(unsafe { libc::pread(self.fd, buf.as_mut_ptr().cast(), buf.len(), offset as libc::off_t) })
    }

    /// `pwrite`, once.
    #[inline]
    pub fn pwrite(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        // SAFETY: the pointer and length name readable memory of this process.
        count(unsafe { libc::pwrite(self.fd, buf.as_ptr().cast(), buf.len(), offset as libc::off_t) })
    }

    /// `write` that must take the whole buffer; a short count is an error here, as it is a finding.
    #[inline]
    pub fn write_whole(&self, buf: &[u8]) -> io::Result<()> {
        whole(self.write(buf)?, buf.len())
    }

    /// `pwrite` that must take the whole buffer.
    #[inline]
    pub fn pwrite_whole(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        whole(self.pwrite(buf, offset)?, buf.len())
    }

    /// `pread` that must fill the whole buffer.
    #[inline]
    pub fn pread_whole(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let wanted = buf.len();
        whole(self.pread(buf, offset)?, wanted)
    }

    /// `lseek(fd, 0, SEEK_SET)`.
    #[inline]
    pub fn rewind(&self) -> io::Result<()> {
        // SAFETY: takes and returns numbers only.
        let at = unsafe { libc::lseek(self.fd, 0, libc::SEEK_SET) };
        status(if at < 0 { -1 } else { 0 })
    }

    /// `fsync`.
    pub fn fsync(&self) -> io::Result<()> {
        // SAFETY: takes and returns numbers only.
        status(unsafe { libc::fsync(self.fd) })
    }

    /// `close`, with its result.
    #[inline]
    pub fn close(self) -> io::Result<()> {
        let fd = self.fd;
        std::mem::forget(self);
        // SAFETY: the descriptor is ours and, `self` being forgotten, is closed this once.
        status(unsafe { libc::close(fd) })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and nobody uses it after the drop.
        unsafe { libc::close(self.fd) };
    }
}

fn whole(done: usize, wanted: usize) -> io::Result<()> {
    if done == wanted {
        Ok(())
    } else {
        Err(io::Error::other(format!("short transfer: {done} of {wanted} bytes")))
    }
}

/// `unlink`; a file that is not there is fine.
pub fn unlink_if_there(path: &CString) -> io::Result<()> {
    // SAFETY: `path` is NUL-terminated and lives through the call.
    match status(unsafe { libc::unlink(path.as_ptr()) }) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
