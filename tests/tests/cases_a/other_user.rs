//! What root cannot show: root may read a file whose mode says that nobody may.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use millpond_tests::cases::Case;
use millpond_tests::programs::report::Report;
use millpond_tests::shim_env::{in_ci, millpond_binary};

const SOURCE: &str = include_str!("c11.c");
const HEADER: &str = include_str!("../../src/cases/case.h");

#[test]
fn c11_partial_page_of_a_write_only_file() {
    Case::new("c11", "$BIN/c11").program("c11", SOURCE, &[]).check();
}

#[test]
fn c11_as_another_user() {
    let Some(millpond) = millpond_binary() else {
        assert!(!in_ci(), "the millpond binary is not built");
        return eprintln!("SKIPPED c11_as_another_user: millpond is not built");
    };
    if !nix::unistd::geteuid().is_root() {
        return eprintln!("SKIPPED c11_as_another_user: this user is one already");
    }
    let scratch = tempfile::Builder::new().prefix("case-").tempdir_in("/var/tmp").expect("scratch directory");
    let dir = scratch.path();
    let open_to_all =
        |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("chmod");
    open_to_all(dir);
    // The user may have no way into the directory of the build.
    for file in ["millpond", "libmillpond.so"] {
        fs::copy(millpond.with_file_name(file), dir.join(file)).expect("copy of the binary");
        open_to_all(&dir.join(file));
    }
    fs::write(dir.join("case.h"), HEADER).expect("header");
    fs::write(dir.join("c11.c"), SOURCE).expect("source");
    for side in ["plain", "shim"] {
        fs::create_dir(dir.join(side)).expect("directory of the run");
        open_to_all(&dir.join(side));
    }
    let built =
        Command::new("gcc").args(["-w", "-o", "c11", "c11.c"]).current_dir(dir).status().expect("gcc");
    assert!(built.success());
    let script = "(cd plain && ../c11) && cd shim && \
                  ../millpond run --instance c11-$$ --store . --report report.json -- ../c11";
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script])
        .current_dir(dir)
        .env("HOME", dir)
        .env_remove("XDG_RUNTIME_DIR")
        .output()
        .expect("setpriv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = Report::read(&dir.join("shim/report.json")).expect("report");
    assert!(report.bytes_through_pool() > 8192, "{report:?}");
}
