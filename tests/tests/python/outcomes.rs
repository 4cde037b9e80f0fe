//! What became of each case of the suite, and how two runs differ.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Outcomes by the name of the case; a name that comes several times (sub-tests) has several. A module stands among the
/// cases with the word that the run ends it with, so that one that crashes or never starts is noticed.
#[derive(Clone, Debug, Default)]
pub struct Outcomes(BTreeMap<String, Vec<String>>);

impl Outcomes {
    /// Reads a run's JUnit report and what it printed.
    pub fn read(python: &Path, report: &str, printed: &str) -> Self {
        let mut outcomes = Self::default();
        for line in cases(python, report).lines() {
            if let Some((outcome, name)) = line.split_once('\t') {
                outcomes.add(name, outcome);
            }
        }
        for (module, verdict) in printed.lines().filter_map(verdict) {
            outcomes.add(module, verdict);
        }
        for outcomes in outcomes.0.values_mut() {
            outcomes.sort();
        }
        outcomes
    }

    fn add(&mut self, name: &str, outcome: &str) {
        self.0.entry(name.to_owned()).or_default().push(outcome.to_owned());
    }

    /// What became of case `name`, in words.
    pub fn of(&self, name: &str) -> String {
        self.0.get(name).map_or_else(|| "did not run".to_owned(), |all| all.join("+"))
    }

    /// How many cases have this outcome.
    pub fn count(&self, outcome: &str) -> usize {
        self.0.values().flatten().filter(|o| *o == outcome).count()
    }

    /// Cases of one run and of another that became something else.
    pub fn differences(&self, other: &Self) -> BTreeSet<String> {
        let names = self.0.keys().chain(other.0.keys());
        names.filter(|name| self.0.get(*name) != other.0.get(*name)).cloned().collect()
    }
}

/// The module that a case belongs to.
pub fn module_of(case: &str) -> &str {
    case.strip_prefix("test.").unwrap_or(case).split('.').next().unwrap_or(case)
}

fn cases(python: &Path, report: &str) -> String {
    let mut child = Command::new(python)
        .args(["-c", include_str!("outcomes.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python");
    child.stdin.take().expect("pipe").write_all(report.as_bytes()).expect("report");
    let output = child.wait_with_output().expect("outcomes");
    assert!(output.status.success(), "the report of the suite cannot be read:\n{report}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A line such as `0:00:13 load avg: 9.52 [ 4/18/1] test_shutil passed (30 sec)`.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once("load avg:")?.1.split_once("] ")?;
    let mut words = rest.split_whitespace();
    words.next().zip(words.next()).filter(|(module, _)| module.starts_with("test_"))
}

#[test]
fn modules_are_read_from_what_is_printed() {
    let read = |line| verdict(line).map(|(module, verdict)| format!("{module}={verdict}"));
    assert_eq!(
        read("0:00:13 load avg: 9.52 [ 4/18] test_shutil passed").as_deref(),
        Some("test_shutil=passed")
    );
    let failed =
        "0:00:48 load avg: 15.03 [ 9/77/2] test_os failed (1 failure) -- running: test_signal (35.8 sec)";
    assert_eq!(read(failed).as_deref(), Some("test_os=failed"));
    assert_eq!(read("0:01:11 load avg: 9.77 running: test_subprocess (35.8 sec)"), None);
    assert_eq!(module_of("test.test_io.CIOTest.test_readline"), "test_io");
    assert_eq!(module_of("test_io"), "test_io");
}
