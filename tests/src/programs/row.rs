//! One row: a shell script whose header comments say what it needs and what is to be proved.
//!
//! - `# needs: PROGRAM…`: executables (or `python:MODULE`) that must be there;
//! - `# inputs: NAME…`: files of [`super::inputs`] that lie in `in/` before the start;
//! - `# bytes: NUMBER`: at least so many bytes go through the pool (1 unless given);
//! - `# direct: REASON`: the kernel may do it all after a sync-down, which the report must then show.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program, or several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name of the row and of its test.
    pub name: &'static str,
    /// The shell that runs the script.
    pub shell: &'static str,
    /// Text of the script.
    pub script: &'static str,
}

impl Row {
    fn header(&self, key: &str) -> Option<&'static str> {
        self.script
            .lines()
            .take_while(|line| line.starts_with('#') || line.is_empty())
            .find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "))
            .map(str::trim)
    }

    /// What the script needs, the shell included.
    pub fn needs(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.shell).chain(self.header("needs").unwrap_or_default().split_whitespace())
    }

    /// Names of the input files.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> {
        self.header("inputs").unwrap_or_default().split_whitespace()
    }

    /// Least number of bytes through the pool.
    pub fn least_bytes(&self) -> u64 {
        self.header("bytes").map_or(1, |text| text.parse().expect("# bytes: is a number"))
    }

    /// Why the row may end in the kernel's hands altogether.
    pub fn direct_reason(&self) -> Option<&'static str> {
        self.header("direct")
    }

    /// The script as it is run: strict, and with temporary files inside the store.
    pub fn text(&self) -> String {
        let pipefail = if self.shell == "bash" { "set -o pipefail\n" } else { "" };
        let prelude = "set -eu\numask 022\nTMPDIR=\"$PWD/tmp\"\nexport TMPDIR\n";
        format!("{prelude}{pipefail}{}", self.script)
    }

    /// What of the needs is missing on this machine.
    pub fn missing(&self) -> Vec<&'static str> {
        missing_of(&self.needs().collect::<Vec<_>>())
    }
}

/// Those of the needed executables (or `python:MODULE`) that are missing on this machine.
pub fn missing_of(needs: &[&'static str]) -> Vec<&'static str> {
    needs.iter().copied().filter(|need| !is_there(need)).collect()
}

fn is_there(need: &str) -> bool {
    if let Some(header) = need.strip_prefix("header:") {
        return Path::new("/usr/include").join(header).is_file();
    }
    match need.strip_prefix("python:") {
        Some(module) => Command::new(python())
            .args(["-c", &format!("import {module}")])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success()),
        None => search_path(need).is_some(),
    }
}

fn search_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The Python interpreter itself. What stands first in the path may be a version manager's script that starts a
/// dozen programs; its own work is not what a row is about.
pub fn python() -> &'static Path {
    static PYTHON: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    PYTHON.get_or_init(|| {
        Command::new("python3")
            .args(["-c", "import sys; print(sys.executable, end='')"])
            .output()
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok())
            .filter(|text| !text.is_empty())
            .map_or_else(|| PathBuf::from("python3"), PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::super::list::ROWS;
    use super::*;

    const ROW: Row = Row {
        name: "x",
        shell: "dash",
        script:
            "# A row.\n# needs: cat no-such-program-here\n# inputs: text\n# bytes: 12\n\necho # needs: y\n",
    };

    #[test]
    fn headers_are_read() {
        assert_eq!(ROW.needs().collect::<Vec<_>>(), ["dash", "cat", "no-such-program-here"]);
        assert_eq!(ROW.inputs().collect::<Vec<_>>(), ["text"]);
        assert_eq!((ROW.least_bytes(), ROW.direct_reason()), (12, None));
        assert!(ROW.missing().contains(&"no-such-program-here"));
    }

    #[test]
    fn every_script_says_what_it_is() {
        for row in ROWS {
            assert!(row.script.starts_with("# "), "{} has no opening comment", row.name);
            assert!(row.least_bytes() > 0, "{}: a silent bypass would pass", row.name);
        }
    }
}
