//! What is said and kept of a failure.

use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::script::Script;

/// Number of differing lines that are printed.
const SHOWN_DIFFERENCES: usize = 8;

/// A script whose two runs differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The script.
    pub script: Script,
    /// Names of the sides.
    pub names: [String; 2],
    /// Their transcripts.
    pub transcripts: [Vec<String>; 2],
}

impl Difference {
    /// The first lines that differ, with the line before them.
    pub fn first_lines(&self) -> String {
        let [left, right] = &self.transcripts;
        let mut text = String::new();
        let mut shown = 0;
        for index in 0..left.len().max(right.len()) {
            let (a, b) = (left.get(index), right.get(index));
            if a == b {
                continue;
            }
            if let (0, Some(before)) = (shown, index.checked_sub(1).and_then(|before| left.get(before))) {
                let _ = writeln!(text, "  {:>9}: {before}", "both");
            }
            for (name, line) in self.names.iter().zip([a, b]) {
                let _ = writeln!(text, "  {name:>9}: {}", line.map_or("(no line)", String::as_str));
            }
            shown += 1;
            if shown == SHOWN_DIFFERENCES {
                text.push_str("  …\n");
                break;
            }
        }
        text
    }

    /// Writes script and transcripts below `directory` with names that begin with `stem`; gives the names.
    pub fn keep(&self, directory: &Path, stem: &str) -> io::Result<Vec<String>> {
        std::fs::create_dir_all(directory)?;
        let mut names = Vec::new();
        let mut put = |suffix: &str, text: String| {
            let path = directory.join(format!("{stem}.{suffix}"));
            names.push(path.display().to_string());
            std::fs::write(path, text)
        };
        put("script", self.script.to_text())?;
        for (name, lines) in self.names.iter().zip(&self.transcripts) {
            put(name, lines.join("\n") + "\n")?;
        }
        Ok(names)
    }
}
