//! The tables of SEMANTICS.md: each row names tests that exist, and each group of names has its row.

use crate::list::{groups, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A row: its first cell and its last.
struct Row {
    first: String,
    shown_by: String,
}

/// The rows of all tables whose last column says what shows it.
fn rows() -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/SEMANTICS.md")).expect("docs/SEMANTICS.md");
    let mut rows = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let Some(cells) = line.strip_prefix('|').and_then(|l| l.trim_end().strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let (Some(&first), Some(&last)) = (cells.first(), cells.last()) else { continue };
        if last == "shown by" {
            inside = true;
        } else if inside && !first.starts_with("---") {
            rows.push(Row { first: first.to_owned(), shown_by: last.to_owned() });
        }
    }
    rows
}

/// The references in a cell: what stands between backquotes.
fn references(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Whether some file at or below `path` defines a function `name`.
fn defines(path: &Path, name: &str) -> bool {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("directory");
        return entries.filter_map(Result::ok).any(|entry| defines(&entry.path(), name));
    }
    fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {name}(")))
}

#[test]
fn each_row_names_tests_that_exist() {
    let rows = rows();
    assert!(rows.len() > 20, "the tables of SEMANTICS.md were not found");
    let mut wrong = Vec::new();
    for row in &rows {
        let references = references(&row.shown_by);
        if references.is_empty() {
            wrong.push(format!("{}: names no test", row.first));
        }
        for reference in references {
            let (path, function) = match reference.split_once("::") {
                Some((path, function)) => (path, Some(function)),
                None => (reference, None),
            };
            let at = root().join(path);
            if !at.exists() {
                wrong.push(format!("{}: there is no {path}", row.first));
            } else if let Some(function) = function.filter(|f| !defines(&at, f)) {
                wrong.push(format!("{}: there is no {function} in {path}", row.first));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_group_of_names_has_its_row() {
    let named: BTreeSet<String> = rows()
        .iter()
        .filter_map(|row| row.first.strip_prefix("**")?.split_once("**").map(|(name, _)| name.to_owned()))
        .collect();
    let missing: Vec<_> =
        groups().into_iter().map(|group| group.row).filter(|row| !named.contains(row)).collect();
    assert!(missing.is_empty(), "groups of docs/symbols.toml without a row in SEMANTICS.md: {missing:?}");
}
