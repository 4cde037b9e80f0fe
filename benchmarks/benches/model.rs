//! The pure arithmetic that runs at every write and read of a page: it must stay far below a system call.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use millpond_model::placement::{plan, Offer};
use millpond_model::{ByteRange, PageGeometry, RangeSet, MAX_RANGES};

/// Bytes of a page, as configured by default.
const PAGE: u32 = 64 << 10;

/// Ranges of `len` bytes that do not touch, as many as a set can hold.
fn apart(len: u32) -> impl Iterator<Item = ByteRange> {
    (0..MAX_RANGES as u32).map(move |i| i * 2 * len).map(move |start| ByteRange::new(start, start + len))
}

fn filled() -> RangeSet {
    RangeSet::from_sorted(apart(2048))
}

fn range_set(c: &mut Criterion) {
    let mut group = c.benchmark_group("range set");
    group.bench_function("insert, sequential 4 KiB into one page", |b| {
        b.iter(|| {
            let mut set = RangeSet::EMPTY;
            for start in (0..PAGE).step_by(4096) {
                let _ = set.insert(black_box(ByteRange::new(start, start + 4096)));
            }
            set
        });
    });
    group.bench_function("insert, strided until full", |b| {
        b.iter(|| {
            let mut set = RangeSet::EMPTY;
            for range in apart(2048) {
                let _ = set.insert(black_box(range));
            }
            set
        });
    });
    let full = filled();
    group.bench_function("insert that merges all", |b| {
        b.iter(|| {
            let mut set = full;
            let _ = set.insert(black_box(ByteRange::new(0, PAGE)));
            set
        });
    });
    group.bench_function("insert that is refused", |b| {
        b.iter(|| {
            let mut set = full;
            set.insert(black_box(ByteRange::new(PAGE - 10, PAGE)))
        });
    });
    group.bench_function("covers, last of a full set", |b| {
        let last = *full.as_slice().last().expect("the set is full");
        b.iter(|| black_box(&full).covers(black_box(last)));
    });
    group.bench_function("gaps of a full set", |b| {
        b.iter(|| {
            black_box(&full).gaps(ByteRange::new(0, PAGE)).map(|gap| u64::from(gap.len())).sum::<u64>()
        });
    });
    group.finish();
}

fn geometry(c: &mut Criterion) {
    let geometry = PageGeometry::new(PAGE).expect("a page size");
    c.bench_function("spans of an unaligned 1 MiB", |b| {
        b.iter(|| {
            let (offset, len) = black_box((47_008_u64, 1_usize << 20));
            let (mut done, mut spans) = (0, 0);
            while done < len {
                let span = geometry.span(offset, len, done);
                done += span.range.len() as usize;
                spans += 1;
            }
            spans
        });
    });
}

fn placement(c: &mut Criterion) {
    let offers = [4 << 10, 16 << 10, 32 << 10, 64 << 10].map(|buffer| Offer { buffer, free: 100 });
    c.bench_function("placement of 60,001 bytes over four slabs", |b| {
        b.iter(|| plan(black_box(60_001), black_box(&offers), 16));
    });
}

criterion_group!(benches, range_set, geometry, placement);
criterion_main!(benches);
