//! The two trees, as a program without the shim sees them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::environment::PRELOAD;

/// What the comparison found.
pub struct Comparison {
    /// Files in both trees together.
    pub files: usize,
    /// Bytes that were compared.
    pub bytes: u64,
    /// Those that differ or are in one tree only.
    pub different: Vec<String>,
    /// A digest over the tree of the run through the pool, if `sha256sum` is there.
    pub digests: Option<(String, String)>,
}

/// Reads both trees, which `millpond` does without the shim.
pub fn trees(plain: &Path, pool: &Path) -> io::Result<Comparison> {
    let mut names = BTreeSet::new();
    collect(plain, plain, &mut names)?;
    collect(pool, pool, &mut names)?;
    let mut comparison = Comparison { files: names.len(), bytes: 0, different: Vec::new(), digests: None };
    for name in &names {
        let (one, two) = (fs::read(plain.join(name)), fs::read(pool.join(name)));
        match (one, two) {
            (Ok(one), Ok(two)) if one == two => comparison.bytes += one.len() as u64,
            _ => comparison.different.push(name.clone()),
        }
    }
    comparison.digests = digest(plain, &names).zip(digest(pool, &names));
    Ok(comparison)
}

fn collect(root: &Path, directory: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(root, &entry.path(), names)?;
        } else if let Ok(name) = entry.path().strip_prefix(root) {
            names.insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

/// The digest of the digests of all files, by the system's own program.
fn digest(root: &Path, names: &BTreeSet<String>) -> Option<String> {
    let script = "sha256sum -- \"$@\" | sha256sum";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .args(names)
        .current_dir(root)
        .env_remove(PRELOAD)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace()
        .next()
        .filter(|word| output.status.success() && word.len() == 64)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found() {
        let root = tempfile::tempdir().unwrap();
        let (one, two) = (root.path().join("1"), root.path().join("2"));
        for directory in [&one, &two] {
            fs::create_dir_all(directory.join("in")).unwrap();
            fs::write(directory.join("in/same"), "x").unwrap();
        }
        let equal = trees(&one, &two).unwrap();
        assert_eq!((equal.files, equal.bytes, equal.different.len()), (1, 1, 0));
        if let Some((plain, pool)) = equal.digests {
            assert_eq!(plain, pool);
        }
        fs::write(one.join("in/same"), "y").unwrap();
        fs::write(two.join("extra"), "").unwrap();
        assert_eq!(trees(&one, &two).unwrap().different, ["extra", "in/same"]);
    }
}
