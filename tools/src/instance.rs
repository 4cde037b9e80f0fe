//! Where a coordinator of this user lives: a private directory with its socket and its lock.
//!
//! `$XDG_RUNTIME_DIR/millpond/NAME`, or `/tmp/millpond-UID/NAME` where no runtime directory is. Every level that
//! is ours must be a real directory, owned by us, closed to others; anything else is refused, because who can write
//! there can be the coordinator of our programs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use millpond_coordinator::Place;
use millpond_model::config::is_instance_name;
use nix::unistd::geteuid;

use crate::failure::{Failure, Outcome};

/// The longest path of a Unix socket, its terminating zero not counted.
const SOCKET_PATH_MAX: usize = 107;

/// The place of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    name: String,
    directory: PathBuf,
}

impl Instance {
    /// The place of the coordinator `name` of this user; nothing is created.
    pub fn locate(name: &str) -> Outcome<Self> {
        Self::under(&base(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)), name)
    }

    fn under(base: &Path, name: &str) -> Outcome<Self> {
        if !is_instance_name(name) {
            return Err(Failure::new(
                format_args!("`{name}` cannot name a coordinator"),
                "use 1 to 64 letters, digits, `.`, `_` or `-`, not starting with a dot",
            )
            .with_code(2));
        }
        let instance = Self { name: name.into(), directory: base.join(name) };
        let length = instance.socket().as_os_str().len();
        if length > SOCKET_PATH_MAX {
            return Err(Failure::new(
                format_args!(
                    "socket path {} has {length} bytes, more than {SOCKET_PATH_MAX}",
                    instance.socket().display()
                ),
                "take a shorter --instance name or a shorter XDG_RUNTIME_DIR",
            ));
        }
        Ok(instance)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory.
    #[cfg(test)]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The socket that programs and tools connect to.
    pub fn socket(&self) -> PathBuf {
        self.place().socket()
    }

    /// The directory as the coordinator sees it.
    pub fn place(&self) -> Place {
        Place::new(&self.directory)
    }

    /// Makes the directory where it is missing, and refuses one that others could have made or can enter.
    pub fn create(&self) -> Outcome<()> {
        let base = self.directory.parent().unwrap_or(Path::new("/"));
        private_directory(base)?;
        private_directory(&self.directory)
    }

    /// Refuses a directory that others could have made; one that does not exist is fine.
    pub fn verify(&self) -> Outcome<()> {
        let base = self.directory.parent().unwrap_or(Path::new("/"));
        for directory in [base, &self.directory] {
            match fs::symlink_metadata(directory) {
                Ok(metadata) => is_private(directory, &metadata)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(unusable(directory, error)),
            }
        }
        Ok(())
    }
}

/// A runtime directory counts only if it is absolute, there, and ours.
fn base(runtime: Option<PathBuf>) -> PathBuf {
    let usable = |path: &PathBuf| {
        path.is_absolute() && fs::metadata(path).is_ok_and(|m| m.is_dir() && m.uid() == geteuid().as_raw())
    };
    match runtime.filter(usable) {
        Some(runtime) => runtime.join("millpond"),
        None => PathBuf::from(format!("/tmp/millpond-{}", geteuid())),
    }
}

fn unusable(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(
        format_args!("{}: {why}", path.display()),
        "remove it, or set XDG_RUNTIME_DIR to a directory of your own",
    )
}

fn private_directory(path: &Path) -> Outcome<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(unusable(path, error)),
    }
    let metadata = fs::symlink_metadata(path).map_err(|error| unusable(path, error))?;
    is_private(path, &metadata)
}

fn is_private(path: &Path, metadata: &fs::Metadata) -> Outcome<()> {
    if !metadata.is_dir() {
        return Err(unusable(path, "not a directory"));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(unusable(path, format_args!("owned by user {}, not by you", metadata.uid())));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(unusable(path, format_args!("mode {:03o} lets others in", metadata.mode() & 0o777)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{symlink, PermissionsExt};

    fn private_root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        root
    }

    #[test]
    fn a_directory_is_made_private() {
        let root = private_root();
        let instance = Instance::under(&root.path().join("millpond"), "one").unwrap();
        instance.verify().unwrap();
        instance.create().unwrap();
        instance.create().unwrap();
        assert_eq!(fs::metadata(instance.directory()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_open_to_others_is_refused() {
        let root = private_root();
        let instance = Instance::under(root.path(), "one").unwrap();
        instance.create().unwrap();
        fs::set_permissions(instance.directory(), fs::Permissions::from_mode(0o750)).unwrap();
        let message = instance.create().unwrap_err().to_string();
        assert!(message.contains("mode 750 lets others in"), "{message}");
        assert!(instance.verify().is_err());
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let root = private_root();
        let target = root.path().join("target");
        fs::create_dir(&target).unwrap();
        symlink(&target, root.path().join("one")).unwrap();
        let instance = Instance::under(root.path(), "one").unwrap();
        assert!(instance.create().unwrap_err().to_string().contains("not a directory"));
    }

    #[test]
    fn names_and_lengths_are_checked() {
        assert!(Instance::under(Path::new("/run"), "../x").is_err());
        let message = Instance::under(Path::new(&"/long".repeat(30)), "x").unwrap_err().to_string();
        assert!(message.contains("more than 107"), "{message}");
    }

    #[test]
    fn a_runtime_directory_that_is_not_there_is_passed_over() {
        let fallback = PathBuf::from(format!("/tmp/millpond-{}", geteuid()));
        assert_eq!(base(None), fallback);
        assert_eq!(base(Some("/nowhere/at/all".into())), fallback);
        assert_eq!(base(Some("relative".into())), fallback);
        let root = private_root();
        assert_eq!(base(Some(root.path().into())), root.path().join("millpond"));
    }
}
