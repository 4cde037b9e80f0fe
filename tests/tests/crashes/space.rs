//! Disks that are full, and memory that is (C36, C37).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{directory, is_root, within, Pond, Program, BOUND};

/// A small tmpfs, unmounted with the value.
struct Small {
    at: PathBuf,
}

impl Small {
    fn mount(at: PathBuf, size: &str) -> Self {
        fs::create_dir_all(&at).expect("directory");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "small"])
            .arg(&at)
            .status();
        assert!(status.expect("mount").success());
        Self { at }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}

/// A coordinator over a file system of 64 KiB, and the same without.
fn small(test: &str) -> Option<(Pond, Small, Small)> {
    if !is_root(test) {
        return None;
    }
    let root = directory(test);
    let shimmed = Small::mount(root.path().join("shims"), "64k");
    let plain = Small::mount(root.path().join("plain"), "64k");
    let at = shimmed.at.clone();
    Some((Pond::over(test, root, at)?, shimmed, plain))
}

/// Bytes that the pool keeps because they are not in their files.
fn dirty_bytes(status: &serde_json::Value) -> u64 {
    status["files"].as_array().into_iter().flatten().filter_map(|file| file["dirty_bytes"].as_u64()).sum()
}

fn plain(at: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(at);
    Program::spawn(command).end()
}

/// Whether a file is the first `pages` pages of what `crasher fill` writes.
fn is_filled(path: &Path, pages: usize) -> bool {
    let bytes = fs::read(path).expect("file");
    bytes.len() == pages * 4096
        && bytes.chunks(4096).enumerate().all(|(i, page)| page.iter().all(|&b| b == b'A' + (i % 26) as u8))
}

fn fill(test: &str, descriptors: &str) {
    let Some((pond, _shimmed, bare)) = small(test) else { return };
    let crasher = pond.store.parent().expect("directory").join("crasher");
    let wanted = plain(&bare.at, &format!("{} fill f 40 {descriptors}", crasher.display()));
    assert_eq!(wanted, (Some(0), "wrote 16, said 1\n".into()));
    let (code, said) = pond.crasher(&["fill", "f", "40", descriptors]).end();
    let (wrote, reported) =
        said.trim().strip_prefix("wrote ").and_then(|s| s.split_once(", said ")).expect(&said);
    assert_eq!(code, Some(0), "{said}");
    let reported: u32 = reported.parse().expect("number");
    assert!(reported & 7 != 0 && reported & 64 == 0, "the full disk was not reported: {said}");
    // What was taken from the program and is not in the file is kept, and said to be.
    let wrote: usize = wrote.parse().expect("number");
    let status = pond.shim.status();
    let dirty = dirty_bytes(&status);
    let there = fs::metadata(pond.path("f")).expect("file").len();
    assert!(there + dirty >= wrote as u64 * 4096, "{said}, {there} bytes in the file, {status:#}");
    fs::remove_file(pond.path("f")).expect("file");
}

#[test]
fn c36_disk_full_by_one_descriptor() {
    fill("c36_one", "1");
}

#[test]
fn c36_disk_full_by_several_descriptors() {
    fill("c36_several", "4");
}

#[test]
fn c36_bytes_go_on_when_there_is_room_again() {
    let Some((pond, _shimmed, _bare)) = small("c36_room") else { return };
    fs::write(pond.path("other"), vec![1; 10 * 4096]).expect("file");
    let (code, said) = pond.crasher(&["fill", "f", "12", "1"]).end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("said 0"), "the full disk was not reported: {said}");
    let wrote: usize = said.trim().split([' ', ',']).nth(1).and_then(|n| n.parse().ok()).expect("number");
    fs::remove_file(pond.path("other")).expect("file");
    pond.shim.run("drain", &[]);
    assert!(
        is_filled(&pond.path("f"), wrote),
        "{said}: what was taken is not in the file: {:#}",
        pond.shim.status()
    );
    let status = pond.shim.status();
    let dirty = dirty_bytes(&status);
    assert_eq!(dirty, 0, "{status:#}");
    assert_eq!(pond.shell("rm f; echo fine >g; cat g").end(), (Some(0), "fine\n".into()));
}

#[test]
fn c36_programs_say_that_the_disk_is_full() {
    let Some((pond, _shimmed, bare)) = small("c36_programs") else { return };
    for line in [
        "dd if=/dev/zero of=f bs=4096 count=40 conv=fsync status=none; echo $?; rm f",
        "dd if=/dev/zero of=f bs=4096 count=40 status=none; echo $?; rm f",
        "seq 100000 >f; echo $?; rm f",
        "cat /dev/zero | head -c 200000 >f; echo ${PIPESTATUS[1]}; rm f",
        "cp /bin/bash f; echo $?; rm f",
        "printf \"with open('f', 'wb') as f:\\n f.write(b'x' * 200000)\\n\" | python3 -; echo $?; rm f",
        "echo small >f; cat f; rm f",
    ] {
        let line = &format!("{{ {line}; }} 2>/dev/null");
        let wanted = plain(&bare.at, line);
        assert_eq!(pond.shell(line).end(), wanted, "{line}: {:#}", pond.shim.status());
    }
    // What could not be written and was removed takes no room for ever, and does not keep the coordinator from ending.
    within(BOUND, "bytes of removed files are dropped", || dirty_bytes(&pond.shim.status()) == 0);
    pond.shim.run("stop", &[]);
}

#[test]
fn c36_mapping_without_room() {
    let Some((pond, _shimmed, bare)) = small("c36_map") else { return };
    let crasher = pond.store.parent().expect("directory").join("crasher");
    let line = format!("{} map f 2>/dev/null; echo $?; rm f", crasher.display());
    let line = format!("{{ {line}; }} 2>/dev/null");
    let wanted = plain(&bare.at, &line);
    assert_eq!(wanted.1, "135\n");
    assert_eq!(pond.shell(&line).end(), wanted);
}

#[test]
fn c37_shared_memory_full() {
    let test = "c37_shared_memory_full";
    let Some(binary) = millpond_tests::shim_env::millpond_binary().filter(|_| is_root(test)) else { return };
    let root = directory(test);
    fs::create_dir(root.path().join("store")).expect("directory");
    let instance = format!("test-c37-shm-{}", std::process::id());
    // In a mount namespace of its own, /dev/shm is as small as in a container; then another program fills it.
    let script = r#"
set -e
mount -t tmpfs -o size=1m small /dev/shm
cd store
if "$M" start --instance "$I" --pool 64M --store . 2>err; then
    eval "$("$M" env --instance "$I")"
    head -c 20000000 /dev/urandom >f
    { head -c 2000000 /dev/zero >/dev/shm/full; } 2>/dev/null || true
    cp f g
    cmp f g && wc -c <g
    unset LD_PRELOAD
    "$M" stop --instance "$I" || "$M" stop --force --instance "$I"
else
    grep -q '^millpond: ' err && echo refused
fi
"#;
    let mut command = Command::new("unshare");
    command.args(["-m", "bash", "-c", script]).current_dir(root.path()).env("M", binary).env("I", instance);
    let (code, said) = Program::spawn(command).end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("20000000") || said.contains("refused"), "{said}");
}
