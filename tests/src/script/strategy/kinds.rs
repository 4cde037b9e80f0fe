//! Operations by kind, each with weights of its own.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::values::{any_offset, data, len, mode, name, offset, open_flags, path, slot};
use crate::executor::name_ops::LONG_AGO;
use crate::script::op::{Crew, LockCall, Op, OpenCall, StatCall};
use crate::script::{OpenFlags, STREAMS};

/// Opens and closes.
pub fn opening() -> BoxedStrategy<Op> {
    let call = prop_oneof![
        6 => Just(OpenCall::Open),
        2 => Just(OpenCall::Open64),
        2 => Just(OpenCall::Openat),
        1 => Just(OpenCall::Openat64),
        1 => Just(OpenCall::Creat),
        2 => select(&[
            OpenCall::Creat64,
            OpenCall::Checked,
            OpenCall::Checked64,
            OpenCall::CheckedAt,
            OpenCall::CheckedAt64,
            OpenCall::Syscall,
            OpenCall::Openat2,
        ][..]),
    ];
    let open = (slot(), call, weighted(0.1, slot()), path(), open_flags(), mode()).prop_map(
        |(slot, call, dir_slot, path, flags, mode)| {
            // An unnamed file is made in a directory.
            let unnamed = flags.0 & libc::O_TMPFILE == libc::O_TMPFILE;
            let path = if unnamed { "d".into() } else { path };
            Op::Open { slot, call, dir_slot, path, flags, mode }
        },
    );
    let close = slot().prop_map(|slot| Op::Close { slot });
    let raw = path().prop_map(|path| Op::RawAfterClose { path });
    prop_oneof![14 => open, 3 => close, 1 => raw].boxed()
}

const RWF_NOAPPEND: i32 = 0x20;
const RWF_ATOMIC: i32 = 0x40;

/// Bytes in, bytes out, and what changes the size.
pub fn bytes() -> BoxedStrategy<Op> {
    const NO_SUCH_FLAG: i32 = 0x4000;
    // `RWF_NOWAIT` is in no list but that of writes, which all file systems at hand refuse: what a read with it
    // gives depends on what is cached.
    const READ_FLAGS: &[i32] = &[0, 0, 0, 0, libc::RWF_HIPRI, libc::RWF_DSYNC, NO_SUCH_FLAG];
    const WRITE_FLAGS: &[i32] = &[
        0,
        0,
        0,
        0,
        libc::RWF_DSYNC,
        libc::RWF_SYNC,
        libc::RWF_HIPRI,
        libc::RWF_APPEND,
        libc::RWF_APPEND | libc::RWF_DSYNC,
        RWF_NOAPPEND,
        RWF_NOAPPEND | libc::RWF_APPEND,
        RWF_ATOMIC,
        NO_SUCH_FLAG,
    ];
    let lseek = prop_oneof![
        6 => (slot(), any_offset()).prop_map(|(slot, offset)| (slot, offset, libc::SEEK_SET)),
        3 => (slot(), -70_000..70_000_i64).prop_map(|(slot, offset)| (slot, offset, libc::SEEK_CUR)),
        3 => (slot(), -70_000..5000_i64).prop_map(|(slot, offset)| (slot, offset, libc::SEEK_END)),
        1 => slot().prop_map(|slot| (slot, 0, 17)),
    ]
    .prop_map(|(slot, offset, whence)| Op::Lseek { slot, offset, whence });
    let sparse = (slot(), any_offset(), any::<bool>()).prop_map(|(slot, offset, hole)| Op::SeekSparse {
        slot,
        offset,
        hole,
    });
    let modes = select(
        &[
            0,
            libc::FALLOC_FL_KEEP_SIZE,
            libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE,
            libc::FALLOC_FL_ZERO_RANGE,
            libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE,
            libc::FALLOC_FL_PUNCH_HOLE,
            libc::FALLOC_FL_COLLAPSE_RANGE,
            libc::FALLOC_FL_INSERT_RANGE,
            libc::FALLOC_FL_UNSHARE_RANGE,
        ][..],
    );
    let fallocate = (slot(), modes, offset(), len()).prop_map(|(slot, mode, offset, len)| Op::Fallocate {
        slot,
        mode,
        offset,
        len: len.into(),
    });
    let posix_fallocate = (slot(), offset(), len()).prop_map(|(slot, offset, len)| Op::PosixFallocate {
        slot,
        offset,
        len: len.into(),
    });
    let at = || weighted(0.5, offset());
    let copy = (slot(), slot(), at(), at(), len()).prop_map(|(from_slot, to_slot, from, to, len)| {
        Op::CopyFileRange { from_slot, to_slot, from, to, len }
    });
    let sendfile = (slot(), slot(), at(), len()).prop_map(|(from_slot, to_slot, from, len)| Op::Sendfile {
        from_slot,
        to_slot,
        from,
        len,
    });
    let crew = prop_oneof![Just(Crew::Threads), Just(Crew::Processes)];
    let stripe = prop_oneof![Just(47_008_u32), 1..200_u32, 4000..4200_u32];
    let stripes = (slot(), crew, 1..4_u8, stripe, 1..5_u32, any::<u32>()).prop_map(
        |(slot, crew, members, stripe, rounds, seed)| Op::Stripes {
            slot,
            crew,
            members,
            stripe,
            rounds,
            seed,
        },
    );
    prop_oneof![
        30 => data(READ_FLAGS).prop_map(Op::Read),
        40 => data(WRITE_FLAGS).prop_map(Op::Write),
        14 => lseek,
        1 => sparse,
        3 => (path(), any_offset()).prop_map(|(path, len)| Op::Truncate { path, len }),
        5 => (slot(), any_offset()).prop_map(|(slot, len)| Op::Ftruncate { slot, len }),
        2 => fallocate,
        1 => posix_fallocate,
        2 => copy,
        2 => sendfile,
        1 => stripes,
    ]
    .boxed()
}

/// Duplicates, flags, durability, locks.
pub fn descriptors() -> BoxedStrategy<Op> {
    let status = select(
        &[
            0,
            libc::O_APPEND,
            libc::O_APPEND,
            libc::O_NONBLOCK,
            libc::O_APPEND | libc::O_NONBLOCK,
            libc::O_DIRECT,
            libc::O_NOATIME,
            // Nothing that can be changed.
            libc::O_SYNC | libc::O_CREAT | libc::O_RDWR,
        ][..],
    );
    let stat = select(
        &[
            StatCall::Stat,
            StatCall::Stat64,
            StatCall::Fstatat,
            StatCall::Statx,
            StatCall::Old,
            StatCall::OldLink,
            StatCall::Old64,
            StatCall::OldLinkSmall,
            StatCall::OldAt,
            StatCall::OldAt64,
            StatCall::Lstat64,
        ][..],
    );
    let kind = select(&[libc::F_RDLCK, libc::F_WRLCK, libc::F_UNLCK][..]);
    let call = select(&[LockCall::Process, LockCall::Description, LockCall::Flock, LockCall::Ask][..]);
    let lock = (slot(), call, kind, 0..3_i64, 0..3_i64).prop_map(|(slot, call, kind, start, len)| Op::Lock {
        slot,
        call,
        kind,
        start: start * 100,
        len: len * 100,
    });
    prop_oneof![
        4 => (slot(), slot()).prop_map(|(slot, to_slot)| Op::Dup { slot, to_slot }),
        4 => (slot(), slot()).prop_map(|(slot, to_slot)| Op::Dup2 { slot, to_slot }),
        2 => (slot(), slot(), any::<bool>())
            .prop_map(|(slot, to_slot, cloexec)| Op::Dup3 { slot, to_slot, cloexec }),
        2 => (slot(), slot(), 0..60_i32, any::<bool>())
            .prop_map(|(slot, to_slot, min, cloexec)| Op::FcntlDup { slot, to_slot, min, cloexec }),
        3 => slot().prop_map(|slot| Op::GetFlags { slot }),
        2 => (slot(), status).prop_map(|(slot, flags)| Op::SetFlags { slot, flags: OpenFlags(flags) }),
        1 => (slot(), any::<bool>()).prop_map(|(slot, cloexec)| Op::SetCloexec { slot, cloexec }),
        1 => (1..8_u8).prop_map(|slot| Op::CloseFrom { slot }),
        4 => (slot(), any::<bool>()).prop_map(|(slot, data_only)| Op::Fsync { slot, data_only }),
        4 => slot().prop_map(|slot| Op::RawAfterSync { slot }),
        8 => (slot(), stat).prop_map(|(slot, call)| Op::Fstat { slot, call }),
        3 => lock,
    ]
    .boxed()
}

/// Names and what hangs on them.
pub fn names() -> BoxedStrategy<Op> {
    let stat = select(
        &[
            StatCall::Stat,
            StatCall::Stat64,
            StatCall::Lstat,
            StatCall::Fstatat,
            StatCall::FstatatNoFollow,
            StatCall::Statx,
            StatCall::Old,
            StatCall::OldLink,
            StatCall::Old64,
            StatCall::OldLinkSmall,
            StatCall::OldAt,
            StatCall::OldAt64,
            StatCall::Lstat64,
        ][..],
    );
    let flags =
        prop_oneof![8 => Just(0), 1 => Just(libc::RENAME_NOREPLACE), 1 => Just(libc::RENAME_EXCHANGE)];
    let access = select(&[libc::F_OK, libc::R_OK, libc::W_OK, libc::X_OK, libc::R_OK | libc::W_OK][..]);
    let times = || select(&[1_i64, 1_000_000_000, LONG_AGO][..]);
    let file = || select(&["a", "b", "c", "d/x", "d/y"][..]).prop_map(String::from);
    prop_oneof![
        12 => (path(), stat).prop_map(|(path, call)| Op::Stat { path, call }),
        6 => (name(), name(), flags).prop_map(|(from, to, flags)| Op::Rename { from, to, flags }),
        4 => name().prop_map(|path| Op::Unlink { path }),
        3 => (name(), name()).prop_map(|(from, to)| Op::Link { from, to }),
        1 => (slot(), name()).prop_map(|(slot, to)| Op::LinkSlot { slot, to }),
        1 => (select(&["a", "b", "d/x", "c"][..]), name())
            .prop_map(|(target, path)| Op::Symlink { target: target.into(), path }),
        1 => name().prop_map(|path| Op::Mkdir { path }),
        1 => name().prop_map(|path| Op::Rmdir { path }),
        1 => (path(), access).prop_map(|(path, mode)| Op::Access { path, mode }),
        1 => (file(), mode()).prop_map(|(path, mode)| Op::Chmod { path, mode }),
        1 => (slot(), mode()).prop_map(|(slot, mode)| Op::Fchmod { slot, mode }),
        2 => (file(), times()).prop_map(|(path, seconds)| Op::Utimens { path, seconds }),
        2 => (slot(), times()).prop_map(|(slot, seconds)| Op::Futimens { slot, seconds }),
    ]
    .boxed()
}

/// Standard input and output streams.
pub fn streams() -> BoxedStrategy<Op> {
    let stream = || prop_oneof![6 => Just(0_u8), 2 => 0..STREAMS as u8];
    let modes = || select(&["r", "r+", "w", "w+", "a", "a+", "re", "w+x", "rb+"][..]).prop_map(String::from);
    let whence = select(&[libc::SEEK_SET, libc::SEEK_CUR, libc::SEEK_END][..]);
    let seek = (stream(), -5000..70_000_i64, whence).prop_map(|(stream, offset, whence)| Op::Fseek {
        stream,
        offset,
        whence,
    });
    prop_oneof![
        6 => (stream(), path(), modes()).prop_map(|(stream, path, mode)| Op::Fopen { stream, path, mode }),
        2 => (stream(), slot(), modes()).prop_map(|(stream, slot, mode)| Op::Fdopen { stream, slot, mode }),
        1 => (stream(), any::<bool>(), 0..20_000_u32)
            .prop_map(|(stream, unbuffered, size)| Op::Setvbuf { stream, unbuffered, size }),
        8 => (stream(), any::<u32>()).prop_map(|(stream, seed)| Op::Fprintf { stream, seed }),
        6 => (stream(), len(), any::<u32>()).prop_map(|(stream, len, seed)| Op::Fwrite { stream, len, seed }),
        5 => (stream(), 0..300_u32).prop_map(|(stream, len)| Op::Fgets { stream, len }),
        5 => (stream(), len()).prop_map(|(stream, len)| Op::Fread { stream, len }),
        5 => seek,
        3 => stream().prop_map(|stream| Op::Getline { stream }),
        1 => (stream(), path(), modes()).prop_map(|(stream, path, mode)| Op::Freopen { stream, path, mode }),
        1 => stream().prop_map(|stream| Op::Tmpfile { stream }),
        1 => stream().prop_map(|stream| Op::Tmpfile64 { stream }),
        2 => (stream(), any::<bool>()).prop_map(|(stream, back)| Op::Fgetc { stream, back }),
        2 => (stream(), any::<u32>()).prop_map(|(stream, seed)| Op::Fputs { stream, seed }),
        1 => stream().prop_map(|stream| Op::Rewind { stream }),
        1 => stream().prop_map(|stream| Op::Fgetpos { stream }),
        1 => stream().prop_map(|stream| Op::Fscanf { stream }),
        1 => stream().prop_map(|stream| Op::Getdelim { stream }),
        1 => (stream(), modes()).prop_map(|(stream, mode)| Op::Reopen { stream, mode }),
        3 => stream().prop_map(|stream| Op::Fflush { stream }),
        2 => stream().prop_map(|stream| Op::Fclose { stream }),
    ]
    .boxed()
}

/// Calls that are made more rarely.
pub fn others() -> BoxedStrategy<Op> {
    let at = || weighted(0.5, offset());
    let splice = (slot(), slot(), at(), at(), len())
        .prop_map(|(from_slot, to_slot, from, to, len)| Op::Splice { from_slot, to_slot, from, to, len });
    let pass = (slot(), slot(), any::<bool>()).prop_map(|(slot, to_slot, close)| Op::PassSlot {
        slot,
        to_slot,
        close,
    });
    prop_oneof![
        3 => (slot(), any::<u32>()).prop_map(|(slot, seed)| Op::Dprintf { slot, seed }),
        2 => (slot(), name(), any::<bool>(), 0..8_u8)
            .prop_map(|(slot, to, cloexec, call)| Op::Mkostemp { slot, to, cloexec, call }),
        1 => name().prop_map(|path| Op::Remove { path }),
        1 => slot().prop_map(|slot| Op::Fchown { slot }),
        2 => splice,
        1 => (slot(), slot()).prop_map(|(from_slot, to_slot)| Op::CloneFile { from_slot, to_slot }),
        3 => pass,
    ]
    .boxed()
}
