//! The rarer calls, by group.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::values::{any_offset, len, mode, name, offset, open_flags, path, slot};
use crate::executor::name_ops::LONG_AGO;
use crate::script::op::{
    AttributeOp, Beside, CloseMany, Control, DescriptorOp, KernelOp, Op, Request, RingOp, ScopeOp, TimesCall,
};
use crate::script::MAPS;

/// `F_CREATED_QUERY` and `F_DUPFD_QUERY`, which ask, and a command that there is not.
const ASKED: &[i32] = &[libc::F_GETOWN, 11, 1024 + 3, 1024 + 4, 1024 + 34, 4000];

/// All of them.
pub fn all() -> BoxedStrategy<Op> {
    prop_oneof![
        6 => descriptors().prop_map(Op::Descriptor),
        6 => kernel().prop_map(Op::Kernel),
        3 => attributes().prop_map(Op::Attribute),
        3 => rings().prop_map(Op::Ring),
        1 => at_once().prop_map(Op::Scope),
    ]
    .boxed()
}

fn descriptors() -> BoxedStrategy<DescriptorOp> {
    let how = select(
        &[
            CloseMany::Range,
            CloseMany::Range,
            CloseMany::Cloexec,
            CloseMany::Unshare,
            CloseMany::From,
            CloseMany::BadFlag,
        ][..],
    );
    let kind = || select(&[libc::F_RDLCK, libc::F_WRLCK, libc::F_UNLCK][..]);
    let command = select(&[libc::F_LOCK, libc::F_TLOCK, libc::F_ULOCK, libc::F_TEST][..]);
    let control = select(
        &[
            Control::Fionread,
            Control::Fionread,
            Control::Fionbio,
            Control::Fioclex,
            Control::Fionclex,
            Control::Figetbsz,
            Control::GetFlags,
            Control::Fiemap,
            Control::Terminal,
        ][..],
    );
    let dup3_flags = select(&[0, libc::O_CLOEXEC, libc::O_APPEND, libc::O_NONBLOCK | libc::O_CLOEXEC][..]);
    let resolve = select(&[0_u64, 0, 1, 2, 4, 8, 16, 1 << 40][..]);
    let how_mode = select(&[0_u64, 0o644, 0o644, 0o100_644, 0o17_777][..]);
    let slots = || vec(slot(), 0..4);
    prop_oneof![
        2 => (slot(), slot(), dup3_flags)
            .prop_map(|(slot, to_slot, flags)| DescriptorOp::Dup3 { slot, to_slot, flags }),
        2 => (0..8_u8, 0..8_u8, how)
            .prop_map(|(from_slot, to_slot, how)| DescriptorOp::CloseMany { from_slot, to_slot, how }),
        2 => (slot(), kind()).prop_map(|(slot, kind)| DescriptorOp::Lease { slot, kind }),
        2 => (slot(), kind(), 0..300_i64, 0..300_i64)
            .prop_map(|(slot, kind, start, len)| DescriptorOp::AskDescription { slot, kind, start, len }),
        1 => (slot(), command, -100..300_i64).prop_map(|(slot, command, len)| {
            // A lock that would wait is only tried for.
            let command = if command == libc::F_LOCK { libc::F_TLOCK } else { command };
            DescriptorOp::Lockf { slot, command, len }
        }),
        1 => slot().prop_map(|slot| DescriptorOp::Poll { slot }),
        1 => slot().prop_map(|slot| DescriptorOp::Epoll { slot }),
        4 => (slot(), control).prop_map(|(slot, control)| DescriptorOp::Ioctl { slot, control }),
        1 => (slot(), select(ASKED)).prop_map(|(slot, command)| DescriptorOp::Ask { slot, command }),
        1 => slot().prop_map(|slot| DescriptorOp::Readlink { slot }),
        3 => (slot(), slot(), any::<bool>())
            .prop_map(|(slot, to_slot, parent)| DescriptorOp::Pidfd { slot, to_slot, parent }),
        4 => (slots(), any::<bool>(), any::<bool>())
            .prop_map(|(slots, close, many)| DescriptorOp::Mail { slots, close, many }),
        4 => (slots(), any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(to_slots, cloexec, peek, many)| DescriptorOp::Fetch { to_slots, cloexec, peek, many }),
        3 => (slot(), path(), open_flags())
            .prop_map(|(slot, path, flags)| DescriptorOp::ByHandle { slot, path, flags }),
        2 => (slot(), path(), open_flags(), how_mode, resolve, 0..4_u8).prop_map(
            |(slot, path, flags, mode, resolve, extra)| DescriptorOp::OpenHow {
                slot,
                path,
                flags,
                mode,
                resolve,
                extra
            }
        ),
        1 => (slot(), name()).prop_map(|(slot, to)| DescriptorOp::LinkEmpty { slot, to }),
    ]
    .boxed()
}

fn kernel() -> BoxedStrategy<KernelOp> {
    let at = || weighted(0.5, any_offset());
    let blocks = || prop_oneof![2 => (0..20_u64).prop_map(|block| block * 4096), 1 => 0..100_000_u64];
    let block_len = || prop_oneof![1 => Just(0_u64), 3 => (1..20_u64).prop_map(|block| block * 4096), 1 => 0..100_000_u64];
    let advice = select(
        &[
            libc::POSIX_FADV_NORMAL,
            libc::POSIX_FADV_RANDOM,
            libc::POSIX_FADV_SEQUENTIAL,
            libc::POSIX_FADV_WILLNEED,
            libc::POSIX_FADV_DONTNEED,
            libc::POSIX_FADV_NOREUSE,
            99,
        ][..],
    );
    let counts = select(
        &[
            (1_u64 << 31) - 1,
            1 << 31,
            0x7fff_f000,
            0x7fff_f001,
            1 << 32,
            1 << 40,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ][..],
    );
    let pieces = prop_oneof![3 => select(&[-1, 0, 1, 1023, 1024, 1025, i32::MAX][..]), 3 => 2..64_i32];
    let piece_len = prop_oneof![
        8 => 0..300_u64,
        1 => select(&[1_u64 << 31, 1 << 62, i64::MAX as u64, u64::MAX][..])
    ];
    prop_oneof![
        3 => (slot(), slot(), len())
            .prop_map(|(from_slot, to_slot, len)| KernelOp::Tee { from_slot, to_slot, len }),
        3 => (slot(), weighted(0.5, 0..MAPS as u8), weighted(0.5, offset()), len(), any::<u32>()).prop_map(
            |(to_slot, map, offset, len, seed)| KernelOp::Vmsplice { to_slot, map, offset, len, seed }
        ),
        1 => (slot(), slot(), blocks(), blocks(), block_len()).prop_map(
            |(from_slot, to_slot, from, to, len)| KernelOp::CloneRange { from_slot, to_slot, from, to, len }
        ),
        1 => (slot(), slot(), blocks(), blocks(), block_len())
            .prop_map(|(from_slot, to_slot, from, to, len)| KernelOp::Dedupe { from_slot, to_slot, from, to, len }),
        1 => slot().prop_map(|slot| KernelOp::Syncfs { slot }),
        3 => (slot(), any_offset(), any_offset(), 0..9_u32)
            .prop_map(|(slot, offset, len, flags)| KernelOp::SyncFileRange { slot, offset, len, flags }),
        4 => (slot(), any_offset(), any_offset(), advice)
            .prop_map(|(slot, offset, len, advice)| KernelOp::Fadvise { slot, offset, len, advice }),
        2 => (slot(), any_offset(), len())
            .prop_map(|(slot, offset, len)| KernelOp::Readahead { slot, offset, len }),
        2 => (slot(), any::<bool>(), at(), counts, len(), any::<u32>()).prop_map(
            |(slot, write, at, count, memory, seed)| KernelOp::Huge { slot, write, at, count, memory, seed }
        ),
        3 => (slot(), any::<bool>(), at(), pieces, piece_len, any::<u32>()).prop_map(
            |(slot, write, at, count, len, seed)| KernelOp::Pieces { slot, write, at, count, len, seed }
        ),
        3 => (slot(), any::<u8>()).prop_map(|(slot, which)| KernelOp::BadPointer { slot, which }),
    ]
    .boxed()
}

fn attributes() -> BoxedStrategy<AttributeOp> {
    let times = select(
        &[TimesCall::Utime, TimesCall::Utimes, TimesCall::Lutimes, TimesCall::Futimesat, TimesCall::Omit][..],
    );
    let seconds = || select(&[1_i64, 1_000_000_000, LONG_AGO][..]);
    let file = || select(&["a", "b", "c", "d/x", "s"][..]).prop_map(String::from);
    let access = select(&[libc::F_OK, libc::R_OK, libc::W_OK, libc::X_OK][..]);
    prop_oneof![
        4 => (file(), times, seconds())
            .prop_map(|(path, call, seconds)| AttributeOp::Times { path, call, seconds }),
        3 => (slot(), seconds()).prop_map(|(slot, seconds)| AttributeOp::Futimes { slot, seconds }),
        1 => (file(), mode()).prop_map(|(path, mode)| AttributeOp::Chmodat { path, mode }),
        1 => (file(), any::<bool>()).prop_map(|(path, link)| AttributeOp::Chown { path, link }),
        1 => (path(), any::<u32>()).prop_map(|(path, seed)| AttributeOp::Setxattr { path, seed }),
        1 => path().prop_map(|path| AttributeOp::Getxattr { path }),
        1 => (slot(), any::<u32>()).prop_map(|(slot, seed)| AttributeOp::Fsetxattr { slot, seed }),
        1 => slot().prop_map(|slot| AttributeOp::Fgetxattr { slot }),
        1 => (name(), name()).prop_map(|(from, to)| AttributeOp::Renameat { from, to }),
        1 => (name(), name(), any::<bool>())
            .prop_map(|(from, to, follow)| AttributeOp::Linkat { from, to, follow }),
        1 => (name(), any::<bool>()).prop_map(|(path, directory)| AttributeOp::Unlinkat { path, directory }),
        1 => (path(), access).prop_map(|(path, mode)| AttributeOp::Faccessat { path, mode }),
        1 => name().prop_map(|path| AttributeOp::Readlink { path }),
    ]
    .boxed()
}

fn request() -> impl Strategy<Value = Request> {
    let offset = prop_oneof![30 => offset(), 1 => any_offset()];
    (any::<bool>(), offset, len(), any::<u32>()).prop_map(|(write, offset, len, seed)| Request {
        write,
        offset,
        len,
        seed,
    })
}

fn rings() -> BoxedStrategy<RingOp> {
    let requests = || vec(request(), 1..5);
    let current = vec((request(), prop::bool::weighted(0.3)), 1..5).prop_map(|requests| {
        let turn = |(request, current)| if current { Request { offset: -1, ..request } } else { request };
        requests.into_iter().map(turn).collect::<Vec<_>>()
    });
    prop_oneof![
        6 => (slot(), request(), any::<bool>())
            .prop_map(|(slot, request, wide)| RingOp::Aio { slot, request, wide }),
        2 => (slot(), any::<bool>()).prop_map(|(slot, data_only)| RingOp::AioFsync { slot, data_only }),
        3 => (slot(), requests(), any::<bool>(), any::<bool>())
            .prop_map(|(slot, requests, wait, wide)| RingOp::List { slot, requests, wait, wide }),
        4 => (slot(), requests(), any::<bool>(), any::<bool>())
            .prop_map(|(slot, requests, vectored, sync)| RingOp::Libaio { slot, requests, vectored, sync }),
        // Rarely: with a ring the process is the kernel's for good.
        1 => (slot(), current, any::<bool>())
            .prop_map(|(slot, requests, sync)| RingOp::Uring { slot, requests, sync }),
    ]
    .boxed()
}

fn at_once() -> BoxedStrategy<ScopeOp> {
    let beside =
        select(&[Beside::Threads, Beside::Forks, Beside::Signals, Beside::Files, Beside::Duplicates][..]);
    (slot(), beside, 1..4_u8, 0..100_000_u32, 1..30_000_u32, any::<u32>())
        .prop_map(|(slot, beside, members, start, len, seed)| ScopeOp::AtOnce {
            slot,
            beside,
            members,
            start,
            len,
            seed,
        })
        .boxed()
}
