//! A directory as it is compared: names, types, modes, sizes and bytes; no times, no inode numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// One entry of a tree.
#[derive(Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory {
        /// Permission bits.
        mode: u32,
    },
    /// A regular file.
    File {
        /// Permission bits.
        mode: u32,
        /// Number of names.
        links: u64,
        /// All its bytes.
        bytes: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Where it points.
        target: PathBuf,
    },
    /// A FIFO, socket or device.
    Other {
        /// Type and permission bits.
        mode: u32,
    },
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { mode } => write!(f, "directory {mode:o}"),
            Self::File { mode, links, bytes } => {
                write!(f, "file {mode:o}, {links} names, {} bytes", bytes.len())
            }
            Self::Link { target } => write!(f, "link to {}", target.display()),
            Self::Other { mode } => write!(f, "special {mode:o}"),
        }
    }
}

/// All entries below a directory, by relative path.
pub type Tree = BTreeMap<PathBuf, Entry>;

/// Takes the tree below `root`.
///
/// # Errors
/// When something cannot be read.
pub fn take(root: &Path) -> io::Result<Tree> {
    let mut tree = Tree::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for item in fs::read_dir(&dir)? {
            let path = item?.path();
            let entry = entry(&path)?;
            if matches!(entry, Entry::Directory { .. }) {
                pending.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            tree.insert(name, entry);
        }
    }
    Ok(tree)
}

fn entry(path: &Path) -> io::Result<Entry> {
    let metadata = fs::symlink_metadata(path)?;
    let mode = metadata.permissions().mode();
    let kind = metadata.file_type();
    Ok(if kind.is_dir() {
        Entry::Directory { mode: mode & 0o7777 }
    } else if kind.is_symlink() {
        Entry::Link { target: fs::read_link(path)? }
    } else if kind.is_file() {
        Entry::File { mode: mode & 0o7777, links: metadata.nlink(), bytes: fs::read(path)? }
    } else {
        Entry::Other { mode }
    })
}

/// What differs between two trees, a line each; empty when they are equal.
pub fn differences(plain: &Tree, shim: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, wanted) in plain {
        let name = path.display();
        match shim.get(path) {
            None => found.push(format!("{name}: missing, {wanted:?} when plain")),
            Some(seen) if seen != wanted => found.push(format!("{name}: {}", difference(wanted, seen))),
            Some(_) => {}
        }
    }
    found.extend(
        shim.iter()
            .filter(|(name, _)| !plain.contains_key(*name))
            .map(|(name, entry)| format!("{}: too much, {entry:?}", name.display())),
    );
    found
}

fn difference(wanted: &Entry, seen: &Entry) -> String {
    let place = match (wanted, seen) {
        (Entry::File { bytes: a, .. }, Entry::File { bytes: b, .. }) if a != b => {
            let first = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
            let count = a.iter().zip(b).filter(|(x, y)| x != y).count();
            format!(", first difference at {first}, {count} bytes differ")
        }
        _ => String::new(),
    };
    format!("plain: {wanted:?}; shim: {seen:?}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_trees_have_no_differences_and_others_say_where() {
        let (a, b) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        for dir in [a.path(), b.path()] {
            fs::create_dir(dir.join("d")).expect("mkdir");
            fs::write(dir.join("d/f"), b"0123456789").expect("write");
            std::os::unix::fs::symlink("d/f", dir.join("l")).expect("symlink");
        }
        let tree = |dir: &tempfile::TempDir| take(dir.path()).expect("take");
        assert_eq!(differences(&tree(&a), &tree(&b)), Vec::<String>::new());
        fs::write(b.path().join("d/f"), b"0123X56789").expect("write");
        fs::write(b.path().join("more"), b"").expect("write");
        fs::remove_file(b.path().join("l")).expect("unlink");
        let found = differences(&tree(&a), &tree(&b));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("first difference at 4, 1 bytes differ"), "{found:?}");
    }
}
