//! Whether a program can go through the pool, and why not.
//!
//! - `resolve`: from a name to a file, and from a script to its interpreter
//! - `elf`: what a program file says of itself
//! - `libraries`: where the libraries are that it names
//! - `calls`: which calls of libc are served and which end in a sync-down
//! - `verdict`: what follows from that
//!
//! Looks at files only; nothing is run. Whether libc can be patched is tried on a mapping of our own, as what keeps a process from it is inherited.

mod calls;
mod elf;
mod libraries;
mod resolve;
mod verdict;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::PathBuf;

use serde::Serialize;

use crate::failure::{Failure, Outcome};
use calls::CallUse;
use elf::Elf;
pub use resolve::find;
use resolve::{Kind, Privilege};
pub use verdict::Verdict;

/// As many as the kernel follows.
const SCRIPT_DEPTH: usize = 5;

/// What was found out about a program.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The name as it was given.
    pub program: String,
    /// The file that would be executed.
    pub path: PathBuf,
    /// Whether it can go through the pool.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<String>,
    /// The interpreter, if it is a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<Box<Inspection>>,
    /// What the file says of itself, if it is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elf: Option<ElfSummary>,
}

/// What the file says of itself, in words.
#[derive(Debug, Serialize)]
pub struct ElfSummary {
    /// Such as `64-bit x86-64`.
    pub machine: String,
    /// Whether the dynamic linker loads it.
    pub dynamic: bool,
    /// Whether it was made by the Go tool chain.
    pub go: bool,
    /// The libraries that it names, and where they are.
    pub libraries: Vec<libraries::Library>,
    /// File calls that the pool serves, by name.
    pub served: Vec<String>,
    /// Calls that end in a sync-down when they meet a file of the store.
    pub sync_down: Vec<CallUse>,
}

/// Inspects a program by its name, which is looked up in `PATH` as a shell would.
pub fn inspect(program: &OsStr) -> Outcome<Inspection> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = resolve::find(program, &path)?;
    inspect_file(program, found, SCRIPT_DEPTH)
}

fn inspect_file(program: &OsStr, path: PathBuf, depth: usize) -> Outcome<Inspection> {
    let unreadable = |error: std::io::Error| {
        Failure::new(format_args!("{}: {error}", path.display()), "check that you may read it")
    };
    let data = std::fs::read(&path).map_err(unreadable)?;
    let privilege = resolve::privilege(&path).map_err(unreadable)?;
    let mut inspection = Inspection {
        program: program.to_string_lossy().into_owned(),
        path: path.clone(),
        verdict: Verdict::Yes,
        reasons: Vec::new(),
        interpreter: None,
        elf: None,
    };
    match resolve::kind(&data) {
        Kind::Elf => inspect_elf(&mut inspection, &data, &privilege),
        Kind::Script(line) => inspect_script(&mut inspection, &line, depth)?,
        Kind::Other => inspection.conclude(Verdict::No, "neither an ELF program nor a script with a #! line"),
    }
    if !resolve::is_executable(&path) {
        inspection.conclude(Verdict::No, "not executable (`chmod +x`)");
    }
    Ok(inspection)
}

fn inspect_elf(inspection: &mut Inspection, data: &[u8], privilege: &Privilege) {
    let elf = match Elf::parse(data) {
        Ok(elf) => elf,
        Err(why) => return inspection.conclude(Verdict::No, &why),
    };
    let libraries = libraries::find_all(&elf, &inspection.path);
    let uses = calls::uses(&elf, &libraries);
    for (verdict, reason) in verdict::judge(&elf, privilege, &uses) {
        inspection.conclude(verdict, &reason);
    }
    if inspection.verdict != Verdict::No {
        if let Some(reason) = verdict::unpatched(millpond_coordinator::can_change_text()) {
            inspection.conclude(Verdict::Partly, &reason);
        }
    }
    inspection.elf = Some(ElfSummary {
        machine: elf.machine(),
        dynamic: elf.is_dynamic(),
        go: elf.go,
        libraries,
        served: uses.served,
        sync_down: uses.sync_down,
    });
}

fn inspect_script(inspection: &mut Inspection, line: &resolve::ScriptLine, depth: usize) -> Outcome<()> {
    if depth == 0 {
        inspection.conclude(Verdict::No, "more interpreters of interpreters than the kernel follows");
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (name, found) = line.interpreter(&path);
    match found {
        Ok(file) => {
            let inner = inspect_file(&name, file, depth - 1)?;
            let reason = format!("a script run by {}, which decides", inner.path.display());
            inspection.conclude(inner.verdict, &reason);
            inspection.interpreter = Some(Box::new(inner));
        }
        Err(_) => {
            let reason = format!("its interpreter {} is missing", name.to_string_lossy());
            inspection.conclude(Verdict::No, &reason);
        }
    }
    Ok(())
}

impl Inspection {
    /// Adds a reason; the worst verdict stands.
    fn conclude(&mut self, verdict: Verdict, reason: &str) {
        self.verdict = self.verdict.max(verdict);
        self.reasons.push(reason.into());
    }
}
