//! A store behind a coordinator, and a program that does what it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use millpond_tests::programs::row::missing_of;
use millpond_tests::shim_env::{in_ci, Shim, ShimOptions};
use serde_json::Value;

/// A coordinator with a store of its own.
pub struct Pond {
    pub shim: Shim,
    pub store: tempfile::TempDir,
    /// Outside the store.
    pub bin: tempfile::TempDir,
}

impl Pond {
    /// Starts one; `None` where something is missing and the test is skipped.
    pub fn start(test: &str, pool: &str, needs: &[&'static str]) -> Option<Self> {
        let missing = missing_of(&[needs, &["gcc", "bash"]].concat());
        if !missing.is_empty() {
            assert!(!in_ci(), "{test}: not installed: {}", missing.join(" "));
            eprintln!("SKIPPED {test}: not installed: {}", missing.join(" "));
            return None;
        }
        let place = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix("report-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("directory")
        };
        let (store, bin) = (place(), place());
        let options =
            ShimOptions { stores: vec![store.path().into()], pool: Some(pool.into()), config: None };
        let shim = Shim::start(test, &options)?;
        let text = bin.path().join("deeds.c");
        std::fs::write(&text, include_str!("deeds.c")).expect("source");
        let built = Command::new("gcc").arg("-w").arg("-o").arg(bin.path().join("deeds")).arg(&text).output();
        let built = built.expect("gcc");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(Self { shim, store, bin })
    }

    pub fn deeds(&self) -> PathBuf {
        self.bin.path().join("deeds")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.store.path().join(name)
    }

    /// A command behind the coordinator, in the store, which writes its line.
    pub fn told(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.shim.command(program);
        command.current_dir(self.store.path()).env("MILLPOND_REPORT", "1");
        command
    }

    /// Runs a shell's script, told.
    pub fn script(&self, text: &str) -> Output {
        self.told("bash").args(["-c", text]).env("DEEDS", self.deeds()).output().expect("bash")
    }

    /// `millpond run` on this coordinator: its report.
    pub fn run(&self, words: &[&Path]) -> Value {
        let report = self.bin.path().join("report.json");
        let mut arguments: Vec<std::ffi::OsString> = vec!["--report".into(), (&report).into(), "--".into()];
        arguments.extend(words.iter().map(|word| word.into()));
        self.shim.run("run", &arguments);
        serde_json::from_slice(&std::fs::read(&report).expect("report")).expect("JSON")
    }
}

/// The lines of the report in what was written to standard error.
pub fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.starts_with("millpond: ")).map(str::to_owned).collect()
}

/// The line without the process's number: `millpond: NAME: …`.
pub fn without_number(line: &str) -> String {
    let (name, rest) = line.split_once('[').expect("a number");
    format!("{name}{}", rest.split_once(']').expect("its end").1)
}

/// The program of that name in a list of programs.
pub fn program<'a>(programs: &'a Value, name: &str) -> Option<&'a Value> {
    programs.as_array().expect("programs").iter().find(|p| p["name"] == name)
}

/// How often a reason is told of in a list such as `sync_downs`.
pub fn count(list: &Value, reason: &str) -> u64 {
    let entries = list.as_array().expect("a list");
    entries.iter().filter(|e| e["reason"] == reason).map(|e| e["count"].as_u64().expect("a count")).sum()
}
