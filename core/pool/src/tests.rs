//! The pool against a plain vector of bytes.

use crate::testing::{caller, pool, MemoryStore};
use crate::{Failure, Pool, Store};
use millpond_segment::sys::FileStat;
use millpond_segment::{Errno, Flat};
use proptest::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

fn open(pool: &Pool, store: &MemoryStore) -> u32 {
    let stat =
        FileStat { dev: 1, ino: 7, mode: libc_reg(), stamp: store.stamp().unwrap(), ..Default::default() };
    pool.open_file(caller(), &stat, store).unwrap().file
}

fn libc_reg() -> u32 {
    0o100_644
}

fn write(pool: &Pool, file: u32, store: &MemoryStore, bytes: &[u8], at: u64) -> Result<usize, Failure> {
    let mut copy = bytes.to_vec();
    pool.write(caller(), file, store, &Flat::of_mut(&mut copy), at)
}

fn read(pool: &Pool, file: u32, store: &MemoryStore, at: u64, len: usize) -> Vec<u8> {
    let mut out = vec![0xEE; len];
    let n = pool.read(caller(), file, store, &Flat::of_mut(&mut out), at).unwrap();
    out.truncate(n);
    out
}

fn free_bytes(pool: &Pool) -> u64 {
    pool.segment()
        .slabs()
        .iter()
        .map(|s| u64::from(s.list.free()) * u64::from(s.buffer_bytes.load(Relaxed)))
        .sum()
}

#[test]
fn bytes_that_nobody_wrote_are_never_written() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    let file = open(&pool, &store);
    write(&pool, file, &store, b"ab", 10).unwrap();
    // Somebody else writes beside it, in the same page, behind the pool's back.
    store.bytes.borrow_mut().extend_from_slice(b"0123456789__cdefgh");
    pool.flush(caller(), file, &store).unwrap();
    assert_eq!(&*store.bytes.borrow(), b"0123456789abcdefgh");
    assert_eq!(store.reads.get(), 0, "a write read first");
}

#[test]
fn adjacent_pages_leave_in_one_write() {
    let (pool, store) = (pool(4096, &[(4096, 64)]), MemoryStore::default());
    let file = open(&pool, &store);
    for i in (0..32u64).rev() {
        write(&pool, file, &store, &[i as u8; 4096], i * 4096).unwrap();
    }
    let flushed = pool.flush(caller(), file, &store).unwrap();
    assert_eq!((flushed.writes, flushed.bytes), (1, 32 * 4096));
}

#[test]
fn a_failed_flush_keeps_the_bytes_and_is_told_once_to_each_writer() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    let file = open(&pool, &store);
    let d = pool.new_description(caller(), file, millpond_segment::description::flags::WROTE, 0).unwrap();
    write(&pool, file, &store, b"precious", 0).unwrap();
    store.fail.set(Some(28));
    assert_eq!(pool.flush(caller(), file, &store), Err(Errno(28)));
    assert_eq!(pool.report_error(d), Some(Errno(28)));
    assert_eq!(pool.report_error(d), None);
    assert_eq!(pool.view_files()[0].dirty_bytes, 8);
    store.fail.set(None);
    pool.flush(caller(), file, &store).unwrap();
    assert_eq!(&*store.bytes.borrow(), b"precious");
}

#[test]
fn a_full_pool_lets_writes_through_and_stays_right() {
    let (pool, store) = (pool(4096, &[(4096, 4)]), MemoryStore::default());
    let file = open(&pool, &store);
    let want: Vec<u8> = (0..40_000u32).map(|i| (i / 3) as u8).collect();
    for (i, chunk) in want.chunks(1000).enumerate() {
        write(&pool, file, &store, chunk, i as u64 * 1000).unwrap();
    }
    assert_eq!(read(&pool, file, &store, 0, 50_000), want);
    pool.flush(caller(), file, &store).unwrap();
    assert_eq!(*store.bytes.borrow(), want);
}

#[test]
fn all_buffers_come_back() {
    let (pool, store) = (pool(65_536, &[(4096, 8), (16_384, 4), (65_536, 2)]), MemoryStore::default());
    let before = free_bytes(&pool);
    let file = open(&pool, &store);
    for at in [0, 5000, 70_000, 200_000, 12_000, 300_000] {
        write(&pool, file, &store, &[1; 3000], at).unwrap();
    }
    assert!(free_bytes(&pool) < before);
    pool.truncate(
        caller(),
        file,
        || store.stamp().ok(),
        || {
            store.bytes.borrow_mut().clear();
            store.stamp()
        },
    )
    .unwrap();
    assert_eq!(free_bytes(&pool), before);
    assert_eq!(pool.segment().header().dirty_pages.load(Relaxed), 0);
    assert_eq!(pool.segment().header().page_list.free(), pool.segment().header().page_list.total());
}

#[test]
fn a_change_from_outside_is_seen_at_the_next_open() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    store.bytes.borrow_mut().extend_from_slice(b"first");
    let file = open(&pool, &store);
    assert_eq!(read(&pool, file, &store, 0, 9), b"first");
    *store.bytes.borrow_mut() = b"second!".to_vec();
    store.changed.set(99);
    assert_eq!(open(&pool, &store), file);
    assert_eq!(read(&pool, file, &store, 0, 9), b"second!");
}

#[test]
fn a_truncation_does_not_vouch_for_what_somebody_outside_has_changed() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    store.bytes.borrow_mut().extend_from_slice(b"first");
    let file = open(&pool, &store);
    assert_eq!(read(&pool, file, &store, 0, 9), b"first");
    *store.bytes.borrow_mut() = b"other".to_vec();
    store.changed.set(99);
    let cut = || {
        store.bytes.borrow_mut().truncate(3);
        store.changed.set(100);
        store.stamp()
    };
    pool.truncate(caller(), file, || store.stamp().ok(), cut).unwrap();
    assert_eq!(read(&pool, file, &store, 0, 9), b"oth");
}

#[test]
fn an_append_knows_its_limit_at_the_end_as_it_is() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    let file = open(&pool, &store);
    let append = |limit| pool.append(caller(), file, &store, &Flat::of_mut(&mut [1; 100]), limit);
    assert_eq!(append(150), Ok((100, 100)));
    assert_eq!(append(199), Err(Failure::Limit));
    assert_eq!(append(200), Ok((100, 200)));
    assert_eq!(read(&pool, file, &store, 0, 300).len(), 200);
}

#[test]
fn what_a_dead_client_held_comes_back() {
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    let file = open(&pool, &store);
    write(&pool, file, &store, &[7; 4096], 0).unwrap();
    let before = free_bytes(&pool);
    let dead = crate::Caller::new(2, 9);
    std::mem::forget(pool.lock_page(dead, file, 0).unwrap());
    std::mem::forget(pool.segment().file(file).lock.lock(dead.me, pool.segment()));
    let taken = pool.take_buffers(dead, 4096).unwrap();
    assert_eq!(taken.count, 1);
    let found = pool.repair(caller(), 2);
    assert_eq!((found.locks, found.slots), (2, 1));
    assert_eq!(free_bytes(&pool), before);
    assert_eq!(read(&pool, file, &store, 0, 4096), [7; 4096]);
    write(&pool, file, &store, b"x", 1).unwrap();
}

#[test]
fn what_was_counted_half_way_is_taken_back_when_nobody_is_left() {
    use millpond_segment::client::state;
    let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
    let f = open(&pool, &store);
    let file = pool.segment().file(f);
    write(&pool, f, &store, b"stays", 0).unwrap();
    // Killed with an open counted and a description claimed.
    let dead = crate::Caller::new(3, 1);
    pool.new_description(dead, f, 0, 0).unwrap();
    file.opens.fetch_add(1, SeqCst);
    let before = file.opens.load(SeqCst);
    pool.segment().client(2).state.store(state::EXECING, SeqCst);
    assert_eq!((pool.settle_counts(), file.opens.load(SeqCst)), (0, before));
    pool.segment().client(2).state.store(state::FREE, SeqCst);
    assert_eq!((pool.settle_counts(), file.opens.load(SeqCst)), (1, 0));
    assert_eq!(pool.settle_counts(), 0);
    pool.wait_for_settling();
    let descriptions = pool.segment().layout().sizes.descriptions;
    assert!((0..descriptions).all(|d| pool.segment().description(d).refs.load(SeqCst) == 0));
    assert_eq!(read(&pool, f, &store, 0, 5), b"stays");
}

#[derive(Clone, Debug)]
enum Op {
    Write(u64, usize),
    Append(usize),
    Read(u64, usize),
    Truncate(u64),
    Flush,
    Evict,
    Around,
    Revalidate,
}

fn op() -> impl Strategy<Value = Op> {
    let offset = prop_oneof![0u64..200, 4000u64..4200, 8000u64..8400, 0u64..60_000];
    let len = prop_oneof![1usize..20, 4000usize..4200, 1usize..20_000];
    prop_oneof![
        6 => (offset.clone(), len.clone()).prop_map(|(o, l)| Op::Write(o, l)),
        2 => len.clone().prop_map(Op::Append),
        4 => (offset.clone(), len).prop_map(|(o, l)| Op::Read(o, l)),
        1 => offset.prop_map(Op::Truncate),
        1 => Just(Op::Flush),
        1 => Just(Op::Evict),
        1 => Just(Op::Around),
        1 => Just(Op::Revalidate),
    ]
}

fn run(pool: &Pool, ops: &[Op]) {
    let store = MemoryStore::default();
    let file = open(pool, &store);
    let mut model: Vec<u8> = Vec::new();
    for (step, op) in ops.iter().enumerate() {
        let bytes = |len: usize| (0..len).map(|i| (step * 31 + i * 7 + 1) as u8).collect::<Vec<_>>();
        match *op {
            Op::Write(at, len) => {
                let data = bytes(len);
                assert_eq!(write(pool, file, &store, &data, at), Ok(len));
                let end = at as usize + len;
                if model.len() < end {
                    model.resize(end, 0);
                }
                model[at as usize..end].copy_from_slice(&data);
            }
            Op::Append(len) => {
                let mut data = bytes(len);
                let got = pool.append(caller(), file, &store, &Flat::of_mut(&mut data), u64::MAX).unwrap();
                model.extend_from_slice(&data);
                assert_eq!(got, (len, model.len() as u64));
            }
            Op::Read(at, len) => {
                let at_model = (at as usize).min(model.len());
                let want = &model[at_model..(at_model + len).min(model.len())];
                assert!(read(pool, file, &store, at, len) == want, "step {step}: read {len} at {at}");
            }
            Op::Truncate(size) => {
                pool.truncate(
                    caller(),
                    file,
                    || store.stamp().ok(),
                    || {
                        store.bytes.borrow_mut().resize(size as usize, 0);
                        store.changed.set(store.changed.get() + 1);
                        store.stamp()
                    },
                )
                .unwrap();
                model.resize(size as usize, 0);
            }
            Op::Flush => {
                pool.flush(caller(), file, &store).unwrap();
                assert!(*store.bytes.borrow() == model, "step {step}: the flushed file differs");
            }
            Op::Evict => {
                pool.evict(caller());
            }
            Op::Around => {
                pool.around_kernel(caller(), file, &store, crate::segment::stats::Reason::Sendfile, || {
                    assert!(*store.bytes.borrow() == model, "step {step}: the kernel sees other bytes");
                })
                .unwrap();
            }
            Op::Revalidate => pool.revalidate(caller(), file, &store),
        }
        assert_eq!(pool.segment().file(file).size.load(Relaxed), model.len() as u64);
    }
    pool.flush(caller(), file, &store).unwrap();
    assert!(*store.bytes.borrow() == model, "the file differs at the end");
    assert_eq!(pool.segment().header().dirty_pages.load(Relaxed), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_roomy_pool_agrees_with_a_vector(ops in prop::collection::vec(op(), 1..60)) {
        run(&pool(4096, &[(4096, 64)]), &ops);
    }

    #[test]
    fn pages_of_several_buffers_agree_with_a_vector(ops in prop::collection::vec(op(), 1..60)) {
        run(&pool(16_384, &[(4096, 24), (16_384, 1)]), &ops);
    }

    #[test]
    fn a_tiny_pool_agrees_with_a_vector(ops in prop::collection::vec(op(), 1..60)) {
        run(&pool(8192, &[(4096, 3), (8192, 1)]), &ops);
    }
}

/// Appends with room for nothing (each flushes to make some) beside truncations: a wrong order of locks stops them for ever.
#[test]
fn appends_that_flush_and_truncations_do_not_wait_for_each_other() {
    use std::sync::atomic::AtomicBool;
    let pool = pool(4096, &[(4096, 3)]);
    let directory = tempfile::tempdir().unwrap();
    let real = std::fs::File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(directory.path().join("f"))
        .unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&real);
    let store = crate::FdStore::new(fd, true, true, false);
    let stat = millpond_segment::sys::stat_fd(fd).unwrap();
    let file = pool.open_file(caller(), &stat, &store).unwrap().file;
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for thread in 2..4 {
            let (pool, done) = (&pool, &done);
            threads.spawn(move || {
                let who = crate::Caller::new(1, thread);
                let mut line = [thread as u8; 3000];
                while !done.load(Relaxed) {
                    pool.append(who, file, &store, &Flat::of_mut(&mut line), u64::MAX).unwrap();
                }
            });
        }
        for _ in 0..300 {
            pool.truncate(
                caller(),
                file,
                || store.stamp().ok(),
                || {
                    real.set_len(0).unwrap();
                    store.stamp()
                },
            )
            .unwrap();
            pool.revalidate(caller(), file, &store);
        }
        done.store(true, Relaxed);
    });
    pool.flush(caller(), file, &store).unwrap();
    assert_eq!(real.metadata().unwrap().len(), pool.segment().file(file).size.load(Relaxed));
    assert_eq!(real.metadata().unwrap().len() % 3000, 0, "an append landed elsewhere than at the end");
}
