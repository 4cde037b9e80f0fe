//! Opening, positioning, duplicating, closing and locking.

use super::aliases;
use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::script::op::{LockCall, OpenCall};
use crate::script::OpenFlags;

impl Process {
    pub(super) fn open(
        &mut self,
        slot: u8,
        call: OpenCall,
        dir_slot: Option<u8>,
        path: &str,
        flags: i32,
        mode: u32,
    ) -> String {
        // What a slot held before is closed, or scripts would leak descriptors without end.
        let before = self.fd(slot);
        if before >= 0 {
            // SAFETY: takes no memory.
            unsafe { calls::close(before) };
            self.slots[usize::from(slot) % crate::script::SLOTS] = -1;
        }
        let call = if calls::by_number() { OpenCall::Syscall } else { call };
        let path = self.path(path);
        let dir = dir_slot.map_or(libc::AT_FDCWD, |dir_slot| self.fd(dir_slot));
        let has_mode = flags & (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) != 0;
        // SAFETY: the path is a live C string.
        let outcome = Outcome::of(|| unsafe {
            match call {
                OpenCall::Checked if !has_mode => aliases::__open_2(path.as_ptr(), flags),
                OpenCall::Checked64 if !has_mode => aliases::__open64_2(path.as_ptr(), flags),
                OpenCall::CheckedAt if !has_mode => aliases::__openat_2(dir, path.as_ptr(), flags),
                OpenCall::CheckedAt64 if !has_mode => aliases::__openat64_2(dir, path.as_ptr(), flags),
                OpenCall::Creat64 => libc::creat64(path.as_ptr(), mode),
                OpenCall::Syscall => libc::syscall(libc::SYS_openat, dir, path.as_ptr(), flags, mode) as i32,
                OpenCall::Openat2 => aliases::openat2(dir, path.as_ptr(), flags, mode),
                OpenCall::Checked | OpenCall::CheckedAt => libc::open(path.as_ptr(), flags, mode),
                OpenCall::Checked64 | OpenCall::CheckedAt64 => libc::open64(path.as_ptr(), flags, mode),
                OpenCall::Open => libc::open(path.as_ptr(), flags, mode),
                OpenCall::Open64 => libc::open64(path.as_ptr(), flags, mode),
                OpenCall::Openat => libc::openat(dir, path.as_ptr(), flags, mode),
                OpenCall::Openat64 => libc::openat64(dir, path.as_ptr(), flags, mode),
                OpenCall::Creat => libc::creat(path.as_ptr(), mode),
            }
        });
        self.set_fd(slot, outcome.int());
        format!("{outcome}{}", self.position(outcome.int()))
    }

    pub(super) fn lseek(&self, slot: u8, offset: i64, whence: i32) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe {
            if offset % 2 == 0 {
                calls::lseek(fd, offset, whence)
            } else {
                libc::lseek64(fd, offset, whence)
            }
        });
        format!("{outcome}{}", self.position(fd))
    }

    pub(super) fn dup(&mut self, slot: u8, to_slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::dup(fd) });
        self.take_over(to_slot, outcome)
    }

    pub(super) fn fcntl_dup(&mut self, slot: u8, to_slot: u8, min: i32, cloexec: bool) -> String {
        let fd = self.fd(slot);
        let command = if cloexec { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::fcntl(fd, command, min as usize) });
        self.take_over(to_slot, outcome)
    }

    /// Puts a new descriptor into a slot and closes what was there.
    pub(super) fn take_over(&mut self, to_slot: u8, outcome: Outcome) -> String {
        let before = self.fd(to_slot);
        let mut closed = String::new();
        if outcome.is_ok() {
            if before >= 0 {
                // SAFETY: takes no memory.
                closed = format!(" close {}", Outcome::of(|| unsafe { calls::close(before) }));
            }
            self.set_fd(to_slot, outcome.int());
        }
        format!("{outcome}{closed}{}", self.position(outcome.int()))
    }

    /// The descriptor of a slot, or a number of its own if the slot is closed.
    pub(super) fn target(&self, slot: u8) -> i32 {
        match self.fd(slot) {
            -1 => 20 + i32::from(slot),
            fd => fd,
        }
    }

    pub(super) fn dup2(&mut self, slot: u8, to_slot: u8) -> String {
        let (fd, target) = (self.fd(slot), self.target(to_slot));
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::dup2(fd, target) });
        self.set_fd(to_slot, outcome.int());
        format!("{outcome}{}", self.position(outcome.int()))
    }

    pub(super) fn dup3(&mut self, slot: u8, to_slot: u8, cloexec: bool) -> String {
        let (fd, target) = (self.fd(slot), self.target(to_slot));
        let flags = if cloexec { libc::O_CLOEXEC } else { 0 };
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::dup3(fd, target, flags) });
        self.set_fd(to_slot, outcome.int());
        format!("{outcome}{}", self.position(outcome.int()))
    }

    pub(super) fn get_flags(&self, slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let status = Outcome::of(|| unsafe { calls::fcntl(fd, libc::F_GETFL, 0) });
        // SAFETY: takes no memory.
        let flags = Outcome::of(|| unsafe { calls::fcntl(fd, libc::F_GETFD, 0) });
        if status.is_ok() {
            format!("{} fd {flags}", OpenFlags(status.int()).names())
        } else {
            format!("{status} fd {flags}")
        }
    }

    pub(super) fn set_flags(&self, slot: u8, flags: i32) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe { calls::fcntl(fd, libc::F_SETFL, flags as usize) }).to_string()
    }

    pub(super) fn set_cloexec(&self, slot: u8, cloexec: bool) -> String {
        let fd = self.fd(slot);
        let flags = if cloexec { libc::FD_CLOEXEC } else { 0 };
        // SAFETY: takes no memory.
        Outcome::of(|| unsafe { calls::fcntl(fd, libc::F_SETFD, flags as usize) }).to_string()
    }

    pub(super) fn close(&mut self, slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::close(fd) });
        if outcome.is_ok() {
            self.slots[usize::from(slot) % crate::script::SLOTS] = -1;
        }
        outcome.to_string()
    }

    /// Before everything is closed: the descriptors that measure held mappings would go too, and the sockets
    /// do.
    pub(super) fn forget_high_descriptors(&mut self) {
        for map in 0..self.maps.len() {
            self.map_drop(map as u8);
        }
        self.mail = None;
    }

    pub(super) fn close_from(&mut self, slot: u8) -> String {
        let fd = self.fd(slot);
        // The executor's own descriptors lie below every slot's first.
        if fd < 3 || slot == crate::script::NEVER_OPEN {
            return "closed".into();
        }
        self.forget_high_descriptors();
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe { calls::close_range(fd as u32, u32::MAX, 0) });
        for slot in &mut self.slots {
            if *slot >= fd {
                *slot = -1;
            }
        }
        outcome.to_string()
    }

    pub(super) fn lock(&self, slot: u8, call: LockCall, kind: i32, start: i64, len: i64) -> String {
        let fd = self.fd(slot);
        // SAFETY: all fields are integers, for which zero is a value.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as i16;
        lock.l_whence = libc::SEEK_SET as i16;
        lock.l_start = start;
        lock.l_len = len;
        let command = match call {
            LockCall::Process => libc::F_SETLK,
            LockCall::Description => libc::F_OFD_SETLK,
            LockCall::Ask => libc::F_GETLK,
            LockCall::Flock => {
                let operation = match kind {
                    libc::F_RDLCK => libc::LOCK_SH,
                    libc::F_WRLCK => libc::LOCK_EX,
                    _ => libc::LOCK_UN,
                };
                // SAFETY: takes no memory.
                return Outcome::of(|| unsafe { calls::flock(fd, operation | libc::LOCK_NB) }).to_string();
            }
        };
        // SAFETY: the structure outlives the call.
        let outcome = Outcome::of(|| unsafe { calls::fcntl(fd, command, &raw mut lock as usize) });
        match call {
            LockCall::Ask if outcome.is_ok() => {
                format!("{outcome} type {} start {} len {}", lock.l_type, lock.l_start, lock.l_len)
            }
            _ => outcome.to_string(),
        }
    }
}
