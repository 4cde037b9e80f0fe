//! A process in which libc's text cannot be patched: the exported symbols work alone and leave all files to the kernel; everything is right, also beside
//! programs that are served; and the report and `check` say so.

use std::path::PathBuf;
use std::process::{Command, Output};

use millpond_tests::programs::list::row;
use millpond_tests::programs::row::Row;
use millpond_tests::programs::runner::{self, Second};
use millpond_tests::shim_env::{in_ci, millpond_binary};

use crate::pond::{count, lines, without_number, Pond};

/// Builds a program that is kept for as long as `dir` is.
fn build(dir: &tempfile::TempDir, name: &str, source: &str) -> PathBuf {
    let (text, program) = (dir.path().join(format!("{name}.c")), dir.path().join(name));
    std::fs::write(&text, source).expect("source");
    let built = Command::new("gcc").args(["-w", "-O1", "-o"]).arg(&program).arg(&text).arg("-lutil").output();
    let built = built.expect("gcc");
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    program
}

/// The program that hardens, unless this kernel has no such thing.
fn hardener(test: &str, dir: &tempfile::TempDir) -> Option<PathBuf> {
    let program = build(dir, "mdwe", include_str!("mdwe.c"));
    let status = Command::new(&program).arg("true").status().expect("mdwe");
    if status.success() {
        return Some(program);
    }
    assert!(!in_ci(), "{test}: this kernel has no PR_SET_MDWE (Linux 6.3): {status}");
    eprintln!("SKIPPED {test}: this kernel has no PR_SET_MDWE (Linux 6.3)");
    None
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_libc_does_by_itself_is_right() {
    let Some(pond) = Pond::start("hardened-libc", "16MiB", &[]) else { return };
    let Some(mdwe) = hardener("hardened-libc", &pond.bin) else { return };
    let unseen = build(&pond.bin, "unseen", include_str!("unseen.c"));
    let plain = tempfile::tempdir().expect("directory");
    succeeded(&Command::new(&unseen).current_dir(plain.path()).output().expect("plain"));
    let output = pond.told(&unseen).output().expect("patched");
    succeeded(&output);
    for round in 0..3 {
        let output = pond.told(&mdwe).arg(&unseen).output().expect("hardened");
        succeeded(&output);
        assert_eq!(output.stdout, b"done\n", "round {round}: {output:?}");
        // The parent has waited: what the process wrote is there.
        assert_eq!(std::fs::read(pond.file("left")).expect("left"), b"left ".repeat(5), "round {round}");
        let own: Vec<_> = lines(&output).into_iter().filter(|l| l.starts_with("millpond: unseen[")).collect();
        let last = own.last().expect("a line");
        assert!(last.contains("nothing through the pool") && last.contains("symbol_layer_only 1"), "{last}");
    }
}

#[test]
fn programs_run_right() {
    let Some(millpond) = millpond_binary() else {
        assert!(!in_ci(), "the millpond binary is not built");
        eprintln!("SKIPPED hardened-programs: millpond is not built");
        return;
    };
    let dir = tempfile::Builder::new()
        .prefix("hardened-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .expect("directory");
    let Some(mdwe) = hardener("hardened-programs", &dir) else { return };
    let names = [
        "bash_redirections",
        "bash_here_documents",
        "bash_pipelines",
        "bash_descriptors",
        "dash_redirections",
        "cp",
        "sort_spill",
        "sed_in_place",
        "tar",
        "git_commit",
        "sqlite_wal",
        "sqlite_two_writers_wal",
        "python_files",
        "python_text",
        "python_multiprocessing",
        "python_subprocess",
        "python_fork",
        "awk_outputs",
        "static_reader",
    ];
    for name in names {
        let whole = row(name).expect("a row of that name");
        let header: String =
            whole.script.lines().take_while(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        let header = header
            .replace("# bytes:", "# bytes before hardening:")
            .replace("# direct:", "# direct before hardening:");
        let script = format!(
            "{header}# direct: libc cannot be patched\nif [ -z \"${{HARDENED-}}\" ]; then HARDENED=1 exec '{}' {} \"$0\"; fi\n{}",
            mdwe.display(),
            whole.shell,
            whole.script
        );
        let hardened =
            Row { name: whole.name, shell: whole.shell, script: Box::leak(script.into_boxed_str()) };
        let outcome = runner::run(&hardened, &Second::Shim(millpond.clone())).expect("a run");
        assert!(outcome.failures.is_empty(), "{name}, hardened:\n{}", outcome.failures.join("\n"));
        if !outcome.missing.is_empty() {
            assert!(!in_ci(), "{name}: not installed: {}", outcome.missing.join(" "));
            eprintln!("SKIPPED {name}: not installed: {}", outcome.missing.join(" "));
            continue;
        }
        let report = outcome.report.expect("a report");
        assert!(report.escapes.iter().any(|e| e.reason == "symbol_layer_only"), "{name}: {report:?}");
    }
}

#[test]
fn two_sorts_of_processes_see_each_others_bytes() {
    let Some(pond) = Pond::start("hardened-mixed", "16MiB", &["python3"]) else { return };
    let Some(mdwe) = hardener("hardened-mixed", &pond.bin) else { return };
    // A writer that keeps its bytes in the pool, and a hardened reader by stream; then the other way round; then a stream that truncates.
    let script = r#"
        set -e
        exec 7> shared
        for i in 1 2 3 4 5 6 7 8; do echo "line $i" >&7; done
        "$MDWE" python3 -c 'import io
f = open("shared"); print(f.read().count("line"))'
        [ "$("$MDWE" awk 'END { print NR }' shared)" = 8 ]
        "$MDWE" sh -c 'echo "line 9" >> shared'
        [ "$(wc -l < shared)" = 9 ]
        echo "line 10" >&7
        "$MDWE" awk 'BEGIN { print "new" > "shared" }'
        [ "$(head -n 1 shared)" = new ]
    "#;
    let output = pond.told("bash").args(["-c", script]).env("MDWE", &mdwe).output().expect("bash");
    succeeded(&output);
    assert_eq!(output.stdout, b"8\n", "{output:?}");
}

#[test]
fn the_report_and_check_say_so() {
    let Some(pond) = Pond::start("hardened-told", "16MiB", &[]) else { return };
    let Some(mdwe) = hardener("hardened-told", &pond.bin) else { return };
    let output = pond.told(&mdwe).arg(pond.deeds()).arg("plain").output().expect("deeds");
    succeeded(&output);
    let line = without_number(lines(&output).last().expect("a line"));
    assert!(
        line.starts_with("millpond: deeds: ") && line.ends_with("; escapes: symbol_layer_only 1"),
        "{line}"
    );
    // Programs whose last deed is to close standard error.
    let output = pond.told(&mdwe).args(["cat", "plain"]).output().expect("cat");
    let told = lines(&output).join("\n");
    assert!(told.contains("millpond: cat[") && told.contains("symbol_layer_only 1"), "{told}");
    let programs = pond.shim.status()["programs"].clone();
    let deeds = crate::pond::program(&programs, "deeds").expect("deeds");
    assert_eq!(count(&deeds["counts"]["escapes"], "symbol_layer_only"), 1, "{programs}");

    let millpond = millpond_binary().expect("millpond");
    let soft = Command::new(&millpond).args(["check", "cat"]).output().expect("check");
    assert!(!String::from_utf8_lossy(&soft.stdout).contains("cannot be patched"), "{soft:?}");
    let hard = Command::new(&mdwe).arg(&millpond).args(["check", "cat"]).output().expect("check");
    succeeded(&hard);
    let text = String::from_utf8_lossy(&hard.stdout);
    assert!(text.lines().next().is_some_and(|l| l.ends_with(": partly")), "{text}");
    assert!(text.contains("libc's text cannot be patched here (Permission denied"), "{text}");
}
