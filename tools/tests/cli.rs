//! The command line from outside: exit codes, and one clear line for each failure.

use std::process::{Command, Output};

fn millpond(words: &[&str]) -> Output {
    let runtime = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_millpond"))
        .args(words)
        .env("XDG_RUNTIME_DIR", runtime.path())
        .env("XDG_CONFIG_HOME", runtime.path())
        .env_remove("MILLPOND_INSTANCE")
        .env_remove("MILLPOND_CONFIG")
        .env_remove("MILLPOND_SHIM")
        .output()
        .unwrap()
}

fn failure_line(words: &[&str], code: i32) -> String {
    let output = millpond(words);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
    assert!(output.stdout.is_empty());
    text
}

#[test]
fn a_command_line_that_cannot_be_understood_is_2() {
    for words in [
        &["nonsense"][..],
        &[],
        &["run"],
        &["status", "--pool", "1"],
        &["config"],
        &["run", "--flush", "x", "ls"],
    ] {
        assert!(!failure_line(words, 2).is_empty(), "{words:?}");
    }
}

#[test]
fn a_failure_is_1_and_one_line() {
    let cases: [(&[&str], &str); 8] = [
        (&["status"], "millpond: no coordinator `default` is running; start it"),
        (&["stop", "--instance", "two"], "millpond: no coordinator `two` is running; start it"),
        (&["drain", "/nowhere/at/all"], "millpond: /nowhere/at/all: "),
        (&["check", "no-such-program"], "millpond: no-such-program: not found in PATH; "),
        (&["config", "--check", "/nowhere/at/all"], "millpond: configuration /nowhere/at/all: "),
        (
            &["run", "--pool", "64 potatoes", "true"],
            "millpond: --pool: pool.size: `potatoes` in `64 potatoes` is no unit of size; write ",
        ),
        (&["start", "--store", "/nowhere/at/all"], "millpond: store /nowhere/at/all: "),
        (
            &["start", "--instance", "a/b"],
            "millpond: --instance: instance: `a/b` cannot name a coordinator; use ",
        ),
    ];
    for (words, start) in cases {
        let line = failure_line(words, 1);
        assert!(line.starts_with(start), "{words:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

#[test]
fn the_example_is_a_good_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config.toml");
    let example = millpond(&["config", "--example"]);
    assert!(example.status.success());
    std::fs::write(&file, &example.stdout).unwrap();
    let file = file.to_str().unwrap();
    let checked = millpond(&["config", "--check", file]);
    assert!(checked.status.success() && checked.stdout.is_empty() && checked.stderr.is_empty());
    let shown = millpond(&["config", "--show", "--config", file, "--pool", "1GiB", "--flush", "async"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("size = \"1GiB\"") && text.contains("mode = \"async\""), "{text}");
}

#[test]
fn a_check_is_answered_for_people_and_for_programs() {
    let text = millpond(&["check", "sh"]);
    assert!(text.status.success());
    assert!(String::from_utf8(text.stdout).unwrap().contains("/sh: "));
    let json = millpond(&["check", "--json", "sh"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(["yes", "partly"].contains(&value["verdict"].as_str().unwrap()));
    assert_eq!(value["program"], "sh");
}
