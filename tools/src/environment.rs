//! The environment that sends a program through the pool.
//!
//! The dynamic linker's list of preloaded libraries, the coordinator's socket, the stores, and the programs that are left alone, if there are
//! any. The lists are separated by `:`, so no path in them may hold one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// The dynamic linker's variable.
pub const PRELOAD: &str = "LD_PRELOAD";
/// Tells the shim where the coordinator is.
pub const SOCKET: &str = "MILLPOND_SOCKET";
/// Tells the shim which directories are served.
pub const STORES: &str = "MILLPOND_STORES";
/// Tells the shim which programs to leave alone.
pub const EXCLUDE: &str = "MILLPOND_EXCLUDE";

/// Tells the shim which run a program belongs to.
pub const RUN: &str = "MILLPOND_RUN";

/// What a program needs to know to go through the pool.
#[derive(Clone, Debug)]
pub struct ShimEnvironment {
    library: PathBuf,
    socket: PathBuf,
    stores: OsString,
    exclude: OsString,
}

impl ShimEnvironment {
    /// Checks that every path can stand in its list.
    pub fn new(library: &Path, socket: &Path, stores: &[String]) -> Outcome<Self> {
        // The dynamic linker splits at blanks, too.
        if library.as_os_str().as_bytes().iter().any(|b| matches!(b, b':' | b' ' | b'\t' | b'\n')) {
            return Err(Failure::new(
                format_args!("{library:?} cannot be preloaded: its path holds a blank or `:`"),
                "move it, and name it with MILLPOND_SHIM",
            ));
        }
        if let Some(store) = stores.iter().find(|store| store.contains(':')) {
            return Err(Failure::new(
                format_args!("store {store:?}: its path holds `:`"),
                "rename the directory",
            ));
        }
        Ok(Self {
            library: library.into(),
            socket: socket.into(),
            stores: stores.join(":").into(),
            exclude: OsString::new(),
        })
    }

    /// Leaves programs of these names alone.
    #[must_use]
    pub fn excluding(mut self, names: &[String]) -> Self {
        self.exclude = names.join(":").into();
        self
    }

    /// The variables and their values, given the list that is preloaded already.
    pub fn variables(&self, preloaded: Option<&OsStr>) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            (PRELOAD, self.preload(preloaded.unwrap_or_default())),
            (SOCKET, self.socket.clone().into_os_string()),
            (STORES, self.stores.clone()),
        ];
        if !self.exclude.is_empty() {
            variables.push((EXCLUDE, self.exclude.clone()));
        }
        variables
    }

    /// What is preloaded already keeps its place before us; we stand in the list once.
    fn preload(&self, preloaded: &OsStr) -> OsString {
        let ours = self.library.as_os_str().as_bytes();
        let mut list: Vec<&[u8]> = preloaded
            .as_bytes()
            .split(|b| matches!(b, b':' | b' '))
            .filter(|entry| !entry.is_empty() && *entry != ours)
            .collect();
        list.push(ours);
        OsString::from_vec(list.join(&b':'))
    }

    /// Lines that a POSIX shell evaluates.
    pub fn exports(&self, preloaded: Option<&OsStr>) -> Vec<u8> {
        let mut text = Vec::new();
        for (name, value) in self.variables(preloaded) {
            text.extend_from_slice(format!("export {name}=").as_bytes());
            text.extend_from_slice(&quote(&value));
            text.push(b'\n');
        }
        text
    }
}

/// A single-quoted word of the shell: nothing in it is special, and a quote leaves the quotes for a moment.
fn quote(value: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in value.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(stores: &[&str]) -> Outcome<ShimEnvironment> {
        let stores: Vec<String> = stores.iter().map(|s| (*s).into()).collect();
        ShimEnvironment::new(Path::new("/o'k/libmillpond.so"), Path::new("/run/m/sock"), &stores)
    }

    #[test]
    fn exports_survive_a_shell() {
        let environment = environment(&["/a b", "/it's $HOME `x`"]).unwrap();
        let script =
            [environment.exports(None), b"printf '%s\\n' \"$LD_PRELOAD\" \"$MILLPOND_STORES\"".to_vec()];
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg(OsString::from_vec(script.concat()))
            .env_remove(PRELOAD)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, "/o'k/libmillpond.so\n/a b:/it's $HOME `x`\n");
    }

    #[test]
    fn what_is_preloaded_stays() {
        let environment = environment(&["/a"]).unwrap();
        let list = |preloaded: &str| environment.preload(OsStr::new(preloaded)).into_string().unwrap();
        assert_eq!(list(""), "/o'k/libmillpond.so");
        assert_eq!(list("/x.so y.so"), "/x.so:y.so:/o'k/libmillpond.so");
        assert_eq!(list("/o'k/libmillpond.so:/x.so"), "/x.so:/o'k/libmillpond.so");
    }

    #[test]
    fn separators_in_paths_are_refused() {
        assert!(environment(&["/a:b"]).unwrap_err().to_string().contains("holds `:`"));
        let library = Path::new("/a b/libmillpond.so");
        assert!(ShimEnvironment::new(library, Path::new("/s"), &[]).is_err());
    }
}
