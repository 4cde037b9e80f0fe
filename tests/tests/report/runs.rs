//! `millpond run --report`: what this run's programs did, and no others.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use crate::pond::{count, program, Pond};

#[test]
fn a_run_on_a_coordinator_that_serves_others_reports_its_own() {
    let Some(pond) = Pond::start("report-run", "16MiB", &[]) else { return };
    // One that has ended, one that goes on meanwhile, and a run of its own.
    assert!(pond.script("\"$DEEDS\" plain").status.success());
    let mut other = pond.told(pond.deeds());
    let mut other = other.arg("hold").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("deeds");
    let mut line = String::new();
    BufReader::new(other.stdout.as_mut().expect("pipe")).read_line(&mut line).expect("ready");
    let deeds = pond.deeds();
    let outside = deeds.parent().expect("directory");
    let first = pond.run(&[Path::new("env"), Path::new("-C"), outside, &deeds, Path::new("map")]);
    let inside = format!(
        "cd '{}' && '{}' plain && '{0}/../none' 2>/dev/null; '{1}' map",
        pond.store.path().display(),
        pond.deeds().display()
    );
    let second = pond.run(&[Path::new("bash"), Path::new("-c"), Path::new(&inside)]);
    other.stdin.take().expect("pipe").write_all(b"x").expect("told");
    assert!(other.wait().expect("deeds").success());

    // The first one ran outside the store: it may have served nothing at all.
    assert_eq!(first["bytes_written"], 0, "{first}");
    assert_eq!((&second["bytes_read"], &second["bytes_written"]), (&40.into(), &50.into()), "{second}");
    // The other file was known.
    assert_eq!(second["files_buffered"], 1, "{second}");
    assert_eq!(second["bytes_flushed"], 50, "{second}");
    for list in ["sync_downs", "direct_files"] {
        assert_eq!(count(&second[list], "mmap"), 1, "{second}");
    }
    assert_eq!(count(&second["direct_calls"], "mmap"), 5, "{second}");
    let deeds = program(&second["programs"], "deeds").expect("deeds");
    assert_eq!((&deeds["ended"], &deeds["counts"]["bytes_written"]), (&2.into(), &50.into()), "{second}");
    // What the whole coordinator did is more.
    assert_eq!(pond.shim.totals().bytes_written, 130);
}

#[test]
fn programs_that_clear_the_environment_stay_in_the_run() {
    let Some(pond) = Pond::start("report-env", "16MiB", &[]) else { return };
    let inside = format!("cd '{}' && env -i '{}' plain", pond.store.path().display(), pond.deeds().display());
    let report = pond.run(&[Path::new("bash"), Path::new("-c"), Path::new(&inside)]);
    assert_eq!(report["bytes_written"], 40, "{report}");
}

#[test]
fn programs_that_cannot_be_followed_are_named() {
    let Some(pond) = Pond::start("report-foreign", "16MiB", &["busybox"]) else { return };
    let file = pond.file("damaged");
    std::fs::write(&file, b"\x7fELF damaged").expect("file");
    std::fs::write(pond.file("not-executable"), b"\x7fELF").expect("file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, mode).expect("chmod");
    let inside = format!(
        "cd '{}' || exit 1; busybox true; '{1}' fail && '{1}' vfork \"$(command -v busybox)\"",
        pond.store.path().display(),
        pond.deeds().display()
    );
    let report = pond.run(&[Path::new("bash"), Path::new("-c"), Path::new(&inside)]);
    let busybox = program(&report["programs"], "busybox").expect("busybox");
    assert_eq!(count(&busybox["counts"]["escapes"], "exec_static"), 2, "{report}");
    assert_eq!(busybox["ended"], 2, "{report}");
    assert_eq!(report["escapes"].as_array().map(Vec::len), Some(1), "what failed was counted: {report}");
    let deeds = program(&report["programs"], "deeds").expect("deeds");
    assert_eq!(
        (&deeds["counts"]["bytes_written"], &deeds["counts"]["escapes"]),
        (&10.into(), &serde_json::json!([])),
        "{report}"
    );
}

#[test]
fn a_coordinators_flush_is_the_runs_that_wrote() {
    let Some(pond) = Pond::start("report-flushed", "16MiB", &[]) else { return };
    let inside = format!(
        "cd '{}' && exec 3> f && head -c 300000 /dev/zero >&3 && kill -9 $$",
        pond.store.path().display()
    );
    let script = "bash -c \"$0\"; exit 0";
    let report = pond.run(&[Path::new("bash"), Path::new("-c"), Path::new(script), Path::new(&inside)]);
    assert_eq!(
        (&report["bytes_written"], &report["bytes_flushed"]),
        (&300_000.into(), &300_000.into()),
        "{report}"
    );
}
