//! How a file is found (C49), and what is left when the environment is not (C50).

use crate::twice::{compile, fresh, run_bounded, target_dir, Case};
use millpond_tests::shim_env::{Shim, ShimOptions};
use std::time::Duration;

#[test]
fn c49_one_file_by_many_names() {
    let printed = "write(f, \"content\", 7) = 7\nabsolute: 1 content\n//: 1 content\n/./: 1 content\n..: 1 content\n\
                   symlinked directory: 1 content\nopenat: 1 content\nopenat ..: 1 content\nopenat absolute: 1 content\n\
                   after chdir: 1 content\n../d: 1 content\nno such: ENOENT\nafter fchdir: 1 content\nloop: ELOOP\n\
                   4095: 1 content\n4096: ENAMETOOLONG\ndeleted directory: ENOENT\nbelow a file: ENOTDIR\n";
    Case::new("c49_names", "names").program("names", &[]).prints(printed).check();
    Case::new("c49_loop", "ln -s loop loop; cat loop; echo $? > code; cat code").prints("1\n").check();
}

#[test]
fn c49_a_sibling_with_the_same_beginning_is_left_alone() {
    let root = fresh(&target_dir(), "c49_sibling");
    let (store, sibling) = (root.path().join("managed"), root.path().join("managedX"));
    std::fs::create_dir(&store).expect("directory");
    std::fs::create_dir(&sibling).expect("directory");
    let options =
        ShimOptions { stores: vec![store.clone()], pool: Some("16M".into()), ..ShimOptions::default() };
    let Some(shim) = Shim::start("c49_sibling", &options) else { return };
    let mut command = shim.command("bash");
    command.args(["-c", "echo text >../managedX/f; cat ../managedX/f"]);
    assert_eq!(run_bounded(command, &store, Duration::from_secs(20)).1, "text\n");
    assert_eq!(shim.totals().bytes_written, 0);
    let mut command = shim.command("bash");
    command.args(["-c", "echo text >../managed/f; cat f"]);
    assert_eq!(run_bounded(command, &sibling, Duration::from_secs(20)).1, "text\n");
    assert_eq!(shim.totals().bytes_written, 5);
}

#[test]
fn c50_children_without_their_environment() {
    let script = "echo 1 >>f; env -i sh -c 'echo 2 >>f'; echo 3 >>f; env -u LD_PRELOAD sh -c 'echo 4 >>f'; echo 5 >>f; \
                  env -u HOME sh -c 'echo 6 >>f'; bare >>f; echo 8 >>f; cat f";
    Case::new("c50_children", script).program("bare", &[]).prints("1\n2\n3\n4\n5\n6\n7\n8\n").check();
}

#[test]
fn c50_the_library_without_its_variables() {
    let root = fresh(&target_dir(), "c50_alone");
    compile("names", &[], root.path());
    let options =
        ShimOptions { stores: vec![root.path().into()], pool: Some("16M".into()), ..ShimOptions::default() };
    let Some(shim) = Shim::start("c50_alone", &options) else { return };
    let preload =
        shim.environment().iter().find(|(name, _)| name == "LD_PRELOAD").expect("preload").1.clone();
    std::fs::write(root.path().join("f"), "text\n").expect("file");
    for kept in [None, Some("MILLPOND_SOCKET"), Some("MILLPOND_STORES")] {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "cat f; echo more >g; cat g"]).env_clear().env("LD_PRELOAD", &preload);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        if let Some((name, value)) = shim.environment().iter().find(|(name, _)| Some(name.as_str()) == kept) {
            command.env(name, value);
        }
        let seen = run_bounded(command, root.path(), Duration::from_secs(20));
        assert_eq!(seen, (0, "text\nmore\n".into(), String::new()), "with {kept:?}");
    }
}
