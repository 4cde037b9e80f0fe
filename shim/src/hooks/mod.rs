//! The rows: one for each name that is caught, with its signature and its operation.
//!
//! `hook` rows are exported by `redhook`. `point`, `around` and `held` rows are exported with an ABI that lets a thread's cancellation unwind through
//! them, which `redhook`'s does not: they are libc's cancellation points, and calls whose operation runs around the real one, in `held` rows with a
//! thread that may be cancelled anywhere kept from it. `inner` rows are not exported: they stand for libc's internal names. Rows marked `patch` are patched into libc's entries as well.
//!
//! A `hook` or `point` row serves the call, or answers `None` and lets it by. A panic in an operation lets the call by, too.

#[macro_use]
mod row;

mod copies;
mod data;
mod descriptors;
mod durability;
mod inline;
mod internal;
mod jumps;
mod loader;
mod mapping;
mod metadata;
mod open;
mod processes;
mod raw;
mod signals;
mod streams;

pub use row::Row;

/// All rows, by group.
pub static GROUPS: [&[Row]; 16] = [
    data::ROWS,
    open::ROWS,
    descriptors::ROWS,
    metadata::ROWS,
    durability::ROWS,
    copies::ROWS,
    mapping::ROWS,
    processes::ROWS,
    raw::ROWS,
    signals::ROWS,
    streams::ROWS,
    internal::ROWS,
    inline::ROWS,
    inline::last_words::ROWS,
    jumps::ROWS,
    loader::ROWS,
];
