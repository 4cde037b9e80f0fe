//! Random operations against a model of the files (C54): thousands of steps, every result and every byte known.
//!
//! `MILLPOND_STEPS` is the number of steps of the longest campaign, `MILLPOND_SEED` the seed, `MILLPOND_FIRST` the number of the first
//! run, `MILLPOND_KEEP` a file with the numbers of the steps of that run that are done.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millpond_tests::exerciser::{Campaign, Options};
use millpond_tests::shim_env::{in_ci, millpond_binary, Shim, ShimOptions};
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_millpond-exerciser");

/// Steps of one run.
const RUN: u64 = 2500;
/// How often the coordinator's worker is killed where it is.
const KILL_EVERY: Duration = Duration::from_millis(400);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

fn seed() -> u64 {
    number("MILLPOND_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        u64::from(now.subsec_nanos()) ^ now.as_secs() << 20
    })
}

/// Steps of the longest campaign; the others take a share of them.
fn steps() -> u64 {
    number("MILLPOND_STEPS").unwrap_or(if in_ci() { 100_000 } else { 20_000 })
}

/// What is particular to a campaign.
struct Setting<'a> {
    name: &'a str,
    pool: &'a str,
    config: &'a str,
    processes: &'a [usize],
    /// Which part of all steps it takes.
    share: u64,
    lazy: bool,
    kills: bool,
}

impl Default for Setting<'_> {
    fn default() -> Self {
        Self { name: "", pool: "64MiB", config: "", processes: &[1], share: 10, lazy: false, kills: false }
    }
}

/// Directories for runs: on the file system of the build, and on tmpfs.
struct Grounds {
    directories: Vec<TempDir>,
}

impl Grounds {
    fn new() -> Self {
        let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let make = |parent: &Path| tempfile::Builder::new().prefix("millpond-exerciser-").tempdir_in(parent);
        let shared = Some(Path::new("/dev/shm")).filter(|path| path.is_dir());
        let directories: Vec<TempDir> =
            std::iter::once(build).chain(shared).filter_map(|path| make(path).ok()).collect();
        for directory in &directories {
            for name in ["store", "scratch"] {
                std::fs::create_dir(directory.path().join(name)).expect("create directory");
            }
        }
        Self { directories }
    }

    fn stores(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.path().join("store")).collect()
    }

    fn campaign<'a>(&self, setting: &'a Setting, scratch: &'a Path) -> Campaign<'a> {
        let steps = steps() * setting.share / 10;
        let first = number("MILLPOND_FIRST").unwrap_or(0);
        let options = Options { seed: seed(), steps: RUN.min(steps), ..Options::default() };
        Campaign {
            name: setting.name,
            program: Path::new(PROGRAM),
            environment: &[],
            places: self.stores(),
            scratch,
            reports: Path::new(env!("CARGO_TARGET_TMPDIR")),
            options: Options { lazy: setting.lazy, ..options },
            processes: setting.processes,
            runs: first..first + steps.div_ceil(RUN),
            shrink: !setting.kills,
        }
    }
}

/// Runs a campaign under a coordinator, and proves that bytes went through its pool.
fn shimmed(setting: &Setting) {
    let grounds = Grounds::new();
    let scratch = grounds.directories.last().expect("directory").path().join("scratch");
    let config = Some(setting.config.to_owned()).filter(|text| !text.is_empty());
    let options = ShimOptions { stores: grounds.stores(), pool: Some(setting.pool.into()), config };
    let Some(shim) = Shim::start(setting.name, &options) else { return };
    let mut campaign = grounds.campaign(setting, &scratch);
    campaign.environment = shim.environment();
    campaign.options.millpond = millpond_binary().expect("millpond").to_string_lossy().into_owned();
    campaign.options.instance = shim.instance().into();
    if let Some(keep) = std::env::var_os("MILLPOND_KEEP") {
        let text = std::fs::read_to_string(keep).expect("list of steps");
        let steps: Vec<u64> = text.lines().map(|line| line.parse().expect("a number")).collect();
        let run = campaign.runs.start;
        campaign.attempt(run, Some(&steps)).unwrap_or_else(|failure| panic!("{}", failure.text));
        return;
    }
    let over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        if setting.kills {
            scope.spawn(|| kill_workers(&shim, &over));
        }
        let outcome = campaign.run();
        over.store(true, Ordering::SeqCst);
        outcome
    });
    let totals = shim.totals();
    eprintln!("{}: through the pool: {totals:?}", setting.name);
    outcome.unwrap_or_else(|report| panic!("{report}"));
    assert!(totals.bytes_written > 0 && totals.bytes_read > 0, "nothing went through the pool: {totals:?}");
}

/// Kills the coordinator's worker now and then.
fn kill_workers(shim: &Shim, over: &AtomicBool) {
    let mut killed = 0;
    while !over.load(Ordering::SeqCst) {
        std::thread::sleep(KILL_EVERY);
        if let Some(pid) = shim.status()["worker"].as_i64().filter(|pid| *pid > 1) {
            killed += u32::from(kill(Pid::from_raw(pid as i32), Signal::SIGKILL).is_ok());
        }
    }
    eprintln!("{killed} workers were killed");
    assert!(killed > 0, "no worker was killed");
}

#[test]
fn c54_one_process() {
    shimmed(&Setting { name: "one", ..Setting::default() });
}

#[test]
fn c54_one_process_and_a_tiny_pool() {
    shimmed(&Setting { name: "one-tiny", pool: "1MiB", share: 3, ..Setting::default() });
}

#[test]
fn c54_one_process_and_small_pages() {
    let config = "[pool]\npage_size = \"4KiB\"\n";
    shimmed(&Setting { name: "one-small-pages", config, share: 3, ..Setting::default() });
}

#[test]
fn c54_processes_by_turns() {
    shimmed(&Setting { name: "turns", processes: &[2, 3, 4], share: 4, ..Setting::default() });
}

#[test]
fn c54_processes_by_turns_and_a_tiny_pool() {
    let config = "[pool]\npage_size = \"16KiB\"\n";
    let processes = &[3, 2];
    shimmed(&Setting { name: "turns-tiny", pool: "1MiB", config, processes, share: 2, ..Setting::default() });
}

#[test]
fn c54_flushes_that_nobody_waits_for() {
    let config = "[flush]\nmode = \"async\"\n";
    shimmed(&Setting {
        name: "lazy",
        config,
        processes: &[1, 2],
        lazy: true,
        share: 2,
        ..Setting::default()
    });
}

#[test]
fn c54_workers_that_are_killed() {
    let processes = &[3, 1, 2];
    shimmed(&Setting {
        name: "killed",
        pool: "4MiB",
        processes,
        kills: true,
        share: 2,
        ..Setting::default()
    });
}

/// Control: without the shim the model is the kernel's, so what differs under it is the shim's doing.
#[test]
fn plain_runs_agree_with_the_model() {
    let grounds = Grounds::new();
    let scratch = grounds.directories.last().expect("directory").path().join("scratch");
    let setting = Setting { name: "plain", processes: &[1, 2, 3, 4], share: 4, ..Setting::default() };
    grounds.campaign(&setting, &scratch).run().unwrap_or_else(|report| panic!("{report}"));
}

/// Control: a model that is wrong in one bit of one byte is noticed, but where the byte is cut off or overwritten unseen.
#[test]
fn a_wrong_model_is_noticed() {
    const RUNS: u64 = 12;
    let grounds = Grounds::new();
    let scratch = grounds.directories.last().expect("directory").path().join("scratch");
    let setting = Setting { name: "wrong", processes: &[1, 2], ..Setting::default() };
    let mut campaign = grounds.campaign(&setting, &scratch);
    campaign.options = Options { seed: 1, steps: 300, fault: Some(285), ..campaign.options };
    let noticed: Vec<String> =
        (0..RUNS).filter_map(|run| campaign.attempt(run, None).err()).map(|failure| failure.text).collect();
    assert!(noticed.len() as u64 * 3 > RUNS, "noticed in only {} of {RUNS} runs", noticed.len());
    for text in noticed {
        assert!(text.contains("differ") && text.contains("The last operations"), "{text}");
    }
    // And the report of such a run names its seed and shrinks it to little.
    let fails = (0..RUNS).find(|&run| campaign.attempt(run, None).is_err()).expect("a run that fails");
    campaign.runs = fails..fails + 1;
    let report = campaign.run().expect_err("fails again");
    assert!(report.contains("MILLPOND_SEED=1") && report.contains("steps only"), "{report}");
}
