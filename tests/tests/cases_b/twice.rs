//! A case: one script, run plain and then behind a coordinator, in fresh directories of two file systems.
//!
//! Holds: output, exit code and the files left behind agree between the two runs and are what the case says; no run
//! takes longer than its bound; the counters show that bytes went through the pool.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use millpond_tests::shim_env::{in_ci, profile_dir, Shim, ShimOptions};
use millpond_tests::tree;
use serde_json::Value;

/// Longest that a script may take.
const BOUND: Duration = Duration::from_secs(60);

/// Where this target's sources are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases_b")
}

/// One case.
pub struct Case {
    name: &'static str,
    script: String,
    programs: Vec<(&'static str, Vec<&'static str>)>,
    libraries: Vec<&'static str>,
    files: Vec<(&'static str, Vec<u8>)>,
    prints: Option<String>,
    pool: &'static str,
    memory_only: bool,
    bound: Duration,
}

/// What a run left.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// Exit code, 128 and the signal, or -1 when it took too long.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The files.
    pub tree: Vec<String>,
}

impl Case {
    /// The case `name`, which is `script` run by bash.
    pub fn new(name: &'static str, script: &str) -> Self {
        Self {
            name,
            script: script.into(),
            programs: Vec::new(),
            libraries: Vec::new(),
            files: Vec::new(),
            prints: None,
            pool: "32M",
            memory_only: false,
            bound: BOUND,
        }
    }

    /// A program that the script calls: `source` without its ending, compiled with `flags`.
    pub fn program(mut self, source: &'static str, flags: &[&'static str]) -> Self {
        self.programs.push((source, flags.into()));
        self
    }

    /// A shared library that its programs are linked with.
    pub fn library(mut self, source: &'static str) -> Self {
        self.libraries.push(source);
        self
    }

    /// A file that is there before.
    pub fn file(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, bytes.into()));
        self
    }

    /// What the script prints in both runs.
    pub fn prints(mut self, text: &str) -> Self {
        self.prints = Some(text.into());
        self
    }

    /// Size of the pool.
    pub fn pool(mut self, size: &'static str) -> Self {
        self.pool = size;
        self
    }

    /// Only on the file system in memory.
    pub fn memory_only(mut self) -> Self {
        self.memory_only = true;
        self
    }

    /// Runs it.
    ///
    /// # Panics
    /// When it is not as it should be.
    pub fn check(self) {
        if !self.memory_only {
            self.check_in(&target_dir());
        }
        self.check_in(Path::new("/dev/shm"));
    }

    fn check_in(&self, place: &Path) {
        let root = fresh(place, self.name);
        let bin = root.path().join("bin");
        fs::create_dir(&bin).expect("directory");
        for source in &self.libraries {
            let library = bin.join(format!("lib{source}.so"));
            compile(source, &["-shared", "-fPIC"], &bin);
            fs::rename(bin.join(source), library).expect("library");
        }
        for (source, flags) in &self.programs {
            compile(source, flags, &bin);
        }
        let (plain, shimmed) = (root.path().join("plain"), root.path().join("shims"));
        for directory in [&plain, &shimmed] {
            fs::create_dir(directory).expect("directory");
            for (name, bytes) in &self.files {
                fs::write(directory.join(name), bytes).expect("file");
            }
        }
        let wanted = self.run(Command::new("bash"), &plain, &bin);
        assert_eq!(wanted.code, 0, "{}: plain, in {}: {wanted:?}", self.name, place.display());
        if let Some(prints) = &self.prints {
            assert_eq!(&wanted.out, prints, "{}: plain, in {}; {}", self.name, place.display(), wanted.err);
        }
        let options = ShimOptions {
            stores: vec![shimmed.clone()],
            pool: Some(self.pool.into()),
            ..ShimOptions::default()
        };
        let Some(shim) = Shim::start(self.name, &options) else { return };
        let seen = self.run(shim.command("bash"), &shimmed, &bin);
        // A thread that still writes while its process ends leaves its last bytes to the coordinator, which has a second for them.
        let mut status = shim.status();
        for _ in 0..20 {
            if dirty(&status) == 0 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            status = shim.status();
        }
        let differences = differences(&wanted, &seen);
        assert!(
            differences.is_empty(),
            "{}: shimmed and plain differ, in {}\n{differences}{}",
            self.name,
            place.display(),
            status["totals"]
        );
        self.look_at(&status);
    }

    fn look_at(&self, status: &Value) {
        let name = self.name;
        assert_eq!(status["restarts"], 0, "{name}: the worker died: {status:#}");
        let totals = &status["totals"];
        let bytes = count(totals, "bytes_written") + count(totals, "bytes_read");
        assert!(bytes > 0, "{name}: nothing went through the pool: {status:#}");
        assert_eq!(dirty(status), 0, "{name}: bytes were left behind: {status:#}");
    }

    fn run(&self, mut command: Command, directory: &Path, bin: &Path) -> Seen {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut search = OsString::from(bin);
        search.push(":");
        search.push(path);
        command.args(["-c", &self.script]).env("PATH", search).env("LC_ALL", "C").env("BIN", bin);
        let (code, out, err) = run_bounded(command, directory, self.bound);
        Seen { code, out, err, tree: tree::snapshot(directory).expect("files") }
    }
}

/// The lines in which two runs differ.
fn differences(plain: &Seen, shimmed: &Seen) -> String {
    let lines = |seen: &Seen| -> Vec<String> {
        let text = format!("exit code {}\n{}\n{}\n{}", seen.code, seen.out, seen.err, seen.tree.join("\n"));
        text.lines().map(String::from).collect()
    };
    let (left, right) = (lines(plain), lines(shimmed));
    let mut told = String::new();
    for i in 0..left.len().max(right.len()) {
        if left.get(i) != right.get(i) {
            told += &format!("plain:   {:?}\nshimmed: {:?}\n", left.get(i), right.get(i));
        }
    }
    told
}

/// Runs a command in its own process group, in `directory`; what still runs at `bound` is killed.
pub fn run_bounded(mut command: Command, directory: &Path, bound: Duration) -> (i32, String, String) {
    use std::os::unix::process::ExitStatusExt;
    let captured = tempfile::tempdir().expect("directory");
    let (out, err) = (captured.path().join("out"), captured.path().join("err"));
    let mut child = command
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(File::create(&out).expect("file"))
        .stderr(File::create(&err).expect("file"))
        .process_group(0)
        .spawn()
        .expect("program");
    let begun = Instant::now();
    let code = loop {
        match child.try_wait().expect("child") {
            Some(status) => break status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            None if begun.elapsed() > bound => {
                let _ = nix::sys::signal::killpg(
                    nix::unistd::Pid::from_raw(child.id() as i32),
                    nix::sys::signal::Signal::SIGKILL,
                );
                let _ = child.wait();
                break -1;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    (code, text(&out), text(&err))
}

/// Bytes that wait in the pool.
fn dirty(status: &Value) -> u64 {
    status["files"].as_array().into_iter().flatten().map(|f| count(f, "dirty_bytes")).sum()
}

/// A counter of a JSON object.
pub fn count(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_else(|| panic!("no {key} in {object}"))
}

/// A directory on the disk's file system.
pub fn target_dir() -> PathBuf {
    profile_dir().parent().expect("target directory").into()
}

/// A fresh directory in `place`, removed with the value.
pub fn fresh(place: &Path, name: &str) -> tempfile::TempDir {
    tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(place).expect("directory")
}

/// Compiles `source`.c or `source`.cc into `bin`.
pub fn compile(source: &str, flags: &[&str], bin: &Path) {
    let (compiler, path) = match sources().join(format!("{source}.cc")) {
        path if path.exists() => ("g++", path),
        _ => ("gcc", sources().join(format!("{source}.c"))),
    };
    let mut command = Command::new(compiler);
    command
        .args(["-O1", "-Wall", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-o"])
        .arg(bin.join(source))
        .arg(path);
    let flags = flags.iter().map(|flag| flag.replace("$BIN", &bin.to_string_lossy()));
    let output = command.args(flags).output().expect(compiler);
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether `command` works; where it does not, the test is skipped by name, or fails where nothing may be skipped.
pub fn has(test: &str, command: &str) -> bool {
    let output = Command::new("sh").args(["-c", command]).output().expect("sh");
    let there = output.status.success();
    assert!(there || !in_ci(), "{test}: `{command}` does not work here");
    if !there {
        eprintln!("SKIPPED {test}: `{command}` does not work here");
    }
    there
}
