//! What runs where the shim itself runs: under a Rust program's own calls, before its constructor, inside an allocator; and a
//! pool smaller than the files.

use std::time::Duration;

use millpond_tests::cases::Case;

#[test]
fn c18_pool_smaller_than_the_files() {
    // Two files of 16 MiB each.
    let runs = Case::new("c18", include_str!("c18.sh"))
        .program("c18", include_str!("c18.c"), &["-O2"])
        .pool("3MiB")
        .disk_only()
        .bound(Duration::from_secs(120))
        .least_bytes(32 << 20)
        .check();
    for run in runs {
        assert!(run.status["totals"]["pages_evicted"].as_u64() > Some(0), "nothing was evicted: {run:?}");
    }
}

#[test]
fn c19_rust_programs_under_a_rust_shim() {
    let runs = Case::new("c19", include_str!("c19.sh"))
        .needs(&["rustc", "cargo", "python3"])
        .disk_only()
        .bound(Duration::from_secs(120))
        .check();
    for run in runs {
        let most = run.plain_elapsed() * 3 + Duration::from_secs(1);
        assert!(run.elapsed() < most, "{:?}, plain {:?}", run.elapsed(), run.plain_elapsed());
    }
}

#[test]
fn c19_under_a_tracer() {
    Case::new("c19_traced", include_str!("c19_traced.sh"))
        .needs(&["strace", "python3"])
        .config("[log]\nlevel = \"debug\"\n")
        .check();
}

#[test]
fn c20_calls_before_the_constructor_and_inside_malloc() {
    let library = &["-shared", "-fPIC", "-O1", "-fno-builtin"];
    Case::new("c20", include_str!("c20.sh"))
        .needs(&["python3"])
        .program("malloc.so", include_str!("c20_malloc.c"), library)
        .program("early.so", include_str!("c20_early.c"), &["-shared", "-fPIC"])
        .program("c20", include_str!("c20.c"), &[])
        .program("c20_own", include_str!("c20.c"), &["-fno-builtin", "-rdynamic", "malloc.so.c"])
        .check();
}
