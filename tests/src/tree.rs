//! Directory trees: what one starts with, and what is on disk in the end as a process without the shim
//! sees it.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::data;
use crate::executor::name_ops::show_metadata;
use crate::executor::raw::sparse_digest;
use crate::script::InitialFile;

/// Makes a fresh directory with the files, the subdirectory and the symbolic links that scripts know.
pub fn prepare(root: &Path, files: &[InitialFile]) -> io::Result<()> {
    fs::create_dir_all(root.join("d"))?;
    for file in files {
        fs::write(root.join(&file.path), data::pattern(file.seed, file.len as usize))?;
    }
    std::os::unix::fs::symlink("a", root.join("s"))?;
    std::os::unix::fs::symlink("../b", root.join("d/s"))?;
    std::os::unix::fs::symlink("d/new", root.join("dangling"))
}

/// One line for each file below `root`: name, type and mode, links, size, bytes.
pub fn snapshot(root: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    visit(root, "", &mut lines)?;
    Ok(lines)
}

fn visit(directory: &Path, prefix: &str, lines: &mut Vec<String>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path)?;
        let known = show_metadata(metadata.mode(), metadata.nlink(), metadata.len() as i64, metadata.mtime());
        let kind = metadata.file_type();
        let content = if kind.is_symlink() {
            format!("-> {}", fs::read_link(&path)?.display())
        } else if kind.is_file() {
            content(&path, metadata.permissions().mode())?
        } else {
            String::new()
        };
        lines.push(format!("tree {name} {known} {content}"));
        if kind.is_dir() {
            visit(&path, &format!("{name}/"), lines)?;
        }
    }
    Ok(())
}

fn content(path: &Path, mode: u32) -> io::Result<String> {
    if mode & 0o400 == 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o400))?;
    }
    let file = fs::File::open(path)?;
    if mode & 0o400 == 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7777))?;
    }
    Ok(format!("digest {:016x}", sparse_digest(&file.into())?))
}
