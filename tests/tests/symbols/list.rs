//! The list of names.

use serde::Deserialize;
use std::path::PathBuf;

/// What is listed for one row of SEMANTICS.md; the file itself says what the keys mean.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Group {
    /// The row.
    pub row: String,
    /// Exported names.
    pub caught: Vec<String>,
    /// Names whose entries in libc are patched.
    pub patched: Vec<String>,
    /// Names of system calls.
    pub numbers: Vec<String>,
    /// Names that libc makes of patched ones.
    pub through: Vec<String>,
    /// The kernel's.
    pub untouched: Vec<String>,
    /// Why these are.
    pub because: String,
}

#[derive(Deserialize)]
struct List {
    group: Vec<Group>,
}

/// The root of the source tree.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").into()
}

/// The groups, in their order.
pub fn groups() -> Vec<Group> {
    let text = std::fs::read_to_string(root().join("docs/symbols.toml")).expect("docs/symbols.toml");
    toml::from_str::<List>(&text).expect("a list of groups").group
}
