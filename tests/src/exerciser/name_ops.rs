//! Names: renamed, exchanged, taken away, given.

use std::ffi::CString;

use super::actor::{outcome, Actor};
use super::probe;
use super::state::NAMES;

impl Actor {
    fn two_names(&mut self) -> (usize, usize, CString, CString) {
        let count = self.profile.names as u64;
        let (one, two) = (self.random.below(count) as usize, self.random.below(count) as usize);
        self.told(&format!(" {} {}", NAMES[one], NAMES[two]));
        let path = |name: usize| CString::new(NAMES[name]).expect("a name");
        (one, two, path(one), path(two))
    }

    pub(super) fn rename(&mut self) {
        let (from, to, old, new) = self.two_names();
        // SAFETY: C strings.
        let got = outcome(unsafe { libc::rename(old.as_ptr(), new.as_ptr()) }.into());
        let file = self.state.names[from];
        self.expect("rename", got, if file.is_some() { Ok(0) } else { Err(libc::ENOENT) });
        // Two names of one file stay as they are.
        if file.is_some() && file != self.state.names[to] {
            self.state.names[from] = None;
            self.state.names[to] = file;
        }
    }

    pub(super) fn exchange(&mut self) {
        if self.state.able & probe::EXCHANGE == 0 {
            return self.told(" not on this file system");
        }
        let (one, two, first, second) = self.two_names();
        let (at, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
        // SAFETY: C strings.
        let got = outcome(unsafe { libc::renameat2(at, first.as_ptr(), at, second.as_ptr(), flags) }.into());
        let there = self.state.names[one].is_some() && self.state.names[two].is_some();
        self.expect("exchange", got, if there { Ok(0) } else { Err(libc::ENOENT) });
        if there {
            self.state.names.swap(one, two);
        }
    }

    pub(super) fn unlink(&mut self) {
        let (name, _, path, _) = self.two_names();
        // SAFETY: a C string.
        let got = outcome(unsafe { libc::unlink(path.as_ptr()) }.into());
        let want = if self.state.names[name].is_some() { Ok(0) } else { Err(libc::ENOENT) };
        self.expect("unlink", got, want);
        self.state.names[name] = None;
    }

    pub(super) fn link(&mut self) {
        let (from, to, old, new) = self.two_names();
        // SAFETY: C strings.
        let got = outcome(unsafe { libc::link(old.as_ptr(), new.as_ptr()) }.into());
        let want = match (self.state.names[from], self.state.names[to]) {
            (None, _) => Err(libc::ENOENT),
            (_, Some(_)) => Err(libc::EEXIST),
            _ => Ok(0),
        };
        self.expect("link", got, want);
        if want.is_ok() {
            self.state.names[to] = self.state.names[from];
        }
    }
}
