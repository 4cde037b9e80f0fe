//! Where the library is that programs are preloaded with.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

const LIBRARY: &str = "libmillpond.so";

/// `MILLPOND_SHIM`, else beside this executable, else in the `lib` beside its directory.
pub fn find() -> Outcome<PathBuf> {
    let named = std::env::var_os("MILLPOND_SHIM").filter(|value| !value.is_empty()).map(PathBuf::from);
    let executable = std::env::current_exe().unwrap_or_default();
    find_from(named, &executable)
}

fn find_from(named: Option<PathBuf>, executable: &Path) -> Outcome<PathBuf> {
    if let Some(path) = named {
        return usable(&path).ok_or_else(|| {
            Failure::new(
                format_args!("MILLPOND_SHIM={}: no such file", path.display()),
                format_args!("set it to the path of {LIBRARY}, or unset it"),
            )
        });
    }
    let directory = executable.parent().unwrap_or(Path::new("/"));
    let places = [directory.join(LIBRARY), directory.join("../lib").join(LIBRARY)];
    places.iter().find_map(|path| usable(path)).ok_or_else(|| {
        Failure::new(
            format_args!("{LIBRARY} is neither in {} nor in ../lib", directory.display()),
            "build it (`cargo build --release`), or set MILLPOND_SHIM to its path",
        )
    })
}

fn usable(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_tried_in_order() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (bin, lib) = (root.join("bin"), root.join("lib"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        let executable = bin.join("millpond");

        let message = find_from(None, &executable).unwrap_err().to_string();
        assert!(message.contains("cargo build --release"), "{message}");

        std::fs::write(lib.join(LIBRARY), "").unwrap();
        assert_eq!(find_from(None, &executable).unwrap(), lib.join(LIBRARY));
        std::fs::write(bin.join(LIBRARY), "").unwrap();
        assert_eq!(find_from(None, &executable).unwrap(), bin.join(LIBRARY));
        std::fs::write(root.join("own.so"), "").unwrap();
        assert_eq!(find_from(Some(root.join("own.so")), &executable).unwrap(), root.join("own.so"));
        assert!(find_from(Some(root.join("none.so")), &executable).is_err());
    }
}
