//! A coordinator for the duration of a test, and the environment that puts a program behind it.
//!
//! Holds: every started coordinator has its own instance name and is stopped when its [`Shim`] is dropped.
//! Where the `millpond` binary has not been built, [`Shim::start`] gives `None` and says so, except under
//! `CI=true`, where that is a failure: a test that quietly did nothing proves nothing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Longest that one `millpond` command may take before the test gives up on it.
const COMMAND_BOUND: Duration = Duration::from_secs(30);

/// What to start a coordinator with.
#[derive(Clone, Debug, Default)]
pub struct ShimOptions {
    /// Directories whose files are buffered.
    pub stores: Vec<PathBuf>,
    /// Value of `--pool`; the default of the program when `None`.
    pub pool: Option<String>,
    /// Text of a configuration file.
    pub config: Option<String>,
}

/// A running coordinator.
pub struct Shim {
    millpond: PathBuf,
    instance: String,
    environment: Vec<(String, String)>,
    /// Configuration and captured output; removed with the value.
    scratch: tempfile::TempDir,
}

/// Counters of what went through the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes that programs wrote into the pool.
    pub bytes_written: u64,
    /// Bytes that programs read from the pool.
    pub bytes_read: u64,
    /// Pages that had to go because the pool was full.
    pub pages_evicted: u64,
}

/// True under continuous integration, where nothing may be skipped.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// The profile directory that the running test was built into, e.g. `target/debug`.
pub fn profile_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("path of the running test");
    let dir = exe.parent().expect("directory of the running test");
    if dir.ends_with("deps") {
        dir.parent().expect("profile directory").into()
    } else {
        dir.into()
    }
}

/// The `millpond` binary beside the running test, if it has been built.
pub fn millpond_binary() -> Option<PathBuf> {
    Some(profile_dir().join("millpond")).filter(|path| path.is_file())
}

impl Shim {
    /// Starts a coordinator for the test called `test`; `None` if there is no binary to start.
    ///
    /// # Panics
    /// When the coordinator does not start, or under `CI=true` when the binary is missing.
    pub fn start(test: &str, options: &ShimOptions) -> Option<Shim> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Some(millpond) = millpond_binary() else {
            let missing = profile_dir().join("millpond");
            assert!(!in_ci(), "{test}: {} is not built", missing.display());
            eprintln!("SKIPPED {test}: {} is not built", missing.display());
            return None;
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let instance = format!("test-{}-{number}", std::process::id());
        let scratch = tempfile::Builder::new().prefix("millpond-shim-").tempdir().expect("scratch directory");
        let mut shim = Shim { millpond, instance, environment: Vec::new(), scratch };
        let mut arguments: Vec<std::ffi::OsString> = Vec::new();
        for store in &options.stores {
            arguments.extend(["--store".into(), store.into()]);
        }
        if let Some(pool) = &options.pool {
            arguments.extend(["--pool".into(), pool.into()]);
        }
        if let Some(config) = &options.config {
            let path = shim.scratch.path().join("millpond.toml");
            std::fs::write(&path, config).expect("write configuration");
            arguments.extend(["--config".into(), path.into()]);
        }
        shim.run("start", &arguments);
        let exports = shim.run("env", &[]);
        shim.environment = exports.lines().filter_map(parse_export).collect();
        let preloads = shim.environment.iter().any(|(name, _)| name == "LD_PRELOAD");
        assert!(preloads, "`millpond env` exports no LD_PRELOAD:\n{exports}");
        Some(shim)
    }

    /// Variables that put a program behind this coordinator.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Name that the `millpond` commands know this coordinator by.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// A command for `program` that runs behind this coordinator.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `millpond COMMAND --instance NAME ARGUMENTS…` and gives its standard output.
    ///
    /// # Panics
    /// When the command fails or takes longer than its bound.
    pub fn run(&self, command: &str, arguments: &[std::ffi::OsString]) -> String {
        match self.try_run(command, arguments) {
            Ok(output) => output,
            Err(message) => panic!("{message}"),
        }
    }

    /// Like [`Shim::run`], but a failure is a value.
    pub fn try_run(&self, command: &str, arguments: &[std::ffi::OsString]) -> Result<String, String> {
        // Files rather than pipes: a daemon that keeps its standard output open must not hold us up.
        let (out, err) = (self.scratch.path().join("stdout"), self.scratch.path().join("stderr"));
        let mut child = Command::new(&self.millpond)
            .arg(command)
            .args(["--instance", &self.instance])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("output file"))
            .stderr(File::create(&err).expect("output file"))
            .spawn()
            .map_err(|error| format!("{}: {error}", self.millpond.display()))?;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            if started.elapsed() > COMMAND_BOUND {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "`millpond {command}` did not return in {COMMAND_BOUND:?}\n{}",
                    read(&err)
                ));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        if status.success() {
            Ok(read(&out))
        } else {
            Err(format!("`millpond {command} {arguments:?}`: {status}\n{}{}", read(&out), read(&err)))
        }
    }

    /// What `millpond status --json` says.
    pub fn status(&self) -> serde_json::Value {
        let text = self.run("status", &["--json".into()]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("status is not JSON: {error}\n{text}"))
    }

    /// Bytes through the pool since the coordinator started.
    pub fn totals(&self) -> Totals {
        let status = self.status();
        let count = |key: &str| {
            status["totals"][key].as_u64().unwrap_or_else(|| panic!("status has no totals.{key}: {status}"))
        };
        Totals {
            bytes_written: count("bytes_written"),
            bytes_read: count("bytes_read"),
            pages_evicted: count("pages_evicted"),
        }
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        // A test that fails leaves programs attached; the coordinator goes all the same.
        if let Err(message) = self.try_run("stop", &[]) {
            if let Err(forced) = self.try_run("stop", &["--force".into()]) {
                eprintln!("{message}\n{forced}");
            }
        }
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// Reads one line of the form `export NAME='value'`.
fn parse_export(line: &str) -> Option<(String, String)> {
    let (name, quoted) = line.trim().strip_prefix("export ")?.split_once('=')?;
    let mut value = String::new();
    let mut rest = quoted.trim_end_matches(';').chars();
    let mut inside = false;
    while let Some(character) = rest.next() {
        match character {
            '\'' => inside = !inside,
            '\\' if !inside => value.extend(rest.next()),
            other => value.push(other),
        }
    }
    Some((name.to_string(), value))
}

#[cfg(test)]
mod tests {
    use super::parse_export;

    #[test]
    fn exports_are_unquoted() {
        let parsed = |line| parse_export(line).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(parsed("export A='b c'").as_deref(), Some("A=b c"));
        assert_eq!(parsed(r"export A='it'\''s';").as_deref(), Some("A=it's"));
        assert_eq!(parsed("export A=plain").as_deref(), Some("A=plain"));
        assert_eq!(parsed("# comment"), None);
    }
}
