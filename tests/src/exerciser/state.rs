//! What all processes of a run know: the model of every file, open file description, descriptor and mapping, whose turn it is, and what was done.
//!
//! It lies in a file outside any store that every process maps. Holds: it is touched by whoever has the turn, and by nobody else but for the
//! atomics; the one that watches the run reads it when it is over.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::AtomicU32;

/// Names of files in a run's directory.
pub const NAMES: [&str; 3] = ["a", "b", "c"];
/// Files that exist at once, with and without a name.
pub const FILES: usize = 8;
/// Longest file.
pub const MOST: usize = 1 << 20;
/// Open file descriptions at once.
pub const DESCRIPTIONS: usize = 64;
/// Descriptors of one process.
pub const SLOTS: usize = 6;
/// Processes that take turns.
pub const ROLES: usize = 4;
/// Mappings of one process.
pub const MAPS: usize = 4;
/// Operations that a report shows.
pub const LINES: usize = 80;
const LINE: usize = 240;

/// A file as it must be. Bytes at and beyond its size are zero.
#[repr(C)]
pub struct File {
    /// Whether anything refers to it.
    pub used: bool,
    /// Its size.
    pub size: usize,
    /// Its bytes.
    pub bytes: [u8; MOST],
}

/// An open file description.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Descriptors that share it.
    pub refs: u32,
    /// Its file.
    pub file: usize,
    /// Its offset.
    pub offset: usize,
    /// Flags that it was opened with, or was given later.
    pub flags: i32,
}

impl Description {
    /// Whether it can read.
    pub fn reads(&self) -> bool {
        self.flags & libc::O_ACCMODE != libc::O_WRONLY
    }

    /// Whether it can write.
    pub fn writes(&self) -> bool {
        self.flags & libc::O_ACCMODE != libc::O_RDONLY
    }
}

/// A descriptor of one process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its number.
    pub fd: i32,
    /// Its description.
    pub description: usize,
    /// Whether it goes at an exec.
    pub cloexec: bool,
}

/// A mapping of one process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Where.
    pub address: usize,
    /// How many bytes, whole pages.
    pub len: usize,
    /// The file.
    pub file: usize,
    /// Where in the file.
    pub offset: usize,
    /// `MAP_SHARED` rather than `MAP_PRIVATE`.
    pub shared: bool,
    /// Whether it may be written.
    pub writable: bool,
    /// Whether pages that a private mapping has of its own may have gone: they are no longer compared.
    pub stale: bool,
}

/// One process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// Its process id; 0 when it has ended.
    pub pid: i32,
    /// How it shall end now: 0 for not at all, else an [`Ending`].
    pub ending: u32,
    /// Its descriptors.
    pub slots: [Option<Slot>; SLOTS],
    /// Its mappings.
    pub maps: [Option<Map>; MAPS],
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ending {
    /// `exit`.
    Exit = 1,
    /// `_exit`.
    ExitNow = 2,
    /// `SIGKILL`.
    Kill = 3,
}

/// The last operations, as lines of text.
#[repr(C)]
pub struct Story {
    at: u32,
    lines: [[u8; LINE]; LINES],
}

/// All of it.
#[repr(C)]
pub struct State {
    /// Moves with whatever somebody may be waiting for.
    pub bell: AtomicU32,
    /// The step whose turn it is.
    pub turn: AtomicU32,
    /// Set by whoever found something wrong.
    pub failed: AtomicU32,
    /// Processes that were killed.
    pub kills: u32,
    /// Whether the model has been made wrong on purpose.
    pub lied: bool,
    /// The step at which a process became another program.
    pub step: u64,
    /// Block size of the file system.
    pub block: usize,
    /// What the file system can, see [`super::probe`].
    pub able: u32,
    /// File of each name.
    pub names: [Option<usize>; NAMES.len()],
    /// Open file descriptions.
    pub descriptions: [Description; DESCRIPTIONS],
    /// Processes.
    pub roles: [Role; ROLES],
    /// The last operations.
    pub story: Story,
    /// The files.
    pub files: [File; FILES],
}

impl State {
    /// Maps the state in the file at `path`; made and empty if `fresh`.
    ///
    /// # Errors
    /// When the file cannot be made, opened or mapped.
    pub fn map(path: &Path, fresh: bool) -> io::Result<&'static mut State> {
        let file = OpenOptions::new().read(true).write(true).create(fresh).truncate(fresh).open(path)?;
        let len = std::mem::size_of::<State>();
        if fresh {
            file.set_len(len as u64)?;
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: an address of the kernel's choice overlaps nothing; the file is as long as the mapping.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: page-aligned, long enough and never unmapped. All zeros is a value: `None` of `Option<usize>` and of the other options has
        // a discriminant of zero, and `fresh` states are laid out by `State::clear` before anything is read.
        let state = unsafe { &mut *address.cast::<State>() };
        if fresh {
            state.clear();
        }
        Ok(state)
    }

    fn clear(&mut self) {
        self.names = [None; NAMES.len()];
        self.descriptions = [Description { refs: 0, file: 0, offset: 0, flags: 0 }; DESCRIPTIONS];
        self.roles = [Role { pid: 0, ending: 0, slots: [None; SLOTS], maps: [None; MAPS] }; ROLES];
    }

    /// A file that nothing refers to yet, empty; `None` when there are too many.
    pub fn new_file(&mut self) -> Option<usize> {
        let index = self.files.iter().position(|file| !file.used)?;
        let file = &mut self.files[index];
        let size = file.size;
        file.bytes[..size].fill(0);
        (file.used, file.size) = (true, 0);
        Some(index)
    }

    /// A description; `None` when there are too many.
    pub fn new_description(&mut self, file: usize, flags: i32) -> Option<usize> {
        let index = self.descriptions.iter().position(|description| description.refs == 0)?;
        self.descriptions[index] = Description { refs: 1, file, offset: 0, flags };
        Some(index)
    }

    /// Takes away the files that nothing refers to any more.
    pub fn sweep(&mut self) {
        for index in 0..FILES {
            let named = self.names.contains(&Some(index));
            let open = self.descriptions.iter().any(|d| d.refs > 0 && d.file == index);
            let mapped = self.roles.iter().flat_map(|role| role.maps).flatten().any(|map| map.file == index);
            self.files[index].used &= named || open || mapped;
        }
    }

    /// Sizes, descriptors and mappings, for a report.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (index, file) in self.files.iter().enumerate().filter(|(_, file)| file.used) {
            let names: Vec<&str> = NAMES
                .iter()
                .zip(self.names)
                .filter(|(_, own)| *own == Some(index))
                .map(|(n, _)| *n)
                .collect();
            text += &format!("file {index}: size {}, names {names:?}\n", file.size);
        }
        for (index, role) in self.roles.iter().enumerate().filter(|(_, role)| role.pid != 0) {
            for slot in role.slots.iter().flatten() {
                let d = self.descriptions[slot.description];
                text += &format!("process {index} (pid {}): fd {} is {d:?}\n", role.pid, slot.fd);
            }
            for map in role.maps.iter().flatten() {
                text += &format!("process {index}: {map:?}\n");
            }
        }
        text
    }

    /// Whether a role has a descriptor of a file.
    pub fn holds(&self, role: usize, file: usize) -> bool {
        self.roles[role].slots.iter().flatten().any(|slot| self.descriptions[slot.description].file == file)
    }

    /// Private mappings of a file may have lost their own pages.
    pub fn disturb(&mut self, file: usize) {
        for map in self.roles.iter_mut().flat_map(|role| &mut role.maps).flatten() {
            map.stale |= map.file == file && !map.shared;
        }
    }
}

impl Story {
    /// Begins a line.
    pub fn line(&mut self, text: &str) {
        self.at = (self.at + 1) % LINES as u32;
        self.lines[self.at as usize] = [0; LINE];
        self.add(text);
    }

    /// Adds to the last line.
    pub fn add(&mut self, text: &str) {
        let line = &mut self.lines[self.at as usize];
        let used = line.iter().position(|byte| *byte == 0).unwrap_or(LINE);
        let text = &text.as_bytes()[..text.len().min(LINE - used)];
        line[used..used + text.len()].copy_from_slice(text);
    }

    /// The lines, oldest first.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in 1..=LINES {
            let line = &self.lines[(self.at as usize + step) % LINES];
            let used = line.iter().position(|byte| *byte == 0).unwrap_or(LINE);
            if used > 0 {
                text += &String::from_utf8_lossy(&line[..used]);
                text.push('\n');
            }
        }
        text
    }
}
