//! Arguments: numbers that cluster around the edges where caches go wrong, slots, paths, flags.

use proptest::prelude::*;
use proptest::sample::select;

use crate::script::op::{Buffer, DataCall};
use crate::script::{Data, End, OpenFlags, NEVER_OPEN};

/// Sizes and offsets around which things happen: memory pages, pool pages of both configured sizes.
const EDGES: &[i64] = &[4096, 8192, 16_384, 32_768, 65_536, 131_072, 196_608];

/// A descriptor slot; the first few are the busiest.
pub fn slot() -> impl Strategy<Value = u8> {
    prop_oneof![20 => Just(0_u8), 12 => 1..3_u8, 3 => 3..8_u8, 1 => Just(NEVER_OPEN)]
}

/// An offset that is not negative.
pub fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        3 => Just(0_i64),
        4 => 0..64_i64,
        6 => (select(EDGES), -1..=1_i64).prop_map(|(edge, by)| edge + by),
        2 => (select(EDGES), -2000..2000_i64).prop_map(|(edge, by)| edge + by),
        5 => 0..20_000_i64,
        3 => 0..300_000_i64,
        2 => (0..6_i64).prop_map(|index| index * 47_008),
        1 => (-2..=2_i64).prop_map(|by| (1 << 32) + by),
    ]
}

/// An offset that may be one that no file has.
pub fn any_offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        60 => offset(),
        1 => -20..0_i64,
        1 => select(&[i64::MIN, i64::MAX, i64::MAX - 100, 1 << 43, 1 << 50][..]),
    ]
}

/// A length of a buffer.
pub fn len() -> impl Strategy<Value = u32> {
    prop_oneof![
        1 => Just(0_u32),
        6 => 1..64_u32,
        3 => (select(EDGES), -1..=1_i64).prop_map(|(edge, by)| (edge + by) as u32),
        6 => 0..6000_u32,
        2 => 0..70_000_u32,
        1 => 0..200_000_u32,
        1 => Just(47_008_u32),
    ]
}

/// Length of a file that exists beforehand: long enough that reads find something.
pub fn initial_len() -> impl Strategy<Value = u32> {
    prop_oneof![2 => len(), 3 => 60_000..200_000_u32]
}

/// A length that fits a small part of a page, for operations that come many at a time.
pub fn short_len() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0_u32), 8 => 1..300_u32, 2 => 4000..4200_u32, 1 => 0..70_000_u32]
}

/// A path of a file, mostly one of few, by various names.
pub fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => select(&["a", "b", "c", "d/x", "d/y"][..]),
        3 => select(&["@/a", "@/d/x", "./a", "d//x", "d/../a", "@//b", "d/./y"][..]),
        3 => select(&["s", "d/s", "dangling"][..]),
        1 => select(&["d", ".", "d/", "missing/z", "a/z", "", "d/sub"][..]),
        1 => select(&["fd:0", "fd:1", "fd:2", "fd:9"][..]),
    ]
    .prop_map(String::from)
}

/// A name that may be made, replaced or removed.
pub fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => select(&["a", "b", "c", "d/x", "d/y"][..]),
        2 => select(&["s", "d/s", "dangling", "@/a", "d/new"][..]),
        1 => select(&["d", "missing/z", "a/z", "", "d/sub"][..]),
    ]
    .prop_map(String::from)
}

/// Flags of an open: an access mode and some of the rest.
pub fn open_flags() -> impl Strategy<Value = OpenFlags> {
    let access = prop_oneof![
        3 => Just(libc::O_RDONLY),
        2 => Just(libc::O_WRONLY),
        12 => Just(libc::O_RDWR),
    ];
    let some =
        |flag: i32, weight: f64| prop::bool::weighted(weight).prop_map(move |set| if set { flag } else { 0 });
    let usual = (
        some(libc::O_CREAT, 0.6),
        some(libc::O_EXCL, 0.06),
        some(libc::O_TRUNC, 0.15),
        some(libc::O_APPEND, 0.15),
        some(libc::O_SYNC, 0.04),
        some(libc::O_DSYNC, 0.04),
        some(libc::O_CLOEXEC, 0.15),
        some(libc::O_NOFOLLOW, 0.06),
    );
    let rare = (
        some(libc::O_DIRECTORY, 0.02),
        some(libc::O_PATH, 0.02),
        some(libc::O_TMPFILE, 0.02),
        some(libc::O_NONBLOCK, 0.04),
        some(libc::O_DIRECT, 0.02),
    );
    (access, usual, rare).prop_map(|(access, usual, rare)| {
        let (a, b, c, d, e, f, g, h) = usual;
        let (i, j, k, l, m) = rare;
        let flags = access | a | b | c | d | e | f | g | h | i | j | k | l | m;
        // Linux leaves creating a directory by open to chance: versions differ in what they refuse.
        let both = libc::O_CREAT | libc::O_DIRECTORY;
        OpenFlags(if flags & both == both && flags & libc::O_TMPFILE != libc::O_TMPFILE {
            flags & !libc::O_CREAT
        } else {
            flags
        })
    })
}

/// Mode of a new file.
pub fn mode() -> impl Strategy<Value = u32> {
    select(&[0o644_u32, 0o600, 0o666, 0o755, 0o444, 0o200, 0][..])
}

/// How a process ends.
pub fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        12 => Just(End::Exit),
        5 => Just(End::Quick),
        1 => Just(End::Bare),
        1 => Just(End::QuickExit),
        1 => Just(End::Abort),
        3 => Just(End::Kill),
    ]
}

fn call() -> impl Strategy<Value = DataCall> {
    prop_oneof![
        8 => Just(DataCall::Plain),
        5 => Just(DataCall::At),
        1 => Just(DataCall::At64),
        2 => Just(DataCall::Vector),
        1 => Just(DataCall::VectorAt),
        1 => Just(DataCall::VectorAt2),
        1 => select(&[
            DataCall::VectorAt64,
            DataCall::VectorAt264,
            DataCall::Checked,
            DataCall::CheckedAt,
            DataCall::CheckedAt64,
            DataCall::Syscall,
            DataCall::SyscallAt,
        ][..]),
    ]
}

fn buffer() -> impl Strategy<Value = Buffer> {
    prop_oneof![
        80 => Just(Buffer::Good),
        1 => Just(Buffer::Null),
        1 => (1..5000_u16).prop_map(Buffer::Torn),
    ]
}

/// A read or write; `rwf` are the flags that the direction knows.
pub fn data(rwf: &'static [i32]) -> impl Strategy<Value = Data> {
    let lens = (len(), proptest::collection::vec(short_len(), 0..4))
        .prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect::<Vec<_>>());
    let at = (any_offset(), prop::bool::weighted(0.3));
    (slot(), call(), at, lens, select(rwf), buffer(), any::<u32>()).prop_map(
        |(slot, call, (offset, current), lens, rwf, buffer, seed)| {
            // Offset -1 means the current one for the second form of the vectored calls only.
            let offset = if current && matches!(call, DataCall::VectorAt2 | DataCall::VectorAt264) {
                -1
            } else {
                offset
            };
            let lens = if call.is_vectored() { lens } else { lens[..1].to_vec() };
            Data { slot, call, offset, lens, rwf, buffer, seed }
        },
    )
}
