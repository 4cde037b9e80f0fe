//! Two published programs that test file systems, plain and in a store: `fsx` (random operations on one file) and `pjdfstest` (what POSIX
//! says of each call). Nothing that passes plainly fails under the shim.
//!
//! They are installed by `.ci/run`: `cargo install --locked --root DIR fsx@0.3.2 pjdfstest@0.2.2`, where `DIR` is `MILLPOND_TEST_TOOLS`,
//! else `~/.cache/millpond-test-tools`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use millpond_tests::shim_env::{in_ci, Shim, ShimOptions};
use nix::unistd::{Group, User};
use tempfile::TempDir;

/// Groups and users of a Debian system that `pjdfstest` becomes.
const USERS: [(&str, &str); 2] = [("nobody", "nogroup"), ("games", "games")];
/// Failures that are told in full.
const SHOWN: usize = 20;
/// A test that fails under the shim passes if it does so that many times alone: some compare times of a busy machine.
const AGAIN: usize = 3;

const WITHOUT_MAPPINGS: &str = "
[opsize]
max = 40000
[weights]
close_open = 2
read = 20
write = 20
truncate = 4
fsync = 0.2
fdatasync = 0.2
punch_hole = 1
posix_fallocate = 1
sendfile = 1
posix_fadvise = 2
copy_file_range = 1
mapread = 0
mapwrite = 0
";
/// It takes down the mappings that it writes through, but leaves those that it reads: after the first of them, the file is the kernel's to the end.
const READ_BY_MAPPINGS: &str = "
[weights]
close_open = 1
read = 10
write = 10
mapread = 1
mapwrite = 3
truncate = 4
";
const WITH_MAPPINGS: &str = "
[opsize]
max = 65536
[weights]
close_open = 2
read = 10
write = 10
mapread = 0
mapwrite = 3
invalidate = 1
truncate = 4
fsync = 0.2
punch_hole = 1
posix_fallocate = 1
sendfile = 1
posix_fadvise = 1
copy_file_range = 1
";
const SMALL: &str = "
flen = 5000
[opsize]
max = 700
[weights]
close_open = 5
read = 20
write = 20
truncate = 4
mapread = 0
mapwrite = 0.05
";

/// A program, if it is installed.
fn tool(test: &str, name: &str) -> Option<PathBuf> {
    let tools = std::env::var_os("MILLPOND_TEST_TOOLS").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/millpond-test-tools"),
        PathBuf::from,
    );
    let path = tools.join("bin").join(name);
    if path.is_file() {
        return Some(path);
    }
    assert!(!in_ci(), "{test}: {} is not installed", path.display());
    eprintln!("SKIPPED {test}: {} is not installed", path.display());
    None
}

fn directory(parent: &Path) -> TempDir {
    let made = tempfile::Builder::new().prefix("millpond-suite-").tempdir_in(parent).expect("directory");
    for name in ["plain", "store"] {
        fs::create_dir(made.path().join(name)).expect("directory");
    }
    made
}

fn ended(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `fsx` with a configuration, plain and shimmed, with the same seed: it finds nothing, and leaves the same bytes.
fn fsx(test: &str, parent: &Path, pool: &str, weights: &str, steps: u32) {
    let Some(program) = tool(test, "fsx") else { return };
    let scratch = directory(parent);
    let at = |name: &str| scratch.path().join(name);
    fs::write(at("fsx.toml"), weights).expect("configuration");
    let options =
        ShimOptions { stores: vec![at("store")], pool: Some(pool.into()), ..ShimOptions::default() };
    let Some(shim) = Shim::start(test, &options) else { return };
    for (side, mut command) in [("plain", Command::new(&program)), ("store", shim.command(&program))] {
        let seed = std::env::var("MILLPOND_SEED").unwrap_or_else(|_| "7".into());
        command.arg("-f").arg(at("fsx.toml")).args(["-N", &steps.to_string(), "-S", &seed]);
        let output = ended(command.arg(at(side).join("file")));
        let said = text(&output.stderr);
        assert!(output.status.success(), "{test}: {side}, seed {seed}: {}\n{said}", output.status);
    }
    let bytes = |side: &str| fs::read(at(side).join("file")).expect("the file");
    assert!(bytes("plain") == bytes("store"), "{test}: the files differ");
    let totals = shim.totals();
    eprintln!("{test}: {steps} steps, through the pool: {totals:?}");
    assert!(totals.bytes_written > 0 && totals.bytes_read > 0, "{test}: nothing went through the pool");
}

fn build() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn memory() -> &'static Path {
    Path::new("/dev/shm")
}

#[test]
fn fsx_without_mappings() {
    fsx("fsx", build(), "64MiB", WITHOUT_MAPPINGS, 5000);
    fsx("fsx-memory", memory(), "64MiB", WITHOUT_MAPPINGS, 30_000);
}

#[test]
fn fsx_with_mappings() {
    fsx("fsx-mappings", build(), "64MiB", WITH_MAPPINGS, 5000);
    fsx("fsx-mappings-memory", memory(), "64MiB", WITH_MAPPINGS, 30_000);
    fsx("fsx-left-mappings", memory(), "64MiB", READ_BY_MAPPINGS, 20_000);
}

#[test]
fn fsx_in_a_tiny_pool_and_with_small_sizes() {
    fsx("fsx-tiny", memory(), "1MiB", WITHOUT_MAPPINGS, 20_000);
    fsx("fsx-small", memory(), "64MiB", SMALL, 50_000);
}

/// Results by test: `ok`, `skipped` or `FAILED`, and what was said of it.
fn results(output: &Output) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut last = String::new();
    for line in text(&output.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [name, result @ ("ok" | "skipped" | "FAILED")] if name.contains("::") => {
                last = (*name).to_owned();
                found.insert(last.clone(), ((*result).to_owned(), String::new()));
            }
            _ => {
                if let Some((_, said)) = found.get_mut(&last) {
                    *said += line;
                    said.push('\n');
                }
            }
        }
    }
    found
}

fn users_are_there(test: &str) -> bool {
    let there = |(user, group): &(&str, &str)| {
        matches!(User::from_name(user), Ok(Some(_))) && matches!(Group::from_name(group), Ok(Some(_)))
    };
    let able = nix::unistd::geteuid().is_root() && USERS.iter().all(there);
    assert!(able || !in_ci(), "{test}: needs root and the users {USERS:?}");
    if !able {
        eprintln!("SKIPPED {test}: needs root and the users {USERS:?}");
    }
    able
}

fn pjdfstest(test: &str, parent: &Path) {
    let Some(program) = tool(test, "pjdfstest") else { return };
    if !users_are_there(test) {
        return;
    }
    let scratch = directory(parent);
    let at = |name: &str| scratch.path().join(name);
    let entries: Vec<String> =
        USERS.iter().map(|(user, group)| format!("[\"{user}\", \"{group}\"]")).collect();
    let config = format!(
        "[features]\nposix_fallocate = {{}}\nutime_now = {{}}\nutimensat = {{}}\nrename_ctime = {{}}\n\
         [settings]\nnaptime = 0.02\n[dummy_auth]\nentries = [{}]\n",
        entries.join(", ")
    );
    fs::write(at("config.toml"), config).expect("configuration");
    // Tests that become another user have to get there.
    for path in [scratch.path().to_owned(), at("plain"), at("store")] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let options = ShimOptions { stores: vec![at("store")], ..ShimOptions::default() };
    let Some(shim) = Shim::start(test, &options) else { return };
    let run = |mut command: Command, side: &str, name: Option<&str>| {
        command.env("NO_COLOR", "1").arg("-c").arg(at("config.toml")).arg("-p").arg(at(side)).args(name);
        let output = ended(&mut command);
        (results(&output), output)
    };
    let (plain, _) = run(Command::new(&program), "plain", None);
    let (shimmed, whole) = run(shim.command(&program), "store", None);
    let passed = plain.values().filter(|(result, _)| result == "ok").count();
    assert!(passed > 300, "{test}: only {passed} tests pass plainly");
    let mut failures = Vec::new();
    for (name, (result, said)) in &plain {
        if result != "ok" {
            if result == "FAILED" {
                eprintln!("{test}: {name} fails plainly: {said}");
            }
            continue;
        }
        let missing = ("missing".to_owned(), String::new());
        let (result, said) = shimmed.get(name).unwrap_or(&missing);
        let passes = |_: usize| {
            run(shim.command(&program), "store", Some(name)).0.get(name).is_some_and(|r| r.0 == "ok")
        };
        if result != "ok" && !(result == "FAILED" && (0..AGAIN).all(passes)) {
            failures.push(format!("{name}: {result}: {said}"));
        }
    }
    let totals = shim.totals();
    eprintln!("{test}: {passed} tests pass plainly, through the pool: {totals:?}");
    assert!(
        failures.is_empty(),
        "{test} ({}): {} tests pass plainly but not under the shim:\n{}\n{}",
        whole.status,
        failures.len(),
        failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n"),
        text(&whole.stderr),
    );
    assert!(totals.bytes_written > 0, "{test}: nothing went through the pool");
}

#[test]
fn pjdfstest_on_disk() {
    pjdfstest("pjdfstest", build());
}

#[test]
fn pjdfstest_in_memory() {
    pjdfstest("pjdfstest-memory", memory());
}
