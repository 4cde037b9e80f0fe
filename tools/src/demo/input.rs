//! What the demonstration works on: generated lines of text, and files of this system.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const LINES: u32 = 200_000;
/// Enough files for a tar archive worth the name.
const FILES_MAX: usize = 600;
const FILE_BYTES_MAX: u64 = 256 << 10;
const SOURCES: [&str; 2] = ["/usr/include", "/etc"];

/// Makes `directory` with `text` and `tree/`, and says how many bytes there are.
pub fn prepare(directory: &Path) -> io::Result<u64> {
    let tree = directory.join("tree");
    fs::create_dir_all(&tree)?;
    let mut bytes = text(&directory.join("text"))?;
    let mut files = Vec::new();
    for source in SOURCES {
        collect(Path::new(source), &mut files);
    }
    for (number, file) in files.iter().enumerate() {
        // What cannot be read is somebody else's; the demonstration does without it.
        let Ok(content) = fs::read(file) else { continue };
        fs::write(tree.join(format!("{number:04}-{}", name(file))), &content)?;
        bytes += content.len() as u64;
    }
    Ok(bytes)
}

/// Lines in no order, the same ones every time.
fn text(path: &Path) -> io::Result<u64> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes = 0;
    for number in 0..LINES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let line = format!("{state:016x} line {number} of the pond\n");
        out.write_all(line.as_bytes())?;
        bytes += line.len() as u64;
    }
    out.flush()?;
    Ok(bytes)
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
        .unwrap_or_default()
}

/// Regular files, in the order of their names; neither links nor pipes.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if files.len() >= FILES_MAX {
            return;
        }
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => collect(&path, files),
            Ok(metadata) if metadata.is_file() && metadata.len() <= FILE_BYTES_MAX => files.push(path),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_same_every_time() {
        let directory = tempfile::tempdir().unwrap();
        let (one, two) = (directory.path().join("1"), directory.path().join("2"));
        assert_eq!(text(&one).unwrap(), text(&two).unwrap());
        assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap());
    }
}
