//! From a name to a file, from a script to its interpreter, and what the file system says about the file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;
const GROUP_EXECUTE: u32 = 0o010;

/// What the first bytes of a file say.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ELF file.
    Elf,
    /// A script with a #! line.
    Script(ScriptLine),
    /// Something else.
    Other,
}

/// A #! line.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptLine {
    program: OsString,
    argument: Option<OsString>,
}

/// What makes the dynamic linker ignore preloading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privilege {
    /// The user whose rights the program gets.
    pub setuid: Option<u32>,
    /// The group whose rights the program gets.
    pub setgid: Option<u32>,
    /// Whether the file carries capabilities.
    pub capabilities: bool,
}

/// The file that `program` names: a path if it holds a slash, otherwise the first executable of `path`.
pub fn find(program: &OsStr, path: &OsStr) -> Outcome<PathBuf> {
    let name = program.to_string_lossy();
    if program.as_bytes().contains(&b'/') {
        return match fs::metadata(program) {
            Ok(metadata) if metadata.is_file() => Ok(program.into()),
            Ok(_) => Err(Failure::new(format_args!("{name}: not a file"), "name a program")),
            Err(error) => Err(Failure::new(format_args!("{name}: {error}"), "check the path")),
        };
    }
    std::env::split_paths(path)
        .map(|directory| if directory.as_os_str().is_empty() { ".".into() } else { directory })
        .map(|directory: PathBuf| directory.join(program))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| {
            Failure::new(format_args!("{name}: not found in PATH"), "check its name, or give its path")
        })
}

/// Whether it is a file that somebody may execute.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// What the first bytes say.
pub fn kind(data: &[u8]) -> Kind {
    if data.starts_with(b"\x7fELF") {
        return Kind::Elf;
    }
    match data.strip_prefix(b"#!").and_then(ScriptLine::parse) {
        Some(line) => Kind::Script(line),
        None => Kind::Other,
    }
}

/// Mode bits and capabilities of the file.
pub fn privilege(path: &Path) -> io::Result<Privilege> {
    let metadata = fs::metadata(path)?;
    let mut buffer = [0u8; 64];
    let capabilities = rustix::fs::getxattr(path, "security.capability", &mut buffer).is_ok();
    Ok(Privilege { capabilities, ..mode_privilege(&metadata) })
}

fn mode_privilege(metadata: &Metadata) -> Privilege {
    let mode = metadata.mode();
    // A set-group bit without group execution once meant mandatory locking and gives no rights.
    let setgid = mode & (SETGID | GROUP_EXECUTE) == SETGID | GROUP_EXECUTE;
    Privilege {
        setuid: (mode & SETUID != 0).then(|| metadata.uid()),
        setgid: setgid.then(|| metadata.gid()),
        capabilities: false,
    }
}

impl ScriptLine {
    fn parse(after_mark: &[u8]) -> Option<Self> {
        let line = after_mark.split(|b| *b == b'\n').next()?.trim_ascii();
        let end = line.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(line.len());
        let (program, rest) = line.split_at(end);
        let argument = rest.trim_ascii();
        if program.is_empty() {
            return None;
        }
        Some(Self {
            program: OsStr::from_bytes(program).into(),
            argument: (!argument.is_empty()).then(|| OsStr::from_bytes(argument).into()),
        })
    }

    /// The name and the file of what reads the script; `env` only looks it up.
    pub fn interpreter(&self, path: &OsStr) -> (OsString, Outcome<PathBuf>) {
        let name = self.looked_up_by_env().unwrap_or_else(|| self.program.clone());
        let found = find(&name, path);
        (name, found)
    }

    fn looked_up_by_env(&self) -> Option<OsString> {
        if Path::new(&self.program).file_name() != Some(OsStr::new("env")) {
            return None;
        }
        let argument = self.argument.as_ref()?;
        argument
            .as_bytes()
            .split(|b| matches!(b, b' ' | b'\t'))
            .find(|word| !word.is_empty() && !word.starts_with(b"-") && !word.contains(&b'='))
            .map(|word| OsStr::from_bytes(word).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(line: &str) -> Option<String> {
        match kind(line.as_bytes()) {
            Kind::Script(line) => Some(line.interpreter(OsStr::new("")).0.into_string().unwrap()),
            _ => None,
        }
    }

    #[test]
    fn script_lines_are_read() {
        assert_eq!(name_of("#!/bin/sh\nls\n").as_deref(), Some("/bin/sh"));
        assert_eq!(name_of("#! /usr/bin/awk -f\n").as_deref(), Some("/usr/bin/awk"));
        assert_eq!(name_of("#!/usr/bin/env python3\n").as_deref(), Some("python3"));
        assert_eq!(name_of("#!/usr/bin/env -S A=b python3 -u").as_deref(), Some("python3"));
        assert_eq!(name_of("#!\n"), None);
        assert_eq!(name_of("plain"), None);
    }

    #[test]
    fn names_are_looked_up() {
        let path = OsStr::new("/nowhere:/bin");
        assert_eq!(find(OsStr::new("sh"), path).unwrap(), Path::new("/bin/sh"));
        let missing = find(OsStr::new("no-such-program"), path).unwrap_err().to_string();
        assert_eq!(missing, "no-such-program: not found in PATH; check its name, or give its path");
        assert!(find(OsStr::new("/bin"), path).unwrap_err().to_string().starts_with("/bin: not a file"));
    }
}
