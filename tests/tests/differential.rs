//! Random scripts, plain and under the shim: every line and every byte must agree.
//!
//! `MILLPOND_SCRIPTS` is the number of scripts, `MILLPOND_SEED` the seed, `MILLPOND_FIRST` the number of
//! the first script, `MILLPOND_SCRIPT` a file with one script to run instead. With `MILLPOND_SURVEY` set,
//! a run goes on after a difference and lists them all in the end.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millpond_tests::differential::{Campaign, Place, Side, Tally};
use millpond_tests::executor::FAULT_VARIABLE;
use millpond_tests::script::Script;
use millpond_tests::shim_env::{in_ci, profile_dir, Shim, ShimOptions, Totals};
use tempfile::TempDir;

/// The executor, beside the running test, so that a copy of both can be run while the next is being built.
fn executor() -> &'static Path {
    static EXECUTOR: LazyLock<PathBuf> = LazyLock::new(|| profile_dir().join("millpond-executor"));
    &EXECUTOR
}

/// Part of the scripts that the runs with an unusual pool, and the control without the shim, get.
const SIDE_SHARE: usize = 3;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

fn script_count() -> usize {
    number("MILLPOND_SCRIPTS").map_or(if in_ci() { 3000 } else { 300 }, |count| count as usize)
}

fn seed() -> u64 {
    number("MILLPOND_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        u64::from(now.subsec_nanos()) ^ now.as_secs()
    })
}

/// Directories on tmpfs where there is one, and on the file system of the build.
struct Grounds {
    directories: Vec<TempDir>,
    scratch: TempDir,
}

impl Grounds {
    fn new() -> Grounds {
        let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let make = |parent: &Path| tempfile::Builder::new().prefix("millpond-diff-").tempdir_in(parent);
        let shared = Some(Path::new("/dev/shm")).filter(|path| path.is_dir());
        let directories: Vec<TempDir> =
            shared.and_then(|path| make(path).ok()).into_iter().chain(make(build).ok()).collect();
        for directory in &directories {
            for name in ["plain", "store"] {
                std::fs::create_dir(directory.path().join(name)).expect("create directory");
            }
        }
        let scratch = make(directories[0].path()).expect("create directory");
        Grounds { directories, scratch }
    }

    fn places(&self) -> Vec<Place> {
        let place = |directory: &TempDir| Place {
            left: directory.path().join("plain"),
            right: directory.path().join("store"),
        };
        self.directories.iter().map(place).collect()
    }

    fn stores(&self) -> Vec<PathBuf> {
        self.places().into_iter().map(|place| place.right).collect()
    }
}

/// Runs with an unusual pool, each of which gets scripts of its own, after those of the others.
const SIDE_RUNS: [&str; 2] = ["shim-tiny", "shim-small-pages"];

fn side_count() -> usize {
    (script_count() / SIDE_SHARE).max(1)
}

fn campaign<'a>(name: &'a str, grounds: &'a Grounds, right: Side, scripts: usize) -> Campaign<'a> {
    let side = SIDE_RUNS.iter().position(|run| *run == name);
    let before = side.map_or(0, |index| script_count() + index * side_count());
    let first = number("MILLPOND_FIRST").map_or(before, |first| first as usize);
    Campaign {
        name,
        executor: executor(),
        seed: seed(),
        numbers: first..first + scripts,
        sides: [Side::new("plain", &[]), right],
        places: grounds.places(),
        scratch: grounds.scratch.path(),
        reports: Path::new(env!("CARGO_TARGET_TMPDIR")),
        survey: std::env::var_os("MILLPOND_SURVEY").is_some(),
        patience: Duration::from_secs(3),
        shrink_runs: 600,
    }
}

/// Runs a campaign, or the one script that the environment names.
fn carry_out(campaign: &Campaign) -> Result<Tally, String> {
    eprintln!("{}: seed {} scripts {:?}", campaign.name, campaign.seed, campaign.numbers);
    if let Some(path) = std::env::var_os("MILLPOND_SCRIPT") {
        let text = std::fs::read_to_string(&path).expect("read script");
        let script = Script::from_text(&text).expect("parse script");
        if let Some(difference) = campaign.differ(1, &script) {
            panic!("{path:?} differs:\n{}", difference.first_lines());
        }
        return Ok(Tally::default());
    }
    let tally = campaign.run()?;
    eprintln!(
        "{}: {} scripts, {} operations agree, {:.1} s",
        campaign.name,
        tally.scripts,
        tally.operations,
        tally.elapsed.as_secs_f64()
    );
    Ok(tally)
}

/// Runs a share of the scripts under a coordinator and proves that bytes went through its pool.
///
/// Gives the counters; `None` if nothing was run.
fn shimmed(name: &str, pool: &str, config: Option<&str>, scripts: usize) -> Option<Totals> {
    let grounds = Grounds::new();
    let options =
        ShimOptions { stores: grounds.stores(), pool: Some(pool.into()), config: config.map(String::from) };
    let shim = Shim::start(name, &options)?;
    let tally = carry_out(&campaign(name, &grounds, Side::new("shimmed", shim.environment()), scripts));
    let totals = shim.totals();
    eprintln!("{name}: through the pool: {totals:?}");
    let tally = tally.unwrap_or_else(|report| panic!("{report}"));
    // A single script from a file may do anything.
    if tally.operations == 0 {
        return None;
    }
    assert!(totals.bytes_written > 0 && totals.bytes_read > 0, "nothing went through the pool: {totals:?}");
    Some(totals)
}

#[test]
fn scripts_agree_under_the_shim() {
    shimmed("shim", "64MiB", None, script_count());
}

#[test]
fn scripts_agree_under_a_tiny_pool() {
    let totals = shimmed(SIDE_RUNS[0], "1MiB", None, side_count());
    assert!(totals.is_none_or(|totals| totals.pages_evicted > 0), "the pool was never full: {totals:?}");
}

#[test]
fn scripts_agree_with_small_pages() {
    let config = "[pool]\npage_size = \"16KiB\"\n";
    shimmed(SIDE_RUNS[1], "64MiB", Some(config), side_count());
}

/// Scripts that once came out differently, kept in `tests/scripts` under names that say what they are about.
#[test]
fn kept_scripts_agree() {
    let grounds = Grounds::new();
    let options = ShimOptions { stores: grounds.stores(), pool: Some("16MiB".into()), config: None };
    let Some(shim) = Shim::start("kept", &options) else { return };
    let campaign = campaign("kept", &grounds, Side::new("shimmed", shim.environment()), 0);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut differing = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&directory).expect("directory of scripts") {
        let path = entry.expect("entry").path();
        let text = std::fs::read_to_string(&path).expect("read script");
        let script = Script::from_text(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        count += 1;
        // Numbers 0 and 4 run on either file system.
        for number in [0, 4] {
            if let Some(difference) = campaign.differ(number, &script) {
                differing.push(format!("{path:?}:\n{}", difference.first_lines()));
            }
        }
    }
    assert!(count > 0, "no scripts in {directory:?}");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Control: without the shim on either side nothing differs, so what differs under it is the shim's doing.
#[test]
fn scripts_agree_plainly() {
    let grounds = Grounds::new();
    let tally = carry_out(&campaign("plain", &grounds, Side::new("again", &[]), side_count()));
    assert!(tally.is_ok(), "{}", tally.unwrap_err());
}

/// A script of one write, which the final bytes alone give away.
const ONE_WRITE: &str = concat!(
    r#"{"workers":1,"initial":[],"end":"Exit"}"#,
    "\n",
    r#"{"op":{"Open":{"slot":0,"call":"Open","dir_slot":null,"path":"b","flags":"WRONLY|CREAT","mode":420}}}"#,
    "\n",
    r#"{"op":{"Write":{"slot":0,"call":"Plain","offset":0,"lens":[70000],"rwf":0,"buffer":"Good","seed":1}}}"#,
    "\n",
);

/// Control: a run that changes or leaves out a single byte of a single write is found out.
#[test]
fn altered_runs_are_detected() {
    const SCRIPTS: usize = 60;
    let script = Script::from_text(ONE_WRITE).expect("parse script");
    let grounds = Grounds::new();
    for (fault, first) in [("flip:0", "tree b"), ("drop:0", "1 Write")] {
        let side = Side::new("altered", &[(FAULT_VARIABLE.into(), fault.into())]);
        let campaign = Campaign {
            seed: 1,
            survey: false,
            shrink_runs: 40,
            patience: Duration::ZERO,
            ..campaign("altered", &grounds, side, SCRIPTS)
        };
        let difference = campaign.differ(0, &script).unwrap_or_else(|| panic!("{fault} was not noticed"));
        let lines = difference.first_lines();
        let line = lines.lines().find(|line| line.contains("altered: ")).expect("a differing line");
        assert!(line.contains(first), "{fault} was noticed at the wrong line:\n{lines}");

        // Not every script has a write that succeeds and is not overwritten unseen; a good part has.
        let noticed = campaign
            .numbers
            .clone()
            .map(|number| (number, campaign.script(number)))
            .filter(|(number, script)| campaign.differ(*number, script).is_some())
            .count();
        eprintln!("{fault}: noticed in {noticed} of {SCRIPTS} scripts");
        assert!(noticed * 3 > SCRIPTS, "{fault} was noticed in only {noticed} of {SCRIPTS} scripts");
        let report = campaign.run().expect_err("a good part of the scripts notices");
        assert!(report.contains("Shrunken script"), "{report}");
    }
}
