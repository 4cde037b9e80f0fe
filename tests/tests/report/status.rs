//! `millpond status`: per living process, and per program.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::pond::{count, program, Pond};

/// The status when only one process is attached: the coordinator learns of an end a moment later.
fn once_the_dead_are_buried(pond: &Pond) -> serde_json::Value {
    for _ in 0..100 {
        let status = pond.shim.status();
        if status["clients"].as_array().is_some_and(|clients| clients.len() == 1) {
            return status;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    pond.shim.status()
}

#[test]
fn processes_that_live_and_programs_that_have_ended_are_told_of() {
    let Some(pond) = Pond::start("report-status", "16MiB", &[]) else { return };
    assert!(pond.script("\"$DEEDS\" map; echo text > f; cat f").status.success());
    let mut command = pond.told(pond.deeds());
    let mut living = command.arg("hold").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("deeds");
    let mut line = String::new();
    BufReader::new(living.stdout.as_mut().expect("pipe")).read_line(&mut line).expect("ready");

    let status = once_the_dead_are_buried(&pond);
    let client = status["clients"].as_array().expect("clients").iter().find(|c| c["pid"] == living.id());
    let client = client.unwrap_or_else(|| panic!("no client {}: {status}", living.id()));
    assert_eq!(
        (&client["name"], &client["counts"]["bytes_written"]),
        (&"deeds".into(), &40.into()),
        "{client}"
    );
    let deeds = program(&status["programs"], "deeds").expect("deeds");
    assert_eq!((&deeds["living"], &deeds["counts"]["bytes_written"]), (&1.into(), &50.into()), "{status}");
    assert_eq!(count(&deeds["counts"]["direct_calls"], "mmap"), 5, "{status}");
    let cat = program(&status["programs"], "cat").expect("cat");
    assert_eq!(cat["counts"]["bytes_read"], 5, "{status}");

    let text = pond.shim.run("status", &[]);
    assert!(text.contains("\n          40 B read, 40 B written through the pool\n"), "{text}");
    assert!(text.contains("\n    calls on them: mmap 5\n"), "{text}");
    living.stdin.take().expect("pipe").write_all(b"x").expect("told");
    assert!(living.wait().expect("deeds").success());
}
