//! The pool without a program around it: what a hit costs in the library itself, reading and writing, within one page and across pages.

use std::fs::File;
use std::hint::black_box;
use std::os::fd::{AsFd, AsRawFd};

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use millpond_pool::segment::{copy, sys, Flat, Segment, Sizes};
use millpond_pool::{Caller, FdStore, Pool};

/// Bytes of the file: it fits the processor's second cache.
const FILE: u64 = 1 << 20;

struct Bench {
    pool: Pool,
    who: Caller,
    file: u32,
    store: FdStore,
    _real: File,
}

fn bench() -> Bench {
    let mut slabs = [(0, 0); 8];
    slabs[0] = (4096, 256);
    slabs[1] = (65_536, 256);
    let sizes = Sizes { page_bytes: 65_536, clients: 8, descriptions: 64, files: 64, slabs };
    // All pointers here are good: the copy is the one that programs get with the shim's handler in place.
    copy::set_guarded(true);
    let memory = tempfile::tempfile().expect("a file for the segment");
    memory.set_len(millpond_pool::segment::Layout::new(sizes).length).expect("room for the segment");
    let pool = Pool::new(Segment::create(memory.as_fd(), sizes).expect("a segment"));
    let real = tempfile::tempfile().expect("a file");
    let who = Caller::new(1, 1);
    let store = FdStore::new(real.as_raw_fd(), true, true, false);
    let stat = sys::stat_fd(real.as_raw_fd()).expect("stat");
    let file = pool.open_file(who, &stat, &store).expect("a slot").file;
    let mut chunk = vec![1; FILE as usize];
    pool.write(who, file, &store, &Flat::of_mut(&mut chunk), 0).expect("a write");
    Bench { pool, who, file, store, _real: real }
}

fn hits(c: &mut Criterion) {
    let b = bench();
    let mut group = c.benchmark_group("pool");
    for len in [64usize, 4096, 65_536, 262_144] {
        let mut buffer = vec![0u8; len];
        group.throughput(Throughput::Bytes(len as u64));
        let mut at = 0;
        let mut next = move || {
            at = (at + len as u64) % FILE;
            at
        };
        group.bench_function(BenchmarkId::new("read", len), |bench| {
            bench
                .iter(|| black_box(b.pool.read(b.who, b.file, &b.store, &Flat::of_mut(&mut buffer), next())));
        });
        group.bench_function(BenchmarkId::new("write", len), |bench| {
            bench.iter(|| {
                black_box(b.pool.write(b.who, b.file, &b.store, &Flat::of_mut(&mut buffer), next()))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hits);
criterion_main!(benches);
