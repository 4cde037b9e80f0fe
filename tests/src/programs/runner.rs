//! Runs one row in two directories and compares.
//!
//! Both runs get the same script file, the same small environment and inputs of the same bytes; output goes to
//! files outside the store. Every run has a bound: a hang is a failure, and its whole process group is killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

use super::inputs;
use super::report::Report;
use super::row::{python, Row};
use super::snapshot::{self, Tree};
use crate::shim_env::{in_ci, millpond_binary, profile_dir};

/// Longest time of one run of one row.
const BOUND: Duration = Duration::from_secs(120);
/// Pool of the shimmed run: smaller than some rows' data together, so that eviction takes part.
const POOL: &str = "64MiB";
/// Most differing files that a failure names.
const SHOWN_DIFFERENCES: usize = 10;

/// What stands on the second side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Second {
    /// `millpond run` of this binary.
    Shim(PathBuf),
    /// Plain again: shows that the row itself is deterministic.
    Plain,
}

/// What came out of a row.
#[derive(Debug)]
pub struct Outcome {
    /// What is wrong; empty when the row passed.
    pub failures: Vec<String>,
    /// Needed executables that are not on this machine.
    pub missing: Vec<&'static str>,
    /// Counters of the shimmed run.
    pub report: Option<Report>,
    /// Time of the second run.
    pub elapsed: Duration,
    /// What the plain run printed.
    pub transcript: String,
}

impl Outcome {
    /// One word for the table.
    pub fn verdict(&self) -> &'static str {
        match (self.failures.is_empty(), self.missing.is_empty()) {
            (false, _) => "FAILED",
            (true, false) => "skipped",
            (true, true) => "ok",
        }
    }
}

/// One finished run.
struct Run {
    status: ExitStatus,
    timed_out: bool,
    stdout: Vec<u8>,
    stderr: String,
    tree: Tree,
    elapsed: Duration,
}

/// Runs a row as a test: panics when it fails, says so on standard error when it is skipped.
///
/// # Panics
/// When the row fails, or under `CI=true` when something it needs is missing.
pub fn check(row: &Row) {
    let second = millpond_binary().map_or(Second::Plain, Second::Shim);
    assert!(second != Second::Plain || !in_ci(), "{}: the millpond binary is not built", row.name);
    let outcome = run(row, &second).unwrap_or_else(|error| panic!("{}: {error}", row.name));
    assert!(outcome.failures.is_empty(), "{}:\n{}", row.name, outcome.failures.join("\n"));
    if !outcome.missing.is_empty() {
        assert!(!in_ci(), "{}: not installed: {}", row.name, outcome.missing.join(" "));
        eprintln!("SKIPPED {}: not installed: {}", row.name, outcome.missing.join(" "));
    } else if second == Second::Plain {
        eprintln!("SKIPPED {}: millpond is not built, ran plain against plain only", row.name);
    }
}

/// Runs a row plainly and then as `second` says.
///
/// # Errors
/// When the scratch directory cannot be set up or read.
pub fn run(row: &Row, second: &Second) -> io::Result<Outcome> {
    let scratch = tempfile::Builder::new().prefix("programs-").tempdir_in(profile_dir())?;
    run_in(scratch.path(), row, second)
}

/// Like [`run`], in an empty directory of the caller's, which afterwards holds both trees and all output.
///
/// # Errors
/// When the directory cannot be used.
pub fn run_in(scratch: &Path, row: &Row, second: &Second) -> io::Result<Outcome> {
    let missing = row.missing();
    let mut outcome = Outcome {
        failures: Vec::new(),
        missing,
        report: None,
        elapsed: Duration::ZERO,
        transcript: String::new(),
    };
    if !outcome.missing.is_empty() {
        return Ok(outcome);
    }
    let bench = Bench::new(row, scratch)?;
    let plain = bench.run("plain", |command| command)?;
    outcome.transcript = format!("{}{}", String::from_utf8_lossy(&plain.stdout), plain.stderr);
    if plain.timed_out || !plain.status.success() {
        outcome.failures.push(format!("the plain run itself failed: {}\n{}", told(&plain), plain.stderr));
        return Ok(outcome);
    }
    let report = scratch.join("report.json");
    let other = bench.run("shim", |command| match second {
        Second::Plain => command,
        Second::Shim(millpond) => behind_shim(millpond, row, scratch, &report, command),
    })?;
    outcome.elapsed = other.elapsed;
    outcome.failures = compare(&plain, &other);
    if let Second::Shim(_) = second {
        match Report::read(&report) {
            Ok(report) => {
                outcome.failures.extend(bypass(row, &report));
                outcome.report = Some(report);
            }
            Err(error) => outcome.failures.push(error),
        }
    }
    Ok(outcome)
}

/// A row's place: script, home, and the two directories.
struct Bench<'a> {
    row: &'a Row,
    scratch: &'a Path,
    script: PathBuf,
}

impl<'a> Bench<'a> {
    fn new(row: &'a Row, scratch: &'a Path) -> io::Result<Self> {
        let script = scratch.join("script.sh");
        fs::write(&script, row.text())?;
        fs::create_dir(scratch.join("home"))?;
        Ok(Self { row, scratch, script })
    }

    /// Runs the script in a fresh directory called `side`; `wrap` may put something around the command.
    fn run(&self, side: &str, wrap: impl FnOnce(Vec<OsString>) -> Vec<OsString>) -> io::Result<Run> {
        let dir = self.scratch.join(side);
        fs::create_dir_all(dir.join("in"))?;
        fs::create_dir(dir.join("tmp"))?;
        self.row.inputs().try_for_each(|name| inputs::write(name, &dir.join("in")))?;
        let (out, err) = (self.scratch.join(format!("{side}.out")), self.scratch.join(format!("{side}.err")));
        let argv = wrap(vec![self.row.shell.into(), self.script.clone().into()]);
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).current_dir(&dir).env_clear().envs(self.environment());
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?).process_group(0);
        let started = Instant::now();
        let (status, timed_out) = wait(&mut command, started)?;
        let elapsed = started.elapsed();
        let stderr = String::from_utf8_lossy(&fs::read(&err)?).into_owned();
        Ok(Run {
            status,
            timed_out,
            stdout: fs::read(&out)?,
            stderr: normalise(&stderr),
            tree: snapshot::take(&dir)?,
            elapsed,
        })
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut path = python().parent().map(|dir| dir.as_os_str().to_owned()).unwrap_or_default();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let fixed = [
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("USER", "miller"),
            ("TERM", "dumb"),
            ("SOURCE_DATE_EPOCH", "1577836800"),
            ("PYTHONHASHSEED", "0"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_AUTHOR_NAME", "Miller"),
            ("GIT_AUTHOR_EMAIL", "miller@example.org"),
            ("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z"),
            ("GIT_COMMITTER_NAME", "Miller"),
            ("GIT_COMMITTER_EMAIL", "miller@example.org"),
            ("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z"),
        ];
        let mut environment: Vec<(OsString, OsString)> =
            fixed.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        environment.push(("PATH".into(), path));
        environment.push(("HOME".into(), self.scratch.join("home").into()));
        // The scratch directory lies below the project's own repository, which no row may find.
        environment.push(("GIT_CEILING_DIRECTORIES".into(), self.scratch.into()));
        environment.extend(std::env::var_os("XDG_RUNTIME_DIR").map(|dir| ("XDG_RUNTIME_DIR".into(), dir)));
        environment
    }
}

/// `millpond run` around a command, with an instance of its own: rows run side by side.
fn behind_shim(
    millpond: &Path,
    row: &Row,
    scratch: &Path,
    report: &Path,
    command: Vec<OsString>,
) -> Vec<OsString> {
    let instance = format!("program-{}-{}", row.name, std::process::id());
    let mut argv: Vec<OsString> = vec![millpond.into(), "run".into(), "--instance".into(), instance.into()];
    argv.extend(["--store".into(), scratch.join("shim").into(), "--pool".into(), POOL.into()]);
    argv.extend(["--report".into(), report.into(), "--".into()]);
    argv.extend(command);
    argv
}

/// Waits for the command within the bound. Afterwards nothing of its process group is left.
fn wait(command: &mut Command, started: Instant) -> io::Result<(ExitStatus, bool)> {
    let mut child = command.spawn()?;
    let group = Pid::from_raw(child.id() as i32);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if started.elapsed() > BOUND {
            // The group exists: its leader has not been waited for.
            killpg(group, Signal::SIGKILL)?;
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Takes out of messages what differs between any two runs.
fn normalise(text: &str) -> String {
    text.lines().map(|line| line.split(" copied, ").next().unwrap_or(line).to_owned() + "\n").collect()
}

fn told(run: &Run) -> String {
    match (run.timed_out, run.status.code(), run.status.signal()) {
        (true, ..) => format!("no end within {BOUND:?}"),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, _, signal) => format!("signal {signal:?}"),
    }
}

fn compare(plain: &Run, other: &Run) -> Vec<String> {
    let mut failures = Vec::new();
    if other.timed_out || plain.status.code() != other.status.code() {
        failures.push(format!("{}, plain: {}", told(other), told(plain)));
    }
    let texts = [
        ("standard output", String::from_utf8_lossy(&plain.stdout), String::from_utf8_lossy(&other.stdout)),
        ("standard error", plain.stderr.as_str().into(), other.stderr.as_str().into()),
    ];
    for (what, wanted, seen) in &texts {
        if wanted != seen {
            failures.push(format!("{what} differs: {}", first_difference(wanted, seen)));
        }
    }
    let differences = snapshot::differences(&plain.tree, &other.tree);
    let count = differences.len();
    failures.extend(differences.into_iter().take(SHOWN_DIFFERENCES));
    if count > SHOWN_DIFFERENCES {
        failures.push(format!("and {} more files", count - SHOWN_DIFFERENCES));
    }
    failures
}

/// The first line that differs, on both sides, and the last of the other side, where an error tends to stand.
fn first_difference(wanted: &str, seen: &str) -> String {
    let line = wanted.lines().zip(seen.lines()).take_while(|(a, b)| a == b).count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    let last = seen.lines().last().unwrap_or("(nothing)");
    format!("line {}\n  plain: {}\n  shim:  {}\n  shim's last line: {last}", line + 1, at(wanted), at(seen))
}

/// What the counters say against the row: a program that silently went past the pool has shown nothing.
fn bypass(row: &Row, report: &Report) -> Vec<String> {
    let bytes = report.bytes_through_pool();
    let handed_over = row.direct_reason().is_some() && !report.reasons().is_empty();
    let mut failures = Vec::new();
    if bytes < row.least_bytes() && !handed_over {
        failures.push(format!("{bytes} bytes went through the pool, wanted at least {}", row.least_bytes()));
    }
    if report.flush_errors > 0 {
        failures.push(format!("{} flush errors", report.flush_errors));
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(script: &'static str) -> Row {
        Row { name: "x", shell: "sh", script }
    }

    fn report(bytes: u64, reason: &str) -> Report {
        let sync_downs = vec![super::super::report::SyncDown { reason: reason.into(), count: 1 }];
        Report { bytes_written: bytes, sync_downs, ..Report::default() }
    }

    #[test]
    fn a_bypass_is_a_failure_unless_the_row_says_why() {
        assert!(bypass(&row("# x\n"), &report(1, "")).is_empty());
        assert!(!bypass(&row("# x\n"), &report(0, "mapping")).is_empty());
        assert!(!bypass(&row("# x\n# bytes: 10\n"), &report(9, "mapping")).is_empty());
        assert!(bypass(&row("# x\n# direct: a mapping\n"), &report(0, "mapping")).is_empty());
        let untouched = Report::default();
        assert!(!bypass(&row("# x\n# direct: a mapping\n"), &untouched).is_empty());
    }

    #[test]
    fn times_and_speeds_do_not_count() {
        assert_eq!(normalise("a\n5000 bytes copied, 0.1 s, 50 kB/s\n"), "a\n5000 bytes\n");
    }
}
