//! `flush = "async"`: `close` does not wait, readers behind the shim see everything at once, `millpond drain` waits for the real files.

use std::fs;
use std::path::Path;

use millpond_tests::shim_env::{Shim, ShimOptions};

fn contents(path: &Path) -> Vec<u8> {
    fs::read(path).expect("the file")
}

#[test]
fn a_drain_waits_for_what_close_left() {
    let store = tempfile::Builder::new()
        .prefix("millpond-async-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .expect("directory");
    let options = ShimOptions {
        stores: vec![store.path().into()],
        pool: Some("64MiB".into()),
        config: Some("[flush]\nmode = \"async\"\n".into()),
    };
    let Some(shim) = Shim::start("async", &options) else { return };
    let script = "for i in 1 2 3 4 5 6 7 8; do seq $((i * 1000)) $((i * 20000)) > f$i; cat f$i >> all; done; \
                  dd if=/dev/zero bs=1M count=16 of=zeros status=none; cat f1 f2 f3 f4 f5 f6 f7 f8 | cmp - all && echo equal";
    let output = shim.command("bash").args(["-c", script]).current_dir(store.path()).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "equal\n", "{output:?}");

    shim.run("drain", &[store.path().join("all").into()]);
    let parts: Vec<u8> = (1..=8)
        .flat_map(|i| {
            shim.run("drain", &[store.path().join(format!("f{i}")).into()]);
            contents(&store.path().join(format!("f{i}")))
        })
        .collect();
    assert!(!parts.is_empty() && contents(&store.path().join("all")) == parts, "the drained file differs");
    shim.run("drain", &[]);
    assert_eq!(contents(&store.path().join("zeros")).len(), 16 << 20);
    let dirty: u64 = shim.status()["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|f| f["dirty_bytes"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(dirty, 0, "drain left something");
    assert!(shim.totals().bytes_written > 16 << 20, "it went past the pool");
}
