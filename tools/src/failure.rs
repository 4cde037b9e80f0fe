//! A failure as the user sees it: one line that names the thing and what to do about it.

use std::fmt;

/// What went wrong and the remedy.
#[derive(Debug)]
pub struct Failure {
    what: String,
    remedy: String,
    code: u8,
}

/// The result of everything that can fail in front of the user.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// `what` names the thing, `remedy` says what to do.
    pub fn new(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self { what: what.to_string(), remedy: remedy.to_string(), code: 1 }
    }

    /// The same failure with another exit code than 1.
    pub fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// The exit code of the process, as a number.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = if self.remedy.is_empty() {
            self.what.clone()
        } else {
            format!("{}; {}", self.what, self.remedy)
        };
        // One line, whatever a path or a program's message holds.
        f.write_str(&line.replace('\n', " "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line() {
        assert_eq!(Failure::new("a\nb", "do c").to_string(), "a b; do c");
        assert_eq!(Failure::new("a", "").to_string(), "a");
    }
}
