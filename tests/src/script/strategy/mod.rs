//! How random scripts are made and shrunk.
//!
//! A script has a theme, which weighs the kinds of operations: with all kinds evenly mixed, most
//! operations would fall on closed descriptors and few files would grow past a page. Every script
//! begins with a few opens for the same reason.

mod kinds;
mod values;

use proptest::collection::vec;
use proptest::prelude::*;

use super::op::{ExecCall, Op, SpawnAction};
use super::{InitialFile, OpenFlags, Script, Step};
use kinds::{bytes, descriptors, mappings, names, opening, others, streams};
use values::{end, initial_len, path, slot};

/// What a script is mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Mixed,
    Data,
    Streams,
    Names,
    Processes,
    Maps,
}

/// Operations that need no other process.
fn leaf(theme: Theme) -> BoxedStrategy<Op> {
    let weights: [u32; 6] = match theme {
        Theme::Mixed | Theme::Processes => [10, 40, 20, 15, 6, 8],
        Theme::Data => [6, 70, 14, 6, 2, 1],
        Theme::Streams => [6, 14, 10, 6, 1, 60],
        Theme::Maps => [6, 40, 12, 6, 36, 2],
        Theme::Names => [20, 24, 14, 38, 2, 2],
    };
    prop_oneof![
        weights[0] => opening(),
        weights[1] => bytes(),
        weights[2] => descriptors(),
        weights[3] => names(),
        weights[4] => mappings(),
        weights[5] => streams(),
        4 => others(),
    ]
    .boxed()
}

/// Operations that bring a child about, which does some of `inner`.
fn child(inner: BoxedStrategy<Op>) -> BoxedStrategy<Op> {
    let ops = || vec(inner.clone(), 1..7);
    let action = prop_oneof![
        slot().prop_map(|slot| SpawnAction::Dup2 { slot }),
        slot().prop_map(|slot| SpawnAction::Close { slot }),
        (slot(), path(), values::open_flags()).prop_map(|(slot, path, flags)| SpawnAction::Open {
            slot,
            path,
            flags
        }),
    ];
    let exec_call = prop_oneof![
        4 => Just(ExecCall::Execv),
        1 => Just(ExecCall::Execvp),
        1 => Just(ExecCall::Execl),
        1 => Just(ExecCall::Fexecve),
        1 => Just(ExecCall::Cleared),
    ];
    let command = proptest::sample::select(
        &[
            "cksum < a",
            "cat a d/x | cksum",
            "printf 'a line\\n' >> b",
            "head -c 5000 a > c; cksum c",
            "exec 3>&1 > b; echo one; (echo two); cksum < a; exec >&3; cksum < b",
        ][..],
    );
    prop_oneof![
        6 => (ops(), end()).prop_map(|(ops, end)| Op::Fork { ops, end }),
        3 => (ops(), end(), exec_call).prop_map(|(ops, end, call)| Op::Exec { ops, end, call }),
        3 => (vec(action, 0..4), ops(), end())
            .prop_map(|(actions, ops, end)| Op::Spawn { actions, ops, end }),
        1 => Just(Op::ExecSelf),
        1 => command.prop_map(|command| Op::System { command: command.into() }),
    ]
    .boxed()
}

fn operation(theme: Theme) -> BoxedStrategy<Op> {
    let leaf = leaf(theme);
    let first = child(leaf.clone());
    let nested = child(prop_oneof![8 => leaf.clone(), 1 => first].boxed());
    let (plain, children) = if theme == Theme::Processes { (8, 2) } else { (60, 1) };
    prop_oneof![plain => leaf, children => nested].boxed()
}

/// An open that is likely to succeed, to give the rest something to work on.
fn first_open(slot: u8) -> impl Strategy<Value = Op> {
    let flags = prop_oneof![
        8 => Just(libc::O_RDWR | libc::O_CREAT),
        2 => Just(libc::O_RDWR | libc::O_CREAT | libc::O_APPEND),
        1 => Just(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC),
        1 => Just(libc::O_RDONLY),
    ];
    let path = prop_oneof![5 => Just("a"), 3 => Just("b"), 2 => Just("d/x"), 1 => Just("c")];
    (flags, path).prop_map(move |(flags, path)| Op::Open {
        slot,
        call: super::op::OpenCall::Open,
        dir_slot: None,
        path: path.into(),
        flags: OpenFlags(flags),
        mode: 0o644,
    })
}

/// The same for a stream.
fn first_fopen() -> impl Strategy<Value = Op> {
    let path = prop_oneof![3 => Just("a"), 1 => Just("b"), 1 => Just("d/x")];
    let mode = prop_oneof![3 => Just("r+"), 1 => Just("w+"), 1 => Just("a+"), 1 => Just("a")];
    (path, mode).prop_map(|(path, mode)| Op::Fopen { stream: 0, path: path.into(), mode: mode.into() })
}

/// What each worker begins with.
fn first_steps(theme: Theme, worker: u8) -> BoxedStrategy<Vec<Step>> {
    let opens = (first_open(0), first_open(1), first_open(2), first_fopen());
    opens
        .prop_map(move |(a, b, c, stream)| {
            let ops = if theme == Theme::Streams { vec![a, stream] } else { vec![a, b, c] };
            ops.into_iter().map(|op| Step { worker, op }).collect()
        })
        .boxed()
}

fn steps(theme: Theme, workers: u8) -> BoxedStrategy<Vec<Step>> {
    let first: Vec<_> = (0..workers).map(|worker| first_steps(theme, worker)).collect();
    let kill = u32::from(workers > 1);
    let step = (0..workers, prop_oneof![90 => operation(theme), kill => Just(Op::KillWorker)])
        .prop_map(|(worker, op)| Step { worker, op })
        .boxed();
    let rest = prop_oneof![
        3 => vec(step.clone(), 1..=5),
        4 => vec(step.clone(), 1..=20),
        3 => vec(step, 40..=80),
    ];
    (first, rest).prop_map(|(first, rest)| first.into_iter().flatten().chain(rest).collect()).boxed()
}

fn themed(theme: Theme, workers: u8) -> BoxedStrategy<Script> {
    let initial = (initial_len(), initial_len(), any::<u32>()).prop_map(|(a, x, seed)| {
        let file = |path: &str, len, seed| InitialFile { path: path.into(), len, seed };
        vec![file("a", a, seed), file("d/x", x, seed.wrapping_add(1))]
    });
    (initial, steps(theme, workers), end())
        .prop_map(move |(initial, steps, end)| Script { workers, initial, end, steps })
        .boxed()
}

/// Random scripts.
pub fn scripts() -> BoxedStrategy<Script> {
    prop_oneof![
        5 => themed(Theme::Mixed, 1),
        5 => themed(Theme::Data, 1),
        3 => themed(Theme::Streams, 1),
        3 => themed(Theme::Names, 1),
        3 => themed(Theme::Processes, 1),
        2 => themed(Theme::Maps, 1),
        2 => themed(Theme::Data, 2),
        2 => themed(Theme::Mixed, 2),
        1 => themed(Theme::Processes, 3),
    ]
    .boxed()
}
