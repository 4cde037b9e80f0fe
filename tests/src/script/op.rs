//! The operations of a script.

mod attribute;
mod child;
mod descriptor;
mod kernel;
mod map;
mod ring;
mod scope;

use serde::{Deserialize, Serialize};

use super::{End, OpenFlags};
pub use attribute::{AttributeOp, TimesCall};
pub use child::{ExecCall, ForkCall, SpawnAction};
pub use descriptor::{CloseMany, Control, DescriptorOp};
pub use kernel::KernelOp;
pub use map::{MapKind, MapOp, MapUse, Resize, Touch};
pub use ring::{Request, RingOp};
pub use scope::{Beside, Scope, ScopeOp};

/// Which of the calls that open is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call")]
pub enum OpenCall {
    Open,
    Open64,
    Openat,
    Openat64,
    Creat,
    Creat64,
    /// `__open_2`, which compilers put in for `open` without a mode; plain `open` where there is one.
    Checked,
    Checked64,
    CheckedAt,
    CheckedAt64,
    /// `openat` through `syscall`.
    Syscall,
    /// `openat2`, which has no other way.
    Openat2,
}

/// Which of the calls that move bytes is used; the same exist for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call")]
pub enum DataCall {
    Plain,
    At,
    At64,
    Vector,
    VectorAt,
    VectorAt64,
    VectorAt2,
    VectorAt264,
    /// `__read_chk`, which compilers put in for `read`; for writes as `Plain`.
    Checked,
    /// `__pread_chk`; for writes as `At`.
    CheckedAt,
    /// `__pread64_chk`; for writes as `At64`.
    CheckedAt64,
    /// `read` or `write` through `syscall`.
    Syscall,
    /// `pread64` or `pwrite64` through `syscall`.
    SyscallAt,
}

impl DataCall {
    /// Whether the call takes a vector of buffers.
    pub fn is_vectored(self) -> bool {
        use DataCall::{Vector, VectorAt, VectorAt2, VectorAt264, VectorAt64};
        matches!(self, Vector | VectorAt | VectorAt64 | VectorAt2 | VectorAt264)
    }
}

/// What the buffer of a data call points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Buffer {
    /// Memory that is all there.
    Good,
    /// A null pointer, in a vector the last one.
    Null,
    /// Memory whose last bytes, this many, cannot be touched.
    Torn(u16),
}

/// A read or a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Descriptor slot.
    pub slot: u8,
    /// The call.
    pub call: DataCall,
    /// Offset, for the calls that take one.
    pub offset: i64,
    /// Lengths of the buffers; calls without a vector take the first.
    pub lens: Vec<u32>,
    /// `RWF_*` flags of `preadv2` and `pwritev2`.
    pub rwf: i32,
    /// Where the buffer is.
    pub buffer: Buffer,
    /// Seed of the bytes written.
    pub seed: u32,
}

/// Which lock a lock operation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockCall {
    /// `fcntl(F_SETLK)`, a lock of the process.
    Process,
    /// `fcntl(F_OFD_SETLK)`, a lock of the open file description.
    Description,
    /// `flock` of the whole file.
    Flock,
    /// `fcntl(F_GETLK)`: only ask.
    Ask,
}

/// How bytes are written by several at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Crew {
    /// Threads of the process.
    Threads,
    /// Forked children.
    Processes,
}

/// One operation. Fields named `slot` or ending so are descriptor slots, `path` and its like are paths;
/// the rest is what the call of the same name takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call, its fields after the arguments")]
pub enum Op {
    Open {
        slot: u8,
        call: OpenCall,
        dir_slot: Option<u8>,
        path: String,
        flags: OpenFlags,
        mode: u32,
    },
    Read(Data),
    Write(Data),
    Lseek {
        slot: u8,
        offset: i64,
        whence: i32,
    },
    /// `SEEK_DATA` or `SEEK_HOLE` after an `fsync`; only checked against the bytes, since where holes lie
    /// is the file system's business.
    SeekSparse {
        slot: u8,
        offset: i64,
        hole: bool,
    },
    Truncate {
        path: String,
        len: i64,
    },
    Ftruncate {
        slot: u8,
        len: i64,
    },
    Dup {
        slot: u8,
        to_slot: u8,
    },
    Dup2 {
        slot: u8,
        to_slot: u8,
    },
    Dup3 {
        slot: u8,
        to_slot: u8,
        cloexec: bool,
    },
    FcntlDup {
        slot: u8,
        to_slot: u8,
        min: i32,
        cloexec: bool,
    },
    GetFlags {
        slot: u8,
    },
    SetFlags {
        slot: u8,
        flags: OpenFlags,
    },
    SetCloexec {
        slot: u8,
        cloexec: bool,
    },
    Close {
        slot: u8,
    },
    /// `close_range` from a slot's descriptor to the highest.
    CloseFrom {
        slot: u8,
    },
    Fsync {
        slot: u8,
        data_only: bool,
    },
    Stat {
        path: String,
        call: StatCall,
    },
    Fstat {
        slot: u8,
        call: StatCall,
    },
    Rename {
        from: String,
        to: String,
        flags: u32,
    },
    Unlink {
        path: String,
    },
    Link {
        from: String,
        to: String,
    },
    /// Gives an open file a name, as is done with unnamed temporary files.
    LinkSlot {
        slot: u8,
        to: String,
    },
    Symlink {
        target: String,
        path: String,
    },
    Mkdir {
        path: String,
    },
    Rmdir {
        path: String,
    },
    Access {
        path: String,
        mode: i32,
    },
    Chmod {
        path: String,
        mode: u32,
    },
    Fchmod {
        slot: u8,
        mode: u32,
    },
    Utimens {
        path: String,
        seconds: i64,
    },
    Futimens {
        slot: u8,
        seconds: i64,
    },
    Fallocate {
        slot: u8,
        mode: i32,
        offset: i64,
        len: i64,
    },
    PosixFallocate {
        slot: u8,
        offset: i64,
        len: i64,
    },
    CopyFileRange {
        from_slot: u8,
        to_slot: u8,
        from: Option<i64>,
        to: Option<i64>,
        len: u32,
    },
    Sendfile {
        from_slot: u8,
        to_slot: u8,
        from: Option<i64>,
        len: u32,
    },
    Fopen {
        stream: u8,
        path: String,
        mode: String,
    },
    /// `fdopen` of a `dup` of a slot.
    Fdopen {
        stream: u8,
        slot: u8,
        mode: String,
    },
    Setvbuf {
        stream: u8,
        unbuffered: bool,
        size: u32,
    },
    Fprintf {
        stream: u8,
        seed: u32,
    },
    Fwrite {
        stream: u8,
        len: u32,
        seed: u32,
    },
    Fgets {
        stream: u8,
        len: u32,
    },
    Fread {
        stream: u8,
        len: u32,
    },
    Fseek {
        stream: u8,
        offset: i64,
        whence: i32,
    },
    Fflush {
        stream: u8,
    },
    Fclose {
        stream: u8,
    },
    Fgetc {
        stream: u8,
        back: bool,
    },
    Fputs {
        stream: u8,
        seed: u32,
    },
    Rewind {
        stream: u8,
    },
    /// `fgetpos`, a read, `fsetpos`.
    Fgetpos {
        stream: u8,
    },
    Fscanf {
        stream: u8,
    },
    Getdelim {
        stream: u8,
    },
    /// `freopen` of the same file in another mode.
    Reopen {
        stream: u8,
        mode: String,
    },
    Tmpfile64 {
        stream: u8,
    },
    Dprintf {
        slot: u8,
        seed: u32,
    },
    Getline {
        stream: u8,
    },
    Freopen {
        stream: u8,
        path: String,
        mode: String,
    },
    Tmpfile {
        stream: u8,
    },
    /// `mkostemp`, with the file then renamed to a name that is not random.
    Mkostemp {
        slot: u8,
        to: String,
        cloexec: bool,
        /// Which of the calls: 0 is `mkostemp`.
        #[serde(default)]
        call: u8,
    },
    Remove {
        path: String,
    },
    Fchown {
        slot: u8,
    },
    /// `splice` through a pipe.
    Splice {
        from_slot: u8,
        to_slot: u8,
        from: Option<i64>,
        to: Option<i64>,
        len: u32,
    },
    /// `ioctl(FICLONE)`.
    CloneFile {
        from_slot: u8,
        to_slot: u8,
    },
    /// A descriptor sent to oneself through a socket.
    PassSlot {
        slot: u8,
        to_slot: u8,
        close: bool,
    },
    Lock {
        slot: u8,
        call: LockCall,
        kind: i32,
        start: i64,
        len: i64,
    },
    /// `fsync`, then the real file as the kernel has it.
    RawAfterSync {
        slot: u8,
    },
    /// Close of everything, then the real file as the kernel has it.
    RawAfterClose {
        path: String,
    },
    /// Several at once write stripes that do not overlap.
    Stripes {
        slot: u8,
        crew: Crew,
        members: u8,
        stripe: u32,
        rounds: u32,
        seed: u32,
    },
    /// A forked child does `ops`; its parent waits.
    Fork {
        ops: Vec<Op>,
        end: End,
        #[serde(default)]
        call: ForkCall,
    },
    /// The same, but the child first becomes another program.
    Exec {
        ops: Vec<Op>,
        end: End,
        call: ExecCall,
    },
    /// The same through `posix_spawn`.
    Spawn {
        actions: Vec<SpawnAction>,
        ops: Vec<Op>,
        end: End,
        /// By `posix_spawnp`, with attributes.
        #[serde(default)]
        searched: bool,
    },
    /// A child of `vfork` does `actions` in its parent's memory and becomes another program, which does `ops`.
    Vfork {
        actions: Vec<SpawnAction>,
        ops: Vec<Op>,
        end: End,
    },
    /// A shell whose output, or input, is a stream of this process.
    Popen {
        command: String,
        input: Option<u32>,
    },
    /// A shell does `command`.
    System {
        command: String,
    },
    /// The process becomes another program, which goes on with the script.
    ExecSelf,
    Map(MapOp),
    Ring(RingOp),
    Descriptor(DescriptorOp),
    Kernel(KernelOp),
    Attribute(AttributeOp),
    Scope(ScopeOp),
    /// The worker is killed where it stands; the others go on.
    KillWorker,
}

/// Which call of the stat family is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is named after its call")]
pub enum StatCall {
    Stat,
    Stat64,
    Lstat,
    Fstatat,
    FstatatNoFollow,
    Statx,
    /// `__xstat`, `__fxstat`: what `stat` was in programs built long ago.
    Old,
    OldLink,
    Old64,
    OldLinkSmall,
    OldAt,
    OldAt64,
    Lstat64,
}

impl Op {
    /// Whether the operation kills a process.
    pub fn kills(&self) -> bool {
        match self {
            Op::Fork { ops, end, .. }
            | Op::Exec { ops, end, .. }
            | Op::Spawn { ops, end, .. }
            | Op::Vfork { ops, end, .. } => end.is_violent() || ops.iter().any(Op::kills),
            Op::Scope(ScopeOp::Within { ops, .. }) => ops.iter().any(Op::kills),
            Op::KillWorker => true,
            _ => false,
        }
    }
}
