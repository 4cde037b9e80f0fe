//! Mappings, momentary and held.

use proptest::prelude::*;
use proptest::sample::select;

use super::values::{any_offset, len, offset, short_len, slot};
use crate::script::op::{DataCall, MapKind, MapOp, MapUse, Op, Resize, Touch};
use crate::script::MAPS;

/// Pages of the pool begin at these, counted in pages of 4 KiB.
const PAGE_EDGES: &[u32] = &[0, 0, 0, 1, 4, 15, 16, 17];

/// Operations on mappings.
pub fn mappings() -> BoxedStrategy<Op> {
    let usage =
        select(&[MapUse::Read, MapUse::PrivateWrite, MapUse::SharedWrite, MapUse::SharedWriteSync][..]);
    let kind = || prop_oneof![4 => Just(MapKind::Shared), 1 => Just(MapKind::Validated), 3 => Just(MapKind::Private)];
    let touch = || select(&[Touch::Pipe, Touch::Program, Touch::Program, Touch::ProcessMemory][..]);
    let map = || prop_oneof![5 => Just(0_u8), 2 => 0..MAPS as u8];
    let page = || prop_oneof![4 => select(PAGE_EDGES), 1 => 0..40_u32];
    let how = select(&[Resize::MayMove, Resize::MayMove, Resize::Fixed, Resize::Duplicate][..]);
    let sync = select(
        &[
            libc::MS_SYNC,
            libc::MS_ASYNC,
            libc::MS_INVALIDATE,
            libc::MS_SYNC | libc::MS_INVALIDATE,
            libc::MS_SYNC | libc::MS_ASYNC,
            0,
        ][..],
    );
    let advice = select(
        &[
            libc::MADV_DONTNEED,
            libc::MADV_DONTNEED,
            libc::MADV_REMOVE,
            libc::MADV_REMOVE,
            libc::MADV_WILLNEED,
            libc::MADV_SEQUENTIAL,
            libc::MADV_RANDOM,
            libc::MADV_COLD,
            libc::MADV_PAGEOUT,
            libc::MADV_POPULATE_READ,
            libc::MADV_POPULATE_WRITE,
        ][..],
    );
    let call = select(&[DataCall::Plain, DataCall::At, DataCall::At, DataCall::Vector][..]);
    let data = (map(), 0..60_000_u32, slot(), any::<bool>(), call, any_offset(), len()).prop_map(
        |(map, at, slot, write, call, offset, len)| MapOp::Data { map, at, slot, write, call, offset, len },
    );
    let over = (map(), page(), slot(), kind(), any::<bool>(), page(), 1..20_u32).prop_map(
        |(map, at_page, slot, kind, writable, page, pages)| MapOp::Over {
            map,
            at_page,
            slot,
            kind,
            writable,
            page,
            pages,
        },
    );
    let write =
        (map(), offset(), short_len(), any::<u32>(), touch()).prop_map(|(map, at, len, seed, touch)| {
            MapOp::Write { map, at: at.min(250_000) as u32, len, seed, touch }
        });
    prop_oneof![
        6 => (slot(), usage, 0..20_u32, len(), any::<u32>())
            .prop_map(|(slot, usage, page, len, seed)| MapOp::Once { slot, usage, page, len, seed }),
        8 => (slot(), map(), kind(), any::<bool>(), page(), 1..40_u32).prop_map(
            |(slot, map, kind, writable, page, pages)| MapOp::Hold { slot, map, kind, writable, page, pages }
        ),
        6 => (map(), touch()).prop_map(|(map, touch)| MapOp::Read { map, touch }),
        6 => write,
        1 => (map(), any::<bool>()).prop_map(|(map, writable)| MapOp::Protect { map, writable }),
        3 => (map(), 1..40_u32, how).prop_map(|(map, pages, how)| MapOp::Resize { map, pages, how }),
        2 => (map(), page(), 1..20_u32).prop_map(|(map, page, pages)| MapOp::Cut { map, page, pages }),
        2 => over,
        2 => (map(), sync).prop_map(|(map, flags)| MapOp::Sync { map, flags }),
        2 => (map(), page(), 1..20_u32, advice)
            .prop_map(|(map, page, pages, advice)| MapOp::Advise { map, page, pages, advice }),
        4 => data,
        3 => map().prop_map(|map| MapOp::Drop { map }),
    ]
    .prop_map(Op::Map)
    .boxed()
}
