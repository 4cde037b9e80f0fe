//! Why a configuration is refused: where the value stands, what is wrong with it, and what to do.

use std::fmt;

use thiserror::Error;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file, counted from one.
    Line {
        /// The name of the file.
        origin: String,
        /// The line.
        line: usize,
    },
    /// An environment variable.
    Env(String),
    /// A command-line flag.
    Flag(String),
    /// Nobody set it.
    Default,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { origin, line } => write!(f, "{origin}:{line}"),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "{name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A refused configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {}{problem}; {remedy}", key_prefix(.key))]
pub struct ConfigError {
    /// Where the value stands.
    pub place: Place,
    /// The key, such as `pool.size`; empty where the text is no TOML at all.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

fn key_prefix(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("{key}: ")
    }
}

/// A value that validation refuses, before anybody looked up where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub key: String,
    pub problem: String,
    pub remedy: String,
}

impl Fault {
    pub fn new(key: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub fn at(self, place: Place) -> ConfigError {
        ConfigError { place, key: self.key, problem: self.problem, remedy: self.remedy }
    }
}
