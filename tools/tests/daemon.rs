//! The command line with a real coordinator: start, status, drain, stop, and run with one of its own.

use std::path::Path;
use std::process::{Command, Output};

struct User {
    runtime: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let runtime = tempfile::tempdir().unwrap();
        // Stands in for the library: the dynamic linker passes over it.
        std::fs::write(runtime.path().join("libmillpond.so"), "").unwrap();
        Self { runtime }
    }

    fn path(&self) -> &Path {
        self.runtime.path()
    }

    fn millpond(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_millpond"))
            .args(words)
            .env("XDG_RUNTIME_DIR", self.path())
            .env("XDG_CONFIG_HOME", self.path())
            .env("MILLPOND_SHIM", self.path().join("libmillpond.so"))
            .env_remove("MILLPOND_INSTANCE")
            .env_remove("MILLPOND_CONFIG")
            .current_dir(self.path())
            .output()
            .unwrap()
    }

    fn succeeds(&self, words: &[&str]) -> String {
        let output = self.millpond(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn fails(&self, words: &[&str]) -> String {
        let output = self.millpond(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.millpond(&["stop", "--force"]);
    }
}

#[test]
fn a_coordinator_is_started_asked_and_stopped() {
    let user = User::new();
    user.succeeds(&["start", "--pool", "16MiB", "--flush", "async"]);
    assert!(user.fails(&["start"]).contains("running already"));
    let status: serde_json::Value = serde_json::from_str(&user.succeeds(&["status", "--json"])).unwrap();
    let store = user.path().canonicalize().unwrap();
    assert_eq!(status["stores"][0], store.to_str().unwrap());
    assert_eq!(status["flush_mode"], "async");
    assert_eq!(status["totals"]["bytes_flushed"], 0);
    assert_eq!(status["pool"]["page_bytes"], 65_536);
    assert!(user.succeeds(&["status"]).starts_with("coordinator default: worker "));
    user.succeeds(&["drain"]);
    user.succeeds(&["drain", "."]);
    assert!(user.succeeds(&["env"]).contains(store.to_str().unwrap()));
    user.succeeds(&["stop"]);
    assert!(user.fails(&["status"]).contains("no coordinator `default` is running"));
    user.succeeds(&["start", "--pool", "16MiB"]);
}

#[test]
fn a_pool_that_does_not_fit_is_said_in_the_terminal() {
    let user = User::new();
    let line = user.fails(&["start", "--pool", "8TiB"]);
    assert!(line.starts_with("millpond: pool.size: 8TiB do not fit"), "{line}");
    assert!(line.contains("set pool.size (or --pool) to at most "), "{line}");
}

#[test]
fn a_run_brings_its_own_coordinator_and_takes_it_away() {
    let user = User::new();
    let output = user.millpond(&["run", "--pool", "16MiB", "--report", "report", "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(user.path().join("report")).unwrap()).unwrap();
    for key in ["files_buffered", "bytes_read", "bytes_written", "bytes_flushed", "flush_writes", "page_hits"]
    {
        assert_eq!(report[key], 0, "{key}");
    }
    assert_eq!(report["sync_downs"], serde_json::json!([]));
    let left: Vec<_> = std::fs::read_dir(user.path().join("millpond")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_run_joins_the_coordinator_that_is_there() {
    let user = User::new();
    user.succeeds(&["start", "--pool", "16MiB"]);
    let socket = user.succeeds(&["run", "--", "sh", "-c", "echo $MILLPOND_SOCKET"]);
    assert!(socket.trim_end().ends_with("/millpond/default/sock"), "{socket}");
    user.succeeds(&["status"]);
    assert!(user.fails(&["run", "--store", "/", "--", "true"]).contains("does not serve /"));
}
