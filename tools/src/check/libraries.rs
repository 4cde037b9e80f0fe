//! Where the libraries are that a program names: its own search path, then the usual directories.
//!
//! One level deep: what a library itself names is not followed, because the list is for orientation, and most of it is
//! in every program.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::elf::Elf;

const DIRECTORIES: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib",
];

/// The parts of the C library: the shim stands between them and the program.
const LIBC: [&str; 10] = [
    "libc.",
    "libm.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libutil.",
    "libresolv.",
    "libanl.",
    "libmvec.",
    "ld-linux",
];

/// A library that a program names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// Its file, if it was found.
    pub path: Option<PathBuf>,
}

impl Library {
    /// Whether it is part of the C library.
    pub fn is_libc(&self) -> bool {
        LIBC.iter().any(|prefix| self.name.starts_with(prefix))
    }
}

/// Finds every library that the program names.
pub fn find_all(elf: &Elf, program: &Path) -> Vec<Library> {
    let origin = program.canonicalize().unwrap_or_else(|_| program.into());
    let origin = origin.parent().unwrap_or(Path::new("/"));
    let own = elf.search.iter().map(|directory| expand(directory, origin));
    let directories: Vec<PathBuf> = own.chain(DIRECTORIES.iter().map(PathBuf::from)).collect();
    elf.needed.iter().map(|name| Library { name: name.clone(), path: find(name, &directories) }).collect()
}

fn expand(directory: &str, origin: &Path) -> PathBuf {
    let origin = origin.to_string_lossy();
    directory.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()
}

fn find(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_search_path_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("lib")).unwrap();
        std::fs::write(root.join("lib/libc.so.6"), "").unwrap();
        let elf = Elf {
            needed: vec!["libc.so.6".into(), "libnone.so.1".into()],
            search: vec!["$ORIGIN/../lib".into()],
            ..Elf::default()
        };
        std::fs::create_dir_all(root.join("bin")).unwrap();
        let found = find_all(&elf, &root.join("bin/program"));
        assert_eq!(found[0].path, Some(root.join("bin/../lib/libc.so.6")));
        assert_eq!(found[1].path, None);
        assert!(found[0].is_libc() && !found[1].is_libc());
    }
}
