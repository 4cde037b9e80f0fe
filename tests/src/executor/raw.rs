//! A file as the kernel has it: read with system calls made in line, which no preloaded library sees.

use std::os::fd::OwnedFd;

use rustix::fs::{fstat, openat, seek, FileType, Mode, OFlags, SeekFrom, CWD};
use rustix::io::{pread, Errno};

use crate::data::{SparseDigest, SPARSE_BLOCK};

/// Size and digest of the file at `path`, or why there is none.
pub fn describe(path: &str) -> String {
    match digest(path) {
        Ok(text) => text,
        Err(errno) => format!("{:?}", nix::errno::Errno::from_raw(errno.raw_os_error())),
    }
}

fn digest(path: &str) -> Result<String, Errno> {
    let probe = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let kind = FileType::from_raw_mode(fstat(&probe)?.st_mode);
    if kind != FileType::RegularFile {
        return Ok(format!("{kind:?}"));
    }
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    let size = fstat(&file)?.st_size as u64;
    Ok(format!("size {size} digest {:016x}", sparse_digest(&file)?))
}

/// Digest of an open regular file, passing over its holes.
pub fn sparse_digest(file: &OwnedFd) -> Result<u64, Errno> {
    let mut digest = SparseDigest::default();
    let mut at = 0;
    loop {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(digest.value()),
            Err(errno) => return Err(errno),
        };
        let end = seek(file, SeekFrom::Hole(start))?;
        at = digest_extent(file, start / SPARSE_BLOCK * SPARSE_BLOCK, end, &mut digest)?;
    }
}

fn digest_extent(file: &OwnedFd, start: u64, end: u64, digest: &mut SparseDigest) -> Result<u64, Errno> {
    let mut buffer = vec![0_u8; 64 << 10];
    let mut at = start;
    while at < end {
        // No further than the extent: at the highest offsets of all, a longer read is refused.
        let want = buffer.len().min((end - at) as usize);
        let mut filled = 0;
        while filled < want {
            match pread(file, &mut buffer[filled..want], at + filled as u64)? {
                0 => break,
                count => filled += count,
            }
        }
        if filled == 0 {
            break;
        }
        for (index, block) in buffer[..filled].chunks(SPARSE_BLOCK as usize).enumerate() {
            digest.block(at + index as u64 * SPARSE_BLOCK, block);
        }
        at += filled as u64;
    }
    Ok(at.max(end))
}
