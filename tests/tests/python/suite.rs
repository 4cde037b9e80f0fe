//! Python's own tests of files, processes and what is built on them: the same result plain and shimmed, case by case.
//!
//! Both runs go side by side, as they would on a node that is busy. The modules of a case that differs are run again, both ways: a difference
//! that stays is a failure. Cases that come out now one way and now another are named, and may not be many.

use crate::interpreter::{share_out, Share};
use crate::outcomes::module_of;
use crate::side::{run, Ran};
use millpond_tests::shim_env::{in_ci, Shim, ShimOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// The modules; `MILLPOND_PYTHON_TESTS` names others.
const MODULES: [&str; 19] = [
    "test_io",
    "test_fileio",
    "test_file",
    "test_os",
    "test_shutil",
    "test_tempfile",
    "test_zipfile",
    "test_tarfile",
    "test_mmap",
    "test_subprocess",
    "test_sqlite3",
    "test_multiprocessing_fork",
    "test_largefile",
    "test_posix",
    "test_fcntl",
    "test_select",
    "test_gzip",
    "test_bz2",
    "test_dbm",
];
/// What Debian's package of the suite leaves out; another interpreter in the path may have it.
const NOT_PACKAGED: [&str; 1] = ["test_sqlite3"];
/// Bytes that go through the pool at least; the modules write about 2.6 GB, most of it in one file.
const LEAST_BYTES: u64 = 1 << 30;
/// Least number of cases that pass.
const LEAST_CASES: usize = 2500;
/// How often the modules of a difference are run again.
const RERUNS: usize = 2;
/// How many cases may come out differently from run to run.
const UNSTEADY: usize = 3;

#[test]
fn pythons_own_tests_come_out_as_without_the_shim() {
    let named = std::env::var("MILLPOND_PYTHON_TESTS").ok();
    let modules = named.as_deref().map_or_else(|| MODULES.to_vec(), |list| list.split_whitespace().collect());
    let (shares, missing) = share_out(&modules);
    if !missing.is_empty() {
        say(&format!("SKIPPED of Python's suite, as no interpreter here ships it: {}", missing.join(" ")));
        let packaged = missing.iter().any(|module| !NOT_PACKAGED.contains(&module.as_str()));
        assert!(!(in_ci() && packaged), "not installed: {}", missing.join(" "));
    }
    let mut totals = Totals::default();
    for share in &shares {
        println!("{}: {}", share.python.display(), share.modules.join(" "));
        if compare(share, &mut totals).is_none() {
            return;
        }
    }
    println!(
        "{} cases passed, {} were skipped, {} bytes went through the pool",
        totals.passed, totals.skipped, totals.bytes
    );
    if named.is_none() && missing.len() < modules.len() / 2 {
        assert!(
            totals.passed >= LEAST_CASES,
            "{} cases passed, wanted at least {LEAST_CASES}",
            totals.passed
        );
        assert!(
            totals.bytes >= LEAST_BYTES,
            "{} bytes went through the pool, wanted at least {LEAST_BYTES}",
            totals.bytes
        );
    }
}

/// Says what has to be seen of a test that passes, too, whose output is not shown.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[derive(Default)]
struct Totals {
    passed: usize,
    skipped: usize,
    bytes: u64,
}

/// Every outcome that a case had, plain and shimmed.
type Seen = BTreeMap<String, [BTreeSet<String>; 2]>;

/// Runs a share both ways and compares. `None` where there is no coordinator to start.
fn compare(share: &Share, totals: &mut Totals) -> Option<()> {
    // In a directory with a short name: the suite puts sockets into it.
    let scratch = tempfile::Builder::new().prefix("py-").tempdir().expect("scratch directory");
    let store = scratch.path().join("s");
    std::fs::create_dir(&store).expect("store");
    let options = ShimOptions { stores: vec![store], ..ShimOptions::default() };
    let shim = Shim::start("python_suite", &options)?;
    let [plain, shimmed] = both(share, &share.modules, scratch.path(), &shim);
    totals.passed += shimmed.outcomes.count("ok");
    totals.skipped += shimmed.outcomes.count("skipped");
    let mut open = plain.outcomes.differences(&shimmed.outcomes);
    let mut seen = Seen::new();
    note(&mut seen, &open, &plain, &shimmed);
    for _ in 0..RERUNS {
        if open.is_empty() {
            break;
        }
        let modules: BTreeSet<_> = open.iter().map(|case| module_of(case).to_owned()).collect();
        let [plain, shimmed] = both(share, &Vec::from_iter(modules), scratch.path(), &shim);
        note(&mut seen, &open, &plain, &shimmed);
        open.retain(|case| {
            let [plain, shimmed] = &seen[case];
            plain.is_disjoint(shimmed)
        });
    }
    let through = shim.totals();
    totals.bytes += through.bytes_read + through.bytes_written;
    for (case, [plain, shimmed]) in &seen {
        say(&format!("{case}: plain {plain:?}, shimmed {shimmed:?}"));
    }
    assert!(
        open.is_empty(),
        "other results under the shim: {open:#?}\nthe shimmed run printed:\n{}",
        shimmed.printed
    );
    assert!(seen.len() <= UNSTEADY, "too many cases come out now one way and now another: {seen:#?}");
    Some(())
}

/// One plain and one shimmed run, side by side.
fn both(share: &Share, modules: &[String], scratch: &Path, shim: &Shim) -> [Ran; 2] {
    std::thread::scope(|scope| {
        let plain = scope.spawn(|| run(share, modules, &scratch.join("p/d"), None));
        let shimmed = run(share, modules, &scratch.join("s/d"), Some(shim));
        [plain.join().expect("plain run"), shimmed]
    })
}

fn note(seen: &mut Seen, cases: &BTreeSet<String>, plain: &Ran, shimmed: &Ran) {
    for case in cases {
        let entry = seen.entry(case.clone()).or_default();
        entry[0].insert(plain.outcomes.of(case));
        entry[1].insert(shimmed.outcomes.of(case));
    }
}
