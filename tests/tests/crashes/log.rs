//! A log that cannot be written: its disk is full, as the programs' may be.

use millpond_tests::shim_env::{Shim, ShimOptions};

#[test]
fn a_coordinator_whose_log_cannot_be_written_goes_on() {
    let root = tempfile::Builder::new().prefix("log-").tempdir().expect("directory");
    let config = "[log]\nlevel = \"trace\"\nfile = \"/dev/full\"\n".to_owned();
    let options =
        ShimOptions { stores: vec![root.path().into()], config: Some(config), ..ShimOptions::default() };
    let Some(shim) = Shim::start("full_log", &options) else { return };
    let printed = shim
        .command("bash")
        .args(["-c", "exec 3>f; echo one >&3; (echo two >&3; kill -9 $BASHPID); echo three >&3; cat f"])
        .current_dir(root.path())
        .output()
        .expect("bash");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "one\ntwo\nthree\n");
    shim.run("drain", &[]);
    assert_eq!(std::fs::read_to_string(root.path().join("f")).expect("file"), "one\ntwo\nthree\n");
    let status = shim.status();
    assert_eq!(status["restarts"], 0, "the worker died over its log: {status}");
}
