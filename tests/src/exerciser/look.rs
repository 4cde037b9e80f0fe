//! Looks at real files by system calls made in line, which no preloaded library sees: what a program without the shim would find.

use rustix::fs::{fstat, openat, Mode, OFlags, CWD};
use rustix::io::pread;

use super::actor::Actor;
use super::state::{State, NAMES, SLOTS};

/// All bytes of a file, by its path.
///
/// # Errors
/// The kernel's.
pub fn real_bytes(path: &str) -> rustix::io::Result<Vec<u8>> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let size = fstat(&file)?.st_size as usize;
    // One byte more, which must not be there.
    let mut bytes = vec![0; size + 1];
    let mut filled = 0;
    while filled < bytes.len() {
        match pread(&file, &mut bytes[filled..], filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

impl State {
    /// What is wrong with the real files of all names, seen from `directory`; nothing if they are as they must be.
    pub fn wrong_files(&self, directory: &str) -> Option<String> {
        NAMES.iter().zip(self.names).find_map(|(name, file)| {
            let found = real_bytes(&format!("{directory}/{name}"));
            match (found, file) {
                (Err(rustix::io::Errno::NOENT), None) => None,
                (Ok(bytes), Some(file)) => {
                    let want = self.files[file].read(0, usize::MAX);
                    if bytes == want {
                        return None;
                    }
                    let first = bytes.iter().zip(want).position(|(a, b)| a != b);
                    let first = first.unwrap_or(bytes.len().min(want.len()));
                    Some(format!(
                        "real file {name} has {} bytes, the model (file {file}) {}; they differ from {first} on",
                        bytes.len(),
                        want.len()
                    ))
                }
                (found, file) => {
                    Some(format!("real file {name} is {:?}, the model has {file:?}", found.map(|b| b.len())))
                }
            }
        })
    }
}

impl Actor {
    /// Compares the real file with the model.
    pub fn look(&mut self, file: usize, when: &str) {
        let name = self.state.names.iter().position(|known| *known == Some(file));
        let slots = self.state.roles[self.role].slots;
        let own = (0..SLOTS).find_map(|index| {
            slots[index].filter(|slot| {
                let there = !self.heir || !slot.cloexec;
                there && self.state.descriptions[slot.description].file == file
            })
        });
        let path = match (name, own) {
            (Some(name), _) => NAMES[name].to_owned(),
            (None, Some(slot)) => format!("/proc/self/fd/{}", slot.fd),
            (None, None) => return,
        };
        self.told(" look");
        match real_bytes(&path) {
            Ok(bytes) => {
                let size = self.state.files[file].size;
                self.same(&format!("real file, {when},"), file, 0, &bytes);
                if bytes.len() != size {
                    self.fail(&format!("real file, {when}: {} bytes instead of {size}", bytes.len()));
                }
            }
            Err(errno) => self.fail(&format!("real file, {when}: {errno}")),
        }
    }
}
