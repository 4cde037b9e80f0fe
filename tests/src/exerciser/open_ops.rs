//! Opens, closes, duplicates, flags, and what makes the pool let go of pages.

use std::ffi::CString;

use super::actor::{outcome, Actor};
use super::probe;
use super::state::{Slot, MOST, NAMES, SLOTS};

/// Bytes of the file that presses others out of a small pool.
const PRESSURE: usize = 1 << 20;
/// How often the coordinator is asked to write everything, until it does.
const DRAINS: usize = 50;

impl Actor {
    /// The flags of an open.
    fn flags(&mut self) -> i32 {
        let mode = match self.random.below(10) {
            0 | 1 => libc::O_RDONLY,
            2 | 3 => libc::O_WRONLY,
            _ => libc::O_RDWR,
        };
        let mut flags = mode | if self.random.once_in(2) { libc::O_CREAT } else { 0 };
        if self.profile.append && self.random.once_in(4) {
            flags |= libc::O_APPEND;
        }
        if self.random.once_in(12) && mode != libc::O_RDONLY {
            flags |= libc::O_TRUNC;
        }
        if self.random.once_in(30) {
            flags |= libc::O_CREAT | libc::O_EXCL;
        }
        if self.random.once_in(25) {
            flags |= self.random.pick(&[libc::O_SYNC, libc::O_DSYNC]);
        }
        if self.random.once_in(3) {
            flags |= libc::O_CLOEXEC;
        }
        if self.profile.direct && self.state.able & probe::DIRECT != 0 && self.random.once_in(4) {
            flags |= libc::O_DIRECT;
        }
        flags
    }

    pub(super) fn open(&mut self) {
        let index = self.random.below(SLOTS as u64) as usize;
        self.close_slot(index);
        if self.random.once_in(5) && self.state.roles[self.role].slots.iter().any(Option::is_some) {
            return self.open_again(index);
        }
        let name = self.random.below(self.profile.names as u64) as usize;
        let way = self.random.below(5);
        let mut flags = self.flags();
        if way == 0 {
            flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        }
        let known = self.state.names[name];
        let creates = flags & libc::O_CREAT != 0;
        if known.is_none() && creates && self.state.files.iter().all(|file| file.used) {
            return self.told(" too many files");
        }
        self.told(&format!(" {} flags {flags:#o} way {way}", NAMES[name]));
        let directory = std::env::current_dir().expect("current directory");
        let path = match way {
            1 => directory.join(NAMES[name]).to_string_lossy().into_owned(),
            2 => format!("./{}", NAMES[name]),
            _ => NAMES[name].into(),
        };
        let path = CString::new(path).expect("a path");
        // SAFETY: a C string.
        let got = outcome(i64::from(unsafe {
            match way {
                0 => libc::creat64(path.as_ptr(), 0o644),
                3 => libc::openat64(libc::AT_FDCWD, path.as_ptr(), flags, 0o644),
                _ => libc::open64(path.as_ptr(), flags, 0o644),
            }
        }));
        let want = match (known, creates, flags & libc::O_EXCL != 0) {
            (None, false, _) => Err(libc::ENOENT),
            (Some(_), true, true) => Err(libc::EEXIST),
            _ => Ok(got.unwrap_or(0)),
        };
        self.expect("open", got, want);
        let Ok(fd) = want else { return };
        let file = known.unwrap_or_else(|| self.state.new_file().expect("room for a file"));
        self.state.names[name] = Some(file);
        if flags & libc::O_TRUNC != 0 {
            self.truncated(file, 0);
        }
        self.take(index, fd, file, flags);
    }

    /// Opens a file of one of the descriptors once more, whether it still has a name or not.
    fn open_again(&mut self, index: usize) {
        let Some(picked) = self.pick_any() else { return };
        let flags = self.flags() & !(libc::O_CREAT | libc::O_EXCL);
        let path = CString::new(format!("/proc/self/fd/{}", picked.slot.fd)).expect("a path");
        self.told(&format!(" again, flags {flags:#o}"));
        // SAFETY: a C string.
        let got = outcome(unsafe { libc::open64(path.as_ptr(), flags) }.into());
        let fd = got.unwrap_or(0);
        self.expect("open", got, Ok(fd));
        if flags & libc::O_TRUNC != 0 {
            self.truncated(picked.d.file, 0);
        }
        self.take(index, fd, picked.d.file, flags);
    }

    fn take(&mut self, index: usize, fd: usize, file: usize, flags: i32) {
        let kept = libc::O_ACCMODE | libc::O_APPEND | libc::O_DIRECT | libc::O_SYNC;
        let description = self.state.new_description(file, flags & kept).expect("room for a description");
        let cloexec = flags & libc::O_CLOEXEC != 0;
        self.state.roles[self.role].slots[index] = Some(Slot { fd: fd as i32, description, cloexec });
    }

    pub(super) fn close(&mut self) {
        if let Some(picked) = self.pick_any() {
            self.close_slot(picked.index);
        }
    }

    /// Closes what there is at `index`. A file's last descriptor in this process leaves its bytes in the real file.
    pub fn close_slot(&mut self, index: usize) {
        let Some(slot) = self.state.roles[self.role].slots[index].take() else { return };
        let file = self.state.descriptions[slot.description].file;
        // SAFETY: the descriptor is the run's own.
        let got = outcome(unsafe { libc::close(slot.fd) }.into());
        self.told(&format!(" close {}", slot.fd));
        self.expect("close", got, Ok(0));
        self.state.descriptions[slot.description].refs -= 1;
        self.look_after_last(slot, file, "after the last close");
    }

    pub(super) fn dup(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let index = self.random.below(SLOTS as u64) as usize;
        if index == picked.index {
            return self.told(" onto itself");
        }
        let fd = picked.slot.fd;
        let way = self.random.below(5);
        let target = self.state.roles[self.role].slots[index];
        if way < 3 {
            self.close_slot(index);
        }
        let cloexec = way == 1 || way == 4;
        // SAFETY: takes no memory; descriptors that are replaced are the run's own.
        let got = outcome(i64::from(unsafe {
            match (way, target) {
                (0, _) => libc::fcntl(fd, libc::F_DUPFD, 20),
                (1, _) => libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0),
                (3, Some(to)) => libc::dup2(fd, to.fd),
                (4, Some(to)) => libc::dup3(fd, to.fd, libc::O_CLOEXEC),
                (4, None) => libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0),
                _ => libc::dup(fd),
            }
        }));
        let want = match target {
            Some(to) if way >= 3 => to.fd as usize,
            _ => got.unwrap_or(0),
        };
        self.expect("dup", got, Ok(want));
        let description = picked.slot.description;
        self.state.descriptions[description].refs += 1;
        self.state.roles[self.role].slots[index] = Some(Slot { fd: want as i32, description, cloexec });
        if let Some(gone) = target.filter(|_| way >= 3) {
            let file = self.state.descriptions[gone.description].file;
            self.state.descriptions[gone.description].refs -= 1;
            self.look_after_last(gone, file, "after a duplicate replaced the last descriptor");
        }
    }

    /// A look at a file of which this process has no descriptor left. A reader's close does not wait for other processes' bytes.
    fn look_after_last(&mut self, closed: Slot, file: usize, when: &str) {
        let writes = self.state.descriptions[closed.description].writes();
        if !self.options.lazy && !self.state.holds(self.role, file) && (writes || self.options.processes == 1)
        {
            self.look(file, when);
        }
    }

    pub(super) fn set_flags(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let able =
            if self.state.able & probe::DIRECT != 0 && self.profile.direct { libc::O_DIRECT } else { 0 };
        let flip = self.random.pick(&[libc::O_APPEND, libc::O_APPEND, able]);
        let changeable = libc::O_APPEND | libc::O_DIRECT;
        let flags = picked.d.flags & changeable ^ flip;
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::fcntl(picked.slot.fd, libc::F_SETFL, flags) }.into());
        self.expect("fcntl", got, Ok(0));
        self.state.descriptions[picked.slot.description].flags = picked.d.flags & !changeable | flags;
        // SAFETY: takes no memory.
        let told = outcome(unsafe { libc::fcntl(picked.slot.fd, libc::F_GETFL) }.into());
        self.expect("flags", told.map(|now| now & changeable as usize), Ok(flags as usize));
    }

    pub(super) fn evict(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let size = self.state.files[picked.d.file].size;
        let (at, len) = match self.random.below(3) {
            0 => (self.offset(size), self.length()),
            _ => (0, 0),
        };
        let advice = self.random.pick(&[
            libc::POSIX_FADV_DONTNEED,
            libc::POSIX_FADV_DONTNEED,
            libc::POSIX_FADV_WILLNEED,
            libc::POSIX_FADV_RANDOM,
            libc::POSIX_FADV_SEQUENTIAL,
        ]);
        // SAFETY: takes no memory.
        let told = unsafe { libc::posix_fadvise64(picked.slot.fd, at as i64, len as i64, advice) };
        self.expect(&format!("advice {advice}"), Ok(told as usize), Ok(0));
    }

    /// Writes and reads so much of another file that a small pool keeps nothing else.
    pub(super) fn pressure(&mut self) {
        let path = c"pressure";
        // SAFETY: a C string.
        let fd = unsafe { libc::open64(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o644) };
        let bytes = vec![self.step as u8; 64 << 10];
        let mut back = vec![0; 64 << 10];
        for at in (0..PRESSURE).step_by(bytes.len()) {
            // SAFETY: the bytes outlive the calls.
            let (put, got) = unsafe {
                (
                    libc::pwrite64(fd, bytes.as_ptr().cast(), bytes.len(), at as i64),
                    libc::pread64(fd, back.as_mut_ptr().cast(), back.len(), at as i64),
                )
            };
            self.expect("pressure", outcome(put.min(got) as i64), Ok(bytes.len()));
            if bytes != back {
                self.fail("the pressing file is not what was written");
            }
        }
        // SAFETY: the descriptor is this operation's own.
        let got = outcome(unsafe { libc::close(fd) }.into());
        self.expect("close", got, Ok(0));
    }

    /// Has the coordinator write everything.
    pub(super) fn drain(&mut self) {
        if self.options.millpond.is_empty() {
            return self.told(" nothing to drain");
        }
        let mut command = std::process::Command::new(&self.options.millpond);
        command.args(["drain", "--instance", &self.options.instance]).stdin(std::process::Stdio::null());
        // A coordinator whose worker has just been killed may refuse.
        let mut said = String::new();
        let done = (0..DRAINS).any(|_| match command.output() {
            Ok(output) => {
                said = String::from_utf8_lossy(&output.stderr).into_owned();
                output.status.success()
            }
            Err(error) => self.fail(&format!("drain: {error}")),
        });
        if !done {
            self.fail(&format!("drain fails again and again: {said}"));
        }
        for name in self.state.names.into_iter().flatten() {
            self.look(name, "after a drain");
        }
    }

    pub(super) fn sync(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let fd = picked.slot.fd;
        let way = self.random.below(4);
        // SAFETY: takes no memory.
        let got = outcome(i64::from(unsafe {
            match way {
                0 => libc::fdatasync(fd),
                1 => libc::sync_file_range(fd, 0, MOST as i64, libc::SYNC_FILE_RANGE_WRITE),
                _ => libc::fsync(fd),
            }
        }));
        self.expect("sync", got, Ok(0));
        if way != 1 {
            self.look(picked.d.file, "after a sync");
        }
    }

    pub(super) fn sync_all(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::syncfs(picked.slot.fd) }.into());
        self.expect("syncfs", got, Ok(0));
        for name in self.state.names.into_iter().flatten() {
            self.look(name, "after a sync of all");
        }
    }

    pub(super) fn stat(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let file = picked.d.file;
        let want = self.state.files[file].size;
        let name = self.state.names.iter().position(|known| *known == Some(file));
        let path = CString::new(name.map_or("/proc/self/fd/0", |name| NAMES[name])).expect("a path");
        // SAFETY: all fields are integers, for which zero is a value.
        let mut stat: libc::stat64 = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut statx: libc::statx = unsafe { std::mem::zeroed() };
        let way = if name.is_none() { 0 } else { self.random.below(4) };
        // SAFETY: C strings, and results that outlive the calls.
        let got = unsafe {
            match way {
                0 => libc::fstat64(picked.slot.fd, &mut stat),
                1 => libc::stat64(path.as_ptr(), &mut stat),
                2 => libc::fstatat64(libc::AT_FDCWD, path.as_ptr(), &mut stat, 0),
                _ => libc::statx(libc::AT_FDCWD, path.as_ptr(), 0, libc::STATX_SIZE, &mut statx),
            }
        };
        self.expect("stat", outcome(got.into()), Ok(0));
        let size = if way == 3 { statx.stx_size } else { stat.st_size as u64 };
        self.expect("size", Ok(size as usize), Ok(want));
    }

    /// A look at the real file, right after a sync that makes it complete.
    pub(super) fn look_after_sync(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::fsync(picked.slot.fd) }.into());
        self.expect("fsync", got, Ok(0));
        self.look(picked.d.file, "after fsync");
    }
}
