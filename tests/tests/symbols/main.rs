//! What the shim catches and what it says about it: the list in `docs/symbols.toml` against the library, against libc's entries in a shimmed program, and
//! against the rows of `docs/SEMANTICS.md`, each of which names a test that exists.

mod list;
mod rows;

use list::{groups, Group};
use millpond_tests::shim_env::{in_ci, profile_dir, Shim, ShimOptions};
use object::{Object, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Functions that the library exports.
fn exported() -> BTreeSet<String> {
    let bytes = fs::read(profile_dir().join("libmillpond.so")).expect("the library is built");
    let library = object::File::parse(&*bytes).expect("an ELF file");
    let defined = library.dynamic_symbols().filter(ObjectSymbol::is_definition);
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

fn names<'a>(groups: &'a [Group], of: impl Fn(&'a Group) -> &'a Vec<String>) -> BTreeSet<String> {
    groups.iter().flat_map(of).cloned().collect()
}

#[test]
fn the_list_names_what_the_library_exports() {
    let groups = groups();
    let (listed, there) = (names(&groups, |g| &g.caught), exported());
    let missing: Vec<_> = listed.difference(&there).collect();
    let unlisted: Vec<_> = there.difference(&listed).collect();
    assert!(missing.is_empty(), "listed as caught and not exported: {missing:?}");
    assert!(unlisted.is_empty(), "exported and not in docs/symbols.toml: {unlisted:?}");
}

#[test]
fn no_name_is_both_caught_and_left_alone() {
    let groups = groups();
    let caught = names(&groups, |g| &g.caught);
    let patched = names(&groups, |g| &g.patched);
    for (what, left) in
        [("through", names(&groups, |g| &g.through)), ("untouched", names(&groups, |g| &g.untouched))]
    {
        let both: Vec<_> =
            left.iter().filter(|name| caught.contains(*name) || patched.contains(*name)).collect();
        assert!(both.is_empty(), "listed as {what} and as caught: {both:?}");
    }
    for group in &groups {
        assert!(
            group.untouched.is_empty() || !group.because.is_empty(),
            "{}: untouched, and no reason",
            group.row
        );
    }
}

#[test]
fn numbers_have_their_operation() {
    let table = fs::read_to_string(list::root().join("shim/src/ops/raw.rs")).expect("the table of numbers");
    for group in groups() {
        for number in &group.numbers {
            let there =
                table.contains(&format!("SYS_{number} ")) || table.contains(&format!("SYS_{number}\n"));
            assert!(there, "{}: no operation for number {number}", group.row);
        }
    }
}

/// What stands at libc's entry of each name: `jump`, `own` code, or `none` when libc has no such name.
fn entries(program: &Path, names: &BTreeSet<String>, shim: Option<&Shim>) -> BTreeMap<String, String> {
    let mut command = Command::new(program);
    if let Some(shim) = shim {
        command.envs(shim.environment().iter().map(|(name, value)| (name, value)));
    }
    let output = command.args(names).output().expect("program");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn entries_of_libc_are_patched() {
    let scratch = tempfile::tempdir().expect("directory");
    let program = scratch.path().join("entries");
    fs::write(scratch.path().join("entries.c"), include_str!("entries.c")).expect("source");
    let built =
        Command::new("gcc").args(["-w", "-o", "entries", "entries.c"]).current_dir(scratch.path()).status();
    if !built.as_ref().is_ok_and(|status| status.success()) {
        assert!(!in_ci(), "gcc: {built:?}");
        return eprintln!("SKIPPED entries_of_libc_are_patched: gcc does not work here");
    }
    let store = scratch.path().join("store");
    fs::create_dir(&store).expect("store");
    let options = ShimOptions { stores: vec![store], pool: Some("16MiB".into()), config: None };
    let Some(shim) = Shim::start("entries", &options) else { return };
    let groups = groups();
    let wanted = names(&groups, |g| &g.patched);
    let plain = entries(&program, &wanted, None);
    assert!(plain.values().all(|what| what != "jump"), "{plain:?}");
    let shimmed = entries(&program, &wanted, Some(&shim));
    let left: Vec<_> = shimmed.iter().filter(|(_, what)| *what == "own").collect();
    assert!(left.is_empty(), "listed as patched, and libc's own: {left:?}");
    // Names come and go with versions of libc, but not most of them.
    let jumps = shimmed.values().filter(|what| *what == "jump").count();
    assert!(jumps * 4 > wanted.len() * 3, "{shimmed:?}");
    // What is left to the kernel alone has its entry untouched.
    let untouched = entries(&program, &names(&groups, |g| &g.untouched), Some(&shim));
    let patched: Vec<_> = untouched.iter().filter(|(_, what)| *what == "jump").collect();
    assert!(patched.is_empty(), "listed as untouched, and patched: {patched:?}");
}
