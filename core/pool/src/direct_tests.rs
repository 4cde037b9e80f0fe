//! Direct mode: how it begins, and what has to be so before it ends.

use crate::testing::{caller, pool, MemoryStore};
use crate::{Caller, Pool, Store};
use millpond_segment::stats::Reason;
use millpond_segment::sys::FileStat;
use millpond_segment::Flat;
use std::sync::atomic::Ordering::SeqCst;

struct Bench {
    pool: Pool,
    store: MemoryStore,
    file: u32,
}

impl Bench {
    /// A file with a dirty byte.
    fn new() -> Self {
        let (pool, store) = (pool(4096, &[(4096, 8)]), MemoryStore::default());
        let stat = FileStat {
            dev: 1,
            ino: 7,
            mode: 0o100_644,
            stamp: store.stamp().expect("a stamp"),
            ..Default::default()
        };
        let file = pool.open_file(caller(), &stat, &store).expect("a slot").file;
        let bench = Self { pool, store, file };
        bench.write(b"a", 0);
        bench
    }

    fn write(&self, bytes: &[u8], at: u64) {
        let mut copy = bytes.to_vec();
        let written = self.pool.write(caller(), self.file, &self.store, &Flat::of_mut(&mut copy), at);
        assert_eq!(written, Ok(bytes.len()));
    }

    fn read(&self, at: u64) -> u8 {
        let mut out = [0u8];
        let n = self.pool.read(caller(), self.file, &self.store, &Flat::of_mut(&mut out), at);
        assert_eq!(n, Ok(1));
        out[0]
    }

    fn map(&self, who: Caller) {
        assert!(self.pool.pin_file(who, self.file, true));
        self.pool.make_direct(who, self.file, &self.store, Reason::Mapping).expect("direct");
    }

    fn is_direct(&self) -> bool {
        self.pool.segment().file(self.file).direct.load(SeqCst) != 0
            && self.pool.is_direct_still(caller(), self.file, &self.store)
    }
}

#[test]
fn direct_mode_ends_with_the_last_mapping_and_takes_the_file_as_it_is_then() {
    let b = Bench::new();
    b.map(caller());
    b.map(Caller::new(2, 1));
    assert_eq!(&*b.store.bytes.borrow(), b"a");
    b.pool.unpin(caller(), b.file);
    assert!(b.is_direct(), "another process has it mapped");
    *b.store.bytes.borrow_mut() = b"bcd".to_vec();
    b.pool.unpin(Caller::new(2, 1), b.file);
    assert!(!b.is_direct());
    assert_eq!(b.pool.segment().file(b.file).size.load(SeqCst), 3);
    assert_eq!((b.read(0), b.read(2)), (b'b', b'd'));
}

#[test]
fn a_process_that_maps_twice_counts_once_and_one_that_is_gone_not_at_all() {
    let b = Bench::new();
    b.map(caller());
    b.map(caller());
    assert_eq!(b.pool.segment().file(b.file).mapped.load(SeqCst), 1);
    b.pool.release_client(caller(), caller().client());
    assert_eq!(b.pool.segment().file(b.file).mapped.load(SeqCst), 0);
    assert!(!b.is_direct());
}

#[test]
fn a_forked_process_keeps_its_parents_mappings() {
    let b = Bench::new();
    b.map(caller());
    b.pool.copy_table(caller().client(), 3);
    b.pool.unpin(caller(), b.file);
    assert!(b.is_direct());
    b.pool.release_client(caller(), 3);
    assert!(!b.is_direct());
}

#[test]
fn other_reasons_outlast_mappings() {
    let b = Bench::new();
    b.map(caller());
    b.pool.make_direct(caller(), b.file, &b.store, Reason::Passed).expect("direct");
    b.pool.unpin(caller(), b.file);
    assert!(b.is_direct());
    assert_eq!(Reason::names_of(b.pool.segment().file(b.file).direct.load(SeqCst)), ["mmap", "fd_passed"]);
}

#[test]
fn every_reason_is_told_by_its_own_name() {
    for &reason in Reason::ALL {
        let b = Bench::new();
        b.pool.make_direct(caller(), b.file, &b.store, reason).expect("direct");
        let bits = b.pool.segment().file(b.file).direct.load(SeqCst);
        assert_eq!(Reason::names_of(bits), [reason.name()]);
        b.pool.count_direct_call(caller(), b.file);
        let told =
            b.pool.segment().client(caller().client()).account.direct_calls[reason as usize].load(SeqCst);
        assert_eq!(told, 1, "{reason:?}");
    }
}

#[test]
fn a_write_that_the_kernel_serves_holds_direct_mode() {
    let b = Bench::new();
    b.map(caller());
    let write = b.pool.begin_direct_write(caller(), b.file, false).expect("direct");
    b.pool.unpin(caller(), b.file);
    assert!(b.is_direct());
    drop(write);
    assert!(!b.is_direct());
    assert!(b.pool.begin_direct_write(caller(), b.file, true).is_none(), "it is buffered");
}

#[test]
fn an_append_by_the_kernel_waits_for_one_in_the_pool() {
    let b = Bench::new();
    b.map(caller());
    let write = b.pool.begin_direct_write(caller(), b.file, true).expect("direct");
    let append = &b.pool.segment().file(b.file).append_lock;
    assert!(append.is_held_by(caller().me));
    drop(write);
    assert!(append.holder().is_none());
}

#[test]
fn a_flush_that_fails_leaves_the_file_buffered_and_its_bytes_dirty() {
    let b = Bench::new();
    b.store.fail.set(Some(28));
    assert!(b.pool.make_direct(caller(), b.file, &b.store, Reason::Mapping).is_err());
    assert!(!b.is_direct());
    b.store.fail.set(None);
    b.pool.flush(caller(), b.file, &b.store).expect("flush");
    assert_eq!(&*b.store.bytes.borrow(), b"a");
}

#[test]
fn whoever_died_while_ending_it_stops_nobody() {
    let b = Bench::new();
    b.map(caller());
    b.pool.segment().file(b.file).ending.store(1, SeqCst);
    // The first look finds the leftover, the second one none.
    assert!(b.pool.begin_direct_write(caller(), b.file, false).is_none());
    assert!(b.pool.begin_direct_write(caller(), b.file, false).is_some());
}

#[test]
fn pins_are_used_again() {
    let b = Bench::new();
    for _ in 0..3000 {
        b.map(caller());
        b.pool.unpin(caller(), b.file);
    }
    assert!(!b.is_direct());
}

#[test]
fn an_append_that_comes_late_goes_behind_what_the_kernel_has_appended() {
    let b = Bench::new();
    b.map(caller());
    b.store.bytes.borrow_mut().extend_from_slice(b"bcd");
    let mut late = *b"late";
    let appended = b.pool.append(caller(), b.file, &b.store, &Flat::of_mut(&mut late), u64::MAX);
    assert_eq!(appended, Ok((4, 8)));
    assert_eq!(&*b.store.bytes.borrow(), b"abcdlate");
}
