//! The pool at work with programs of this system, on real input, in a temporary store.
//!
//! Every step runs twice: plainly, and through the pool. Then a reader without the shim compares the two trees.
//!
//! - `input`: text and files to work on
//! - `steps`: the programs
//! - `compare`: the two trees, as a program without the shim sees them
//! - `table`: what is printed

mod compare;
mod input;
mod steps;
mod table;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use millpond_model::config::{ByteSize, Config};

use crate::coordinator_link::{Lease, Report};
use crate::environment::ShimEnvironment;
use crate::failure::{Failure, Outcome};
use crate::instance::Instance;
use crate::launch::{HeldSignals, Launch};
use crate::shim_library;
use steps::Step;

/// Enough for the input several times over, and small enough for any machine.
const POOL: ByteSize = ByteSize::mib(256);

/// What became of a step.
pub struct Done {
    name: &'static str,
    outcome: StepOutcome,
}

/// How a step ended.
pub enum StepOutcome {
    /// It ran both ways; this went through the pool.
    Ran(Box<Report>),
    /// This program is not on the system.
    Missing(&'static str),
}

/// Runs the demonstration; the store is kept if `keep`.
pub fn run(keep: bool) -> Outcome<ExitCode> {
    let root = tempfile::Builder::new().prefix("millpond-demo-").tempdir().map_err(|error| {
        Failure::new(
            format_args!("temporary directory: {error}"),
            "set TMPDIR to a directory with some space",
        )
    })?;
    let physical = root.path().canonicalize().map_err(|error| failed(root.path(), &error))?;
    let result = demonstrate(&physical);
    if keep {
        println!("The store is kept: {}", root.keep().display());
    }
    result
}

fn demonstrate(root: &Path) -> Outcome<ExitCode> {
    let (plain, pool) = (root.join("plain"), root.join("pool"));
    for directory in [&plain, &pool] {
        fs::create_dir(directory).map_err(|error| failed(directory, &error))?;
    }
    let bytes = input::prepare(&root.join("input")).map_err(|error| failed(root, &error))?;
    table::heading(root, bytes);

    let mut lease = lease(root)?;
    let library = shim_library::find()?;
    let environment = ShimEnvironment::new(&library, lease.socket(), lease.stores())?;
    let signals = HeldSignals::hold()?;
    let mut done = Vec::new();
    for step in steps::STEPS {
        done.push(Done {
            name: step.name,
            outcome: both_ways(step, [&plain, &pool], &environment, &lease, &signals)?,
        });
    }
    lease.drain()?;
    let total = lease.totals();
    lease.end()?;
    table::steps(&done);
    table::total(&total);
    let compared = compare::trees(&plain, &pool).map_err(|error| failed(root, &error))?;
    table::comparison(&compared);
    judge(&compared, &total)
}

/// A coordinator of the demonstration's own, so that only its programs are counted.
fn lease(root: &Path) -> Outcome<Lease> {
    let store = root.to_str().ok_or_else(|| Failure::new("TMPDIR is no UTF-8", "set another TMPDIR"))?;
    let mut config = Config { instance: instance_name(), ..Config::default() };
    config.pool.size = POOL;
    config.store.paths = vec![store.into()];
    Lease::take(&config, &Instance::locate(&config.instance)?)
}

fn instance_name() -> String {
    format!("demo-{}", std::process::id())
}

fn both_ways(
    step: &Step,
    [plain, pool]: [&Path; 2],
    environment: &ShimEnvironment,
    lease: &Lease,
    signals: &HeldSignals,
) -> Outcome<StepOutcome> {
    if let Some(missing) = step.missing() {
        return Ok(StepOutcome::Missing(missing));
    }
    succeed(step, Launch::new(&words(step)), plain, signals)?;
    let before = lease.totals();
    succeed(step, Launch::new(&words(step)).through(environment), pool, signals)?;
    Ok(StepOutcome::Ran(Box::new(lease.totals().since(&before))))
}

fn words(step: &Step) -> [OsString; 4] {
    ["sh", "-e", "-c", step.script].map(OsString::from)
}

fn succeed(step: &Step, launch: Launch, directory: &Path, signals: &HeldSignals) -> Outcome<()> {
    std::env::set_current_dir(directory).map_err(|error| failed(directory, &error))?;
    match launch.set("LC_ALL", "C").set("TMPDIR", directory).run(signals)? {
        0 => Ok(()),
        code => Err(Failure::new(
            format_args!("demo: {} in {} ended with {code}", step.name, directory.display()),
            "run `millpond demo --keep` and repeat the step by hand",
        )),
    }
}

/// Equal trees alone prove nothing if the programs went past the pool.
fn judge(compared: &compare::Comparison, total: &Report) -> Outcome<ExitCode> {
    if let Some(path) = compared.different.first() {
        return Err(Failure::new(
            format_args!("demo: {path} differs between the plain run and the one through the pool"),
            "please report it",
        ));
    }
    if total.bytes_written == 0 {
        return Err(Failure::new(
            "demo: the results are equal, but nothing went through the pool",
            "see `millpond check sh`, and whether the environment lets LD_PRELOAD pass",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format_args!("demo: {}: {error}", path.display()), "check its space and permissions")
}
