//! How random scripts are made and shrunk.
//!
//! A script has a theme, which weighs the kinds of operations: with all kinds evenly mixed, most
//! operations would fall on closed descriptors and few files would grow past a page. Every script
//! begins with a few opens for the same reason.

mod kinds;
mod maps;
mod rare;
mod values;

use proptest::collection::vec;
use proptest::prelude::*;

use super::op::{ExecCall, ForkCall, Op, Scope, ScopeOp, SpawnAction};
use super::{InitialFile, OpenFlags, Script, Step};
use kinds::{bytes, descriptors, names, opening, others, streams};
use maps::mappings;
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
        12 => rare::all(),
    ]
    .boxed()
}

/// A few operations under unusual circumstances.
fn scoped(inner: BoxedStrategy<Op>) -> BoxedStrategy<Op> {
    let within = |scope, ops| Op::Scope(ScopeOp::Within { scope, ops });
    let few = || vec(inner.clone(), 1..6);
    // Where descriptors run out, operations that need one for themselves are at a loss.
    let modest = prop_oneof![opening(), descriptors()].boxed();
    let sizes = prop_oneof![0..300_000_u64, Just(65_536_u64), Just(0_u64), Just(4096_u64)];
    let users = prop_oneof![3 => opening(), 4 => bytes(), 3 => descriptors(), 2 => names()].boxed();
    prop_oneof![
        4 => few().prop_map(move |ops| within(Scope::ByNumber, ops)),
        2 => vec(users, 1..6).prop_map(move |ops| within(Scope::OtherUser, ops)),
        2 => (sizes, vec(prop_oneof![4 => bytes(), 1 => opening(), 1 => descriptors()], 1..6))
            .prop_map(move |(size, ops)| within(Scope::FileSize(size), ops)),
        1 => (0..4_u8, vec(modest, 1..6))
            .prop_map(move |(more, ops)| within(Scope::Descriptors(more), ops)),
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
    ]
    .boxed();
    let vfork_action = prop_oneof![
        3 => action.clone(),
        2 => (slot(), any::<u32>()).prop_map(|(slot, seed)| SpawnAction::Write { slot, seed }),
        1 => (slot(), values::offset()).prop_map(|(slot, offset)| SpawnAction::Seek { slot, offset }),
    ];
    let exec_call = prop_oneof![
        4 => Just(ExecCall::Execv),
        1 => Just(ExecCall::Execvp),
        1 => Just(ExecCall::Execl),
        1 => Just(ExecCall::Fexecve),
        1 => Just(ExecCall::Cleared),
        4 => proptest::sample::select(&[
            ExecCall::Execle,
            ExecCall::Execlp,
            ExecCall::Execvpe,
            ExecCall::Execveat,
            ExecCall::Syscall,
        ][..]),
    ];
    let fork_call = prop_oneof![
        6 => Just(ForkCall::Fork),
        5 => proptest::sample::select(&[
            ForkCall::Bare,
            ForkCall::Clone,
            ForkCall::Clone3,
            ForkCall::CloneFunction,
            ForkCall::Syscall,
            ForkCall::Daemon,
        ][..]),
    ];
    let popen = proptest::sample::select(
        &[
            ("head -c 90000 a; head -c 90000 < b | cksum", false),
            ("{ cat > b; } || cat > /dev/null", true),
            ("{ cat >> a; } || cat > /dev/null; echo end >> b", true),
        ][..],
    );
    let command = proptest::sample::select(
        &[
            // Never all of a file, which may have a hole of many gigabytes.
            "head -c 300000 < a | cksum",
            "cat d/x a 2>/dev/null | head -c 400000 | cksum",
            "printf 'a line\\n' >> b",
            "head -c 5000 a > c; cksum c",
            "exec 3>&1 > b; echo one; (echo two); head -c 90000 a | cksum; exec >&3; head -c 90000 b | cksum",
        ][..],
    );
    prop_oneof![
        6 => (ops(), end(), fork_call).prop_map(|(ops, end, call)| Op::Fork { ops, end, call }),
        2 => (vec(vfork_action, 0..5), ops(), end())
            .prop_map(|(actions, ops, end)| Op::Vfork { actions, ops, end }),
        1 => (popen, any::<u32>()).prop_map(|((command, input), seed)| Op::Popen {
            command: command.into(),
            input: input.then_some(seed),
        }),
        3 => (ops(), end(), exec_call).prop_map(|(ops, end, call)| Op::Exec { ops, end, call }),
        3 => (vec(action, 0..4), ops(), end(), any::<bool>())
            .prop_map(|(actions, ops, end, searched)| Op::Spawn { actions, ops, end, searched }),
        1 => Just(Op::ExecSelf),
        1 => command.prop_map(|command| Op::System { command: command.into() }),
    ]
    .boxed()
}

fn operation(theme: Theme) -> BoxedStrategy<Op> {
    let leaf = leaf(theme);
    let leaf = prop_oneof![40 => leaf.clone(), 1 => scoped(leaf)].boxed();
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
