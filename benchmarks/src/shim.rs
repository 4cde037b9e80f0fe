//! A coordinator brought up for one measurement, and the environment that sends a child run through the shim.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::context::{failure, Context};
use crate::size::ByteSize;

/// Name under which the shim's library appears in a process's memory map.
const LIBRARY: &str = "libmillpond";

/// The shimmed side of a comparison.
pub struct Shim {
    environment: Vec<(String, String)>,
    running: Option<Running>,
}

struct Running {
    millpond: PathBuf,
    instance: String,
}

impl Shim {
    /// Starts an instance of its own over `stores` and asks it for the environment of its programs.
    pub fn start(stores: &[&Path], pool: ByteSize) -> io::Result<Self> {
        let millpond = std::env::current_exe()?.with_file_name("millpond");
        if !millpond.exists() {
            return Err(failure(format!("{} is not there: build the workspace first", millpond.display())));
        }
        let instance = format!("bench-{}", std::process::id());
        let mut start = Command::new(&millpond);
        start.args(["start", "--instance", &instance]);
        for store in stores {
            start.arg("--store").arg(store);
        }
        start.arg("--pool").arg(pool.0.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
        let status = start.status().context(|| "millpond start")?;
        if !status.success() {
            return Err(failure(format!("millpond start: {status}")));
        }
        // From here on the instance is stopped by drop, whatever happens.
        let mut shim = Self { environment: Vec::new(), running: Some(Running { millpond, instance }) };
        shim.environment = shim.ask_environment()?;
        Ok(shim)
    }

    /// Takes the environment from a file of `export NAME='value'` lines; nothing is started.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path).context(|| path.display().to_string())?;
        Ok(Self { environment: parse_exports(&text), running: None })
    }

    /// From the file if one is given, else from an instance of its own.
    pub fn obtain(file: Option<&Path>, stores: &[&Path], pool: ByteSize) -> io::Result<Self> {
        match file {
            Some(path) => Self::from_file(path),
            None => Self::start(stores, pool),
        }
    }

    /// The variables to add to a child's environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Whether a real instance stands behind this, so that a bypass would be a failure.
    pub fn is_real(&self) -> bool {
        self.running.is_some()
    }

    fn ask_environment(&self) -> io::Result<Vec<(String, String)>> {
        let Some(Running { millpond, instance }) = &self.running else { return Ok(Vec::new()) };
        let output = Command::new(millpond).args(["env", "--instance", instance]).output()?;
        if !output.status.success() {
            return Err(failure(format!("millpond env: {}", output.status)));
        }
        let exports = parse_exports(&String::from_utf8_lossy(&output.stdout));
        if exports.iter().any(|(name, _)| name == "LD_PRELOAD") {
            Ok(exports)
        } else {
            Err(failure("millpond env printed no LD_PRELOAD"))
        }
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        if let Some(Running { millpond, instance }) = &self.running {
            let status = Command::new(millpond).args(["stop", "--instance", instance]).status();
            if !status.as_ref().is_ok_and(|s| s.success()) {
                eprintln!("millpond stop --instance {instance}: {status:?}");
            }
        }
    }
}

/// Whether the shim's library is mapped into this process.
pub fn is_preloaded() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains(LIBRARY))
}

/// Reads `export NAME=value` lines, the value quoted as a shell would.
pub fn parse_exports(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("export ")?.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), unquote(value)))
        .collect()
}

/// Undoes shell quoting of one word: '…', "…" and backslash.
fn unquote(word: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = word.trim().trim_end_matches(';').chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_unquoted() {
        let text =
            "# a comment\nexport LD_PRELOAD='/a b/libmillpond.so'\nexport X=plain;\nexport Y='it'\\''s'\n";
        let wanted = [("LD_PRELOAD", "/a b/libmillpond.so"), ("X", "plain"), ("Y", "it's")];
        let wanted = wanted.map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(parse_exports(text), wanted);
    }
}
