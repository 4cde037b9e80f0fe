//! Runs one case: a script, run plainly and behind a coordinator, that itself checks what the right result is.
//!
//! A case passes when the script ends with success both times, within its bound, with the same output and the same
//! tree left behind, on a disk file system and on tmpfs; and when the counters show that bytes went through the
//! pool, or that the case says why the kernel had to do it and a sync-down is on record.
//!
//! The tree is read by the test itself, which is not preloaded, while the coordinator still runs: what is not in the
//! real file by then counts as lost.
//!
//! What a script finds: `$BIN` with the compiled programs and the other files of the case (outside the store),
//! `is SEEN WANTED`, and `outside COMMAND`, which runs a command of static busybox, past every preload. C programs include
//! `case.h` for their checks.

mod run;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::programs::row::missing_of;
use crate::programs::snapshot;
use crate::shim_env::{in_ci, profile_dir, Shim, ShimOptions};

pub use run::Ran;

const HEADER: &str = include_str!("cases/case.h");
const PRELUDE: &str = include_str!("cases/prelude.sh");

/// Differing files that a failure names at most.
const SHOWN_DIFFERENCES: usize = 10;

/// A script with what it needs.
#[derive(Clone, Debug)]
pub struct Case {
    name: &'static str,
    script: &'static str,
    programs: Vec<(&'static str, &'static str, Vec<&'static str>)>,
    files: Vec<(&'static str, &'static str)>,
    needs: Vec<&'static str>,
    pool: Option<String>,
    config: Option<String>,
    places: Vec<PathBuf>,
    bound: Duration,
    least_bytes: u64,
    direct: Option<&'static str>,
}

impl Case {
    /// A case with the text of its bash script.
    pub fn new(name: &'static str, script: &'static str) -> Self {
        Self {
            name,
            script,
            programs: Vec::new(),
            files: Vec::new(),
            needs: vec!["bash", "busybox"],
            pool: Some("64MiB".into()),
            config: None,
            places: vec![profile_dir(), "/dev/shm".into()],
            bound: Duration::from_secs(60),
            least_bytes: 1,
            direct: None,
        }
    }

    /// Adds a program in C (in C++ if gcc's flags say so), built as `$BIN/NAME`.
    #[must_use]
    pub fn program(mut self, name: &'static str, source: &'static str, flags: &[&'static str]) -> Self {
        self.programs.push((name, source, flags.to_vec()));
        if !self.needs.contains(&"gcc") {
            self.needs.push("gcc");
        }
        self
    }

    /// Adds an executable file, `$BIN/NAME`.
    #[must_use]
    pub fn file(mut self, name: &'static str, text: &'static str) -> Self {
        self.files.push((name, text));
        self
    }

    /// Names executables (or `python:MODULE`, `header:FILE`) that must be there.
    #[must_use]
    pub fn needs(mut self, needs: &[&'static str]) -> Self {
        self.needs.extend(needs);
        self
    }

    /// Sets the size of the pool; 64MiB otherwise.
    #[must_use]
    pub fn pool(mut self, size: &str) -> Self {
        self.pool = Some(size.into());
        self
    }

    /// Gives the coordinator a configuration file.
    #[must_use]
    pub fn config(mut self, text: &str) -> Self {
        self.config = Some(text.into());
        self
    }

    /// Leaves out the run on tmpfs: for what takes long or means nothing there.
    #[must_use]
    pub fn disk_only(mut self) -> Self {
        self.places.truncate(1);
        self
    }

    /// Sets the longest time of one run; 60 s otherwise.
    #[must_use]
    pub fn bound(mut self, bound: Duration) -> Self {
        self.bound = bound;
        self
    }

    /// Sets how many bytes must go through the pool at least; 1 otherwise.
    #[must_use]
    pub fn least_bytes(mut self, bytes: u64) -> Self {
        self.least_bytes = bytes;
        self
    }

    /// Says why the kernel may do it all after a sync-down, which the counters must then show.
    #[must_use]
    pub fn direct(mut self, why: &'static str) -> Self {
        self.direct = Some(why);
        self
    }

    /// Runs the case; gives what the shimmed runs printed and counted, one for each place, for checks of the caller's
    /// own. Nothing comes back where something needed is missing and the case was skipped.
    ///
    /// # Panics
    /// When the case fails, or under `CI=true` when something that it needs is missing.
    pub fn check(&self) -> Vec<Ran> {
        let name = self.name;
        let missing = missing_of(&self.needs);
        if !missing.is_empty() {
            assert!(!in_ci(), "{name}: not installed: {}", missing.join(" "));
            eprintln!("SKIPPED {name}: not installed: {}", missing.join(" "));
            return Vec::new();
        }
        self.places.iter().filter_map(|place| self.check_in(place)).collect()
    }

    fn check_in(&self, place: &Path) -> Option<Ran> {
        let (name, within) = (self.name, place.display());
        let scratch = tempfile::Builder::new().prefix("case-").tempdir_in(place).expect("scratch directory");
        let bin = self.build(scratch.path());
        let plain = self.run(scratch.path(), &bin, "plain", None);
        assert!(plain.succeeded(), "{name} in {within}: the plain run itself failed: {plain:?}");
        let store = scratch.path().join("shim");
        let options =
            ShimOptions { stores: vec![store], pool: self.pool.clone(), config: self.config.clone() };
        fs::create_dir(&options.stores[0]).expect("store");
        let shim = Shim::start(name, &options)?;
        let mut shimmed = self.run(scratch.path(), &bin, "shim", Some(&shim));
        shimmed.plain_elapsed = plain.elapsed();
        let failures = self.failures(&plain, &shimmed);
        assert!(failures.is_empty(), "{name} in {within}:\n{}\n{shimmed:?}", failures.join("\n"));
        Some(shimmed)
    }

    fn build(&self, scratch: &Path) -> PathBuf {
        let bin = scratch.join("bin");
        fs::create_dir(&bin).expect("bin");
        fs::write(bin.join("case.h"), HEADER).expect("case.h");
        fs::write(bin.join("script.sh"), self.text()).expect("script");
        for (file, text) in &self.files {
            fs::write(bin.join(file), text).expect("file");
            fs::set_permissions(bin.join(file), fs::Permissions::from_mode(0o755)).expect("chmod");
        }
        for (program, source, flags) in &self.programs {
            let text = bin.join(format!("{program}.c"));
            fs::write(&text, source).expect("source");
            let mut gcc = Command::new("gcc");
            gcc.args(["-w", "-I"]).arg(&bin).arg("-o").arg(bin.join(program)).arg(&text).args(flags);
            let output = gcc.current_dir(&bin).output().expect("gcc");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {program}:\n{told}", self.name);
        }
        bin
    }

    fn text(&self) -> String {
        let lines = PRELUDE.lines().count() + 1;
        format!("PRELUDE={lines}\n{PRELUDE}{}", self.script)
    }

    fn run(&self, scratch: &Path, bin: &Path, side: &str, shim: Option<&Shim>) -> Ran {
        let dir = scratch.join(side);
        fs::create_dir_all(&dir).expect("directory of the run");
        run::run(&dir, bin, shim, self.bound)
    }

    fn failures(&self, plain: &Ran, shimmed: &Ran) -> Vec<String> {
        let mut failures = Vec::new();
        if !shimmed.succeeded() {
            failures.push("the shimmed run failed".to_owned());
        }
        if plain.stdout != shimmed.stdout {
            failures.push(format!("standard output differs, plain:\n{}", plain.stdout));
        }
        if plain.stderr != shimmed.stderr {
            failures.push(format!("standard error differs, plain:\n{}", plain.stderr));
        }
        failures
            .extend(snapshot::differences(&plain.tree, &shimmed.tree).into_iter().take(SHOWN_DIFFERENCES));
        let (bytes, handed_over) = (shimmed.bytes_through(), !shimmed.sync_downs().is_empty());
        if bytes < self.least_bytes && !(self.direct.is_some() && handed_over) {
            failures
                .push(format!("{bytes} bytes went through the pool, wanted at least {}", self.least_bytes));
        }
        failures
    }
}
