//! The executor: carries out a script through libc and prints one line for each operation.
//!
//! Holds: every call goes through the procedure linkage table, as a C program's would; nothing printed
//! depends on time, inode numbers, addresses or scheduling, so that two runs of one script in two
//! directories print the same. What is compared, and with what, is left to [`crate::differential`].

mod aliases;
mod attribute_ops;
mod calls;
mod child_ops;
mod data_ops;
mod descriptor_ops;
mod file_ops;
mod forking;
mod image;
mod kernel_ops;
mod map_ops;
mod mapping;
mod memory;
pub mod name_ops;
mod other_ops;
mod outcome;
mod rare_ops;
pub mod raw;
mod ring_ops;
mod scope_ops;
mod stream_ops;
mod stripes;
mod turns;
mod uring;

use std::cell::Cell;
use std::ffi::CString;

use crate::script::{End, Op, MAPS, NEVER_OPEN, SLOTS, STREAMS};
use mapping::Mapping;

pub use image::main;

/// Environment variable that makes the executor lie: `flip:N` changes a byte of the N-th write of each
/// process, `drop:N` leaves its last byte out. Proves that the comparison can fail.
pub const FAULT_VARIABLE: &str = "MILLPOND_EXECUTOR_FAULT";

/// The descriptor that [`NEVER_OPEN`] stands for: above what scripts reach, below where libraries hide theirs.
const NEVER_OPENED_FD: i32 = 500;

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Flip,
    Drop,
}

/// State of one process of the script.
pub struct Process {
    /// Absolute path of the directory that the script works in, which is also the current one.
    root: String,
    /// Path of the script, absolute.
    script: String,
    /// Descriptor of each slot, -1 when closed.
    slots: [i32; SLOTS],
    streams: [*mut libc::FILE; STREAMS],
    maps: [Option<Mapping>; MAPS],
    /// Whether this is the only process of the script, so that it can become another program.
    solo: bool,
    /// Whether its parent is a process of the script too.
    is_child: bool,
    /// Sockets that all processes of the script share.
    mail: Option<[i32; 2]>,
    /// Whether a process of the script has been killed so far: what it wrote may reach the real file late.
    killed: bool,
    /// Writes left until the fault, and the fault.
    fault: Cell<Option<(u32, Fault)>>,
}

impl Process {
    fn new(root: String, script: String) -> Process {
        let fault = std::env::var(FAULT_VARIABLE).ok().and_then(|text| {
            let (kind, count) = text.split_once(':')?;
            let kind = if kind == "flip" { Fault::Flip } else { Fault::Drop };
            Some((count.parse().ok()?, kind))
        });
        Process {
            root,
            script,
            slots: [-1; SLOTS],
            streams: [std::ptr::null_mut(); STREAMS],
            maps: [const { None }; MAPS],
            solo: true,
            is_child: false,
            mail: None,
            killed: false,
            fault: Cell::new(fault),
        }
    }

    fn fd(&self, slot: u8) -> i32 {
        if slot == NEVER_OPEN {
            return NEVER_OPENED_FD;
        }
        self.slots[usize::from(slot) % SLOTS]
    }

    fn set_fd(&mut self, slot: u8, fd: i32) {
        if fd >= 0 {
            self.slots[usize::from(slot) % SLOTS] = fd;
        }
    }

    /// A path of the script as this run knows it.
    fn path(&self, text: &str) -> CString {
        let path = if let Some(rest) = text.strip_prefix("@/") {
            format!("{}/{rest}", self.root)
        } else if let Some(slot) = text.strip_prefix("fd:") {
            format!("/proc/self/fd/{}", self.fd(slot.parse().unwrap_or(NEVER_OPEN)))
        } else {
            text.to_string()
        };
        CString::new(path).expect("paths of scripts hold no null bytes")
    }

    /// The fault that strikes the write that is about to happen.
    fn strike(&self) -> Option<Fault> {
        let (left, fault) = self.fault.get()?;
        self.fault.set((left > 0).then(|| (left - 1, fault)));
        (left == 0).then_some(fault)
    }

    /// Does `ops` in order, numbering them below `at`.
    fn perform_all(&mut self, at: &str, ops: &[Op]) {
        for (index, op) in ops.iter().enumerate() {
            self.perform(&format!("{at}.{index}"), op);
        }
    }

    /// Does one operation and prints what it gave.
    fn perform(&mut self, at: &str, op: &Op) {
        let name = format!("{op:?}");
        // Operations of a group carry its name before their own.
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        let group = matches!(
            op,
            Op::Map(_) | Op::Ring(_) | Op::Descriptor(_) | Op::Kernel(_) | Op::Attribute(_) | Op::Scope(_)
        );
        let name = words.nth(usize::from(group)).unwrap_or_default();
        let result = self.dispatch(at, op);
        say(&format!("{at} {name} {result}"));
    }

    fn dispatch(&mut self, at: &str, op: &Op) -> String {
        match op {
            Op::Open { slot, call, dir_slot, path, flags, mode } => {
                self.open(*slot, *call, *dir_slot, path, flags.0, *mode)
            }
            Op::Read(data) => self.read(data),
            Op::Write(data) => self.write(data),
            Op::Lseek { slot, offset, whence } => self.lseek(*slot, *offset, *whence),
            Op::SeekSparse { slot, offset, hole } => self.seek_sparse(*slot, *offset, *hole),
            Op::Truncate { path, len } => self.truncate(path, *len),
            Op::Ftruncate { slot, len } => self.ftruncate(*slot, *len),
            Op::Dup { slot, to_slot } => self.dup(*slot, *to_slot),
            Op::Dup2 { slot, to_slot } => self.dup2(*slot, *to_slot),
            Op::Dup3 { slot, to_slot, cloexec } => self.dup3(*slot, *to_slot, *cloexec),
            Op::FcntlDup { slot, to_slot, min, cloexec } => self.fcntl_dup(*slot, *to_slot, *min, *cloexec),
            Op::GetFlags { slot } => self.get_flags(*slot),
            Op::SetFlags { slot, flags } => self.set_flags(*slot, flags.0),
            Op::SetCloexec { slot, cloexec } => self.set_cloexec(*slot, *cloexec),
            Op::Close { slot } => self.close(*slot),
            Op::CloseFrom { slot } => self.close_from(*slot),
            Op::Fsync { slot, data_only } => self.fsync(*slot, *data_only),
            Op::Stat { path, call } => self.stat(path, *call),
            Op::Fstat { slot, call } => self.fstat(*slot, *call),
            Op::Rename { from, to, flags } => self.rename(from, to, *flags),
            Op::Unlink { path } => self.unlink(path),
            Op::Link { from, to } => self.link(from, to),
            Op::LinkSlot { slot, to } => self.link_slot(*slot, to),
            Op::Symlink { target, path } => self.symlink(target, path),
            Op::Mkdir { path } => self.mkdir(path),
            Op::Rmdir { path } => self.rmdir(path),
            Op::Access { path, mode } => self.access(path, *mode),
            Op::Chmod { path, mode } => self.chmod(path, *mode),
            Op::Fchmod { slot, mode } => self.fchmod(*slot, *mode),
            Op::Utimens { path, seconds } => self.utimens(path, *seconds),
            Op::Futimens { slot, seconds } => self.futimens(*slot, *seconds),
            Op::Fallocate { slot, mode, offset, len } => self.fallocate(*slot, *mode, *offset, *len),
            Op::PosixFallocate { slot, offset, len } => self.posix_fallocate(*slot, *offset, *len),
            Op::CopyFileRange { from_slot, to_slot, from, to, len } => {
                self.copy_file_range(*from_slot, *to_slot, *from, *to, *len)
            }
            Op::Sendfile { from_slot, to_slot, from, len } => {
                self.sendfile(*from_slot, *to_slot, *from, *len)
            }
            Op::Fopen { stream, path, mode } => self.fopen(*stream, path, mode),
            Op::Fdopen { stream, slot, mode } => self.fdopen(*stream, *slot, mode),
            Op::Setvbuf { stream, unbuffered, size } => self.setvbuf(*stream, *unbuffered, *size),
            Op::Fprintf { stream, seed } => self.fprintf(*stream, *seed),
            Op::Fwrite { stream, len, seed } => self.fwrite(*stream, *len, *seed),
            Op::Fgets { stream, len } => self.fgets(*stream, *len),
            Op::Fread { stream, len } => self.fread(*stream, *len),
            Op::Fseek { stream, offset, whence } => self.fseek(*stream, *offset, *whence),
            Op::Fflush { stream } => self.fflush(*stream),
            Op::Fclose { stream } => self.fclose(*stream),
            Op::Dprintf { slot, seed } => self.dprintf(*slot, *seed),
            Op::Getline { stream } => self.getline(*stream),
            Op::Freopen { stream, path, mode } => self.freopen(*stream, path, mode),
            Op::Tmpfile { stream } => self.tmpfile(*stream),
            Op::Mkostemp { slot, to, cloexec, call } => self.mkostemp(*slot, to, *cloexec, *call),
            Op::Remove { path } => self.remove(path),
            Op::Fchown { slot } => self.fchown(*slot),
            Op::Splice { from_slot, to_slot, from, to, len } => {
                self.splice(*from_slot, *to_slot, *from, *to, *len)
            }
            Op::CloneFile { from_slot, to_slot } => self.clone_file(*from_slot, *to_slot),
            Op::PassSlot { slot, to_slot, close } => self.pass_slot(*slot, *to_slot, *close),
            Op::Lock { slot, call, kind, start, len } => self.lock(*slot, *call, *kind, *start, *len),
            Op::RawAfterSync { slot } => self.raw_after_sync(*slot),
            Op::RawAfterClose { path } => self.raw_after_close(path),
            Op::Stripes { slot, crew, members, stripe, rounds, seed } => {
                self.stripes(*slot, *crew, *members, *stripe, *rounds, *seed)
            }
            Op::Fork { ops, end, call } => self.fork(at, ops, *end, *call),
            Op::Exec { ops, end, call } => self.exec(at, ops, *end, *call),
            Op::System { command } => self.system(command),
            Op::Spawn { actions, ops, end, searched } => self.spawn(at, actions, ops, *end, *searched),
            Op::Vfork { actions, ops, end } => self.vfork(at, actions, ops, *end),
            Op::Popen { command, input } => self.popen(command, *input),
            Op::Fgetc { stream, back } => self.fgetc(*stream, *back),
            Op::Fputs { stream, seed } => self.fputs(*stream, *seed),
            Op::Rewind { stream } => self.rewind(*stream),
            Op::Fgetpos { stream } => self.fgetpos(*stream),
            Op::Fscanf { stream } => self.fscanf(*stream),
            Op::Getdelim { stream } => self.getdelim(*stream),
            Op::Reopen { stream, mode } => self.reopen(*stream, mode),
            Op::Tmpfile64 { stream } => self.tmpfile64(*stream),
            Op::Map(op) => self.map_op(op),
            Op::Ring(op) => self.ring_op(op),
            Op::Descriptor(op) => self.descriptor_op(op),
            Op::Kernel(op) => self.kernel_op(op),
            Op::Attribute(op) => self.attribute_op(op),
            Op::Scope(op) => self.scope_op(at, op),
            Op::ExecSelf => self.exec_self(at),
            // Carried out by whoever gives out the turns; a process alone has nobody to do it.
            Op::KillWorker => "not here".into(),
        }
    }
}

/// Prints one line with one write, so that lines of several processes do not mix and none is lost.
fn say(line: &str) {
    let text = format!("{line}\n");
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: pointer and length are those of a live slice.
        let written = unsafe { libc::write(1, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(count) => rest = &rest[count..],
            Err(_) => return,
        }
    }
}

/// Ends this process.
fn end(how: End) -> ! {
    match how {
        // SAFETY: ends the process; it has no other threads by now.
        End::Exit => unsafe { libc::exit(0) },
        // SAFETY: as above.
        End::Quick => unsafe { libc::_exit(0) },
        // SAFETY: as above.
        End::Bare => unsafe { aliases::_Exit(0) },
        // SAFETY: ends the process.
        End::Abort => unsafe { libc::abort() },
        // SAFETY: ends the process; nothing is registered with `at_quick_exit`.
        End::QuickExit => unsafe { aliases::quick_exit(0) },
        End::Kill => {
            // SAFETY: a signal to oneself touches no memory.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            loop {
                // SAFETY: waits for the signal.
                unsafe { libc::pause() };
            }
        }
    }
}
