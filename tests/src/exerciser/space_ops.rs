//! What changes a file's size, and what makes holes in it or room for it.

use std::ffi::CString;

use super::actor::{floor, outcome, Actor};
use super::kinds::Kind;
use super::probe;
use super::state::{MOST, NAMES};

impl Actor {
    /// Follows a truncation in the model.
    pub fn truncated(&mut self, file: usize, size: usize) {
        if size < self.state.files[file].size {
            self.state.disturb(file);
        }
        self.state.files[file].truncate(size);
    }

    fn new_size(&mut self, size: usize) -> usize {
        match self.random.below(4) {
            0 => self.random.below(size as u64 + 1) as usize,
            1 if self.random.once_in(3) => 0,
            _ => self.offset(size),
        }
    }

    pub(super) fn truncate_fd(&mut self) {
        let Some(picked) = self.pick_writer() else { return };
        let size = self.state.files[picked.d.file].size;
        let to = self.new_size(size);
        self.told(&format!(" {size} to {to}"));
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::ftruncate64(picked.slot.fd, to as i64) }.into());
        let want = if picked.writes() { Ok(0) } else { Err(libc::EINVAL) };
        self.expect("ftruncate", got, want);
        if want.is_ok() {
            self.truncated(picked.d.file, to);
        }
    }

    pub(super) fn truncate_path(&mut self) {
        let name = self.random.below(self.profile.names as u64) as usize;
        let size = self.state.names[name].map_or(0, |file| self.state.files[file].size);
        let to = self.new_size(size);
        self.told(&format!(" {} {size} to {to}", NAMES[name]));
        let path = CString::new(NAMES[name]).expect("a name");
        // SAFETY: a C string.
        let got = outcome(unsafe { libc::truncate64(path.as_ptr(), to as i64) }.into());
        match self.state.names[name] {
            None => self.expect("truncate", got, Err(libc::ENOENT)),
            Some(file) => {
                self.expect("truncate", got, Ok(0));
                self.truncated(file, to);
            }
        }
    }

    pub(super) fn space(&mut self, kind: Kind) {
        let Some(picked) = self.pick_writer() else { return };
        let file = picked.d.file;
        let size = self.state.files[file].size;
        let (mut at, mut len) = (self.offset(size), self.length());
        let shifts = matches!(kind, Kind::Collapse | Kind::Insert);
        let block = self.state.block;
        if shifts && !self.random.once_in(8) {
            at = floor(at % size.max(1)) / block * block;
            len = (len / 4).max(1).next_multiple_of(block);
        }
        let keep = self.random.once_in(2);
        let (mode, able) = match kind {
            Kind::Punch => (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, probe::PUNCH),
            Kind::Zero if keep => (libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE, probe::ZERO),
            Kind::Zero => (libc::FALLOC_FL_ZERO_RANGE, probe::ZERO),
            Kind::KeepSize => (libc::FALLOC_FL_KEEP_SIZE, probe::ALLOCATE),
            Kind::Collapse => (libc::FALLOC_FL_COLLAPSE_RANGE, probe::COLLAPSE),
            Kind::Insert => (libc::FALLOC_FL_INSERT_RANGE, probe::INSERT),
            _ => (0, probe::ALLOCATE),
        };
        if self.state.able & able == 0 {
            return self.told(" not on this file system");
        }
        if at + len > MOST || kind == Kind::Insert && size + len > MOST {
            return self.told(" no room there");
        }
        self.told(&format!(" mode {mode} at {at} len {len} size {size}"));
        let fits = at % block == 0 && len % block == 0;
        let valid = match kind {
            Kind::Collapse => fits && at + len < size,
            Kind::Insert => fits && at < size,
            _ => true,
        };
        let posix = mode == 0 && keep;
        // SAFETY: takes no memory.
        let got = unsafe {
            if posix {
                match libc::posix_fallocate64(picked.slot.fd, at as i64, len as i64) {
                    0 => Ok(0),
                    errno => Err(errno),
                }
            } else {
                outcome(libc::fallocate64(picked.slot.fd, mode, at as i64, len as i64).into())
            }
        };
        let want = match (picked.writes(), valid) {
            (false, _) => Err(libc::EBADF),
            (true, true) => Ok(0),
            (true, false) => Err(libc::EINVAL),
        };
        self.expect("fallocate", got, want);
        if want.is_err() {
            return;
        }
        let keeps_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        if mode != 0 && kind != Kind::KeepSize {
            self.state.disturb(file);
        }
        let model = &mut self.state.files[file];
        match kind {
            Kind::Punch | Kind::Zero => model.zero(at, len),
            Kind::Collapse => model.collapse(at, len),
            Kind::Insert => model.insert(at, len),
            _ => {}
        }
        if !keeps_size && !shifts {
            model.reach(at + len);
        }
    }
}
