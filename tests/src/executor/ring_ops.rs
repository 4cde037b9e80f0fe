//! POSIX asynchronous I/O, libaio and io_uring, each request waited for before the next step.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::calls;
use super::memory::Memory;
use super::outcome::Outcome;
use super::uring::Ring;
use super::Process;
use crate::data;
use crate::script::op::{Buffer, Request, RingOp};

/// Most requests of one list.
const REQUESTS_MAX: usize = 6;

/// Memory of a request, filled if it writes.
fn memory(request: &Request) -> Memory {
    let mut memory = Memory::new(request.len as usize, Buffer::Good);
    if request.write {
        data::fill(request.seed, memory.bytes());
    }
    memory
}

/// What a request gave, with what it read.
fn show(request: &Request, memory: &mut Memory, result: i64) -> String {
    let bytes = memory.bytes();
    let seen = if request.write { 0 } else { usize::try_from(result).unwrap_or(0).min(bytes.len()) };
    format!("= {result} [{}] ", data::show(&bytes[..seen]))
}

/// A control block of POSIX asynchronous I/O; zero where nothing is asked.
fn control_block(fd: i32, request: &Request, memory: &Memory) -> libc::aiocb {
    // SAFETY: integers, a union of pointers and an enumeration that zero is a value of.
    let mut control: libc::aiocb = unsafe { std::mem::zeroed() };
    control.aio_fildes = fd;
    control.aio_buf = memory.pointer().cast();
    control.aio_nbytes = request.len as usize;
    control.aio_offset = request.offset;
    control.aio_lio_opcode = if request.write { libc::LIO_WRITE } else { libc::LIO_READ };
    control.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
    control
}

/// Waits for a control block; gives its value, or its error as a negative number.
fn finish(control: &mut libc::aiocb) -> i64 {
    let list = [&raw const *control];
    // SAFETY: the control block is alive.
    while unsafe { libc::aio_error(control) } == libc::EINPROGRESS {
        // SAFETY: the list holds one live control block.
        unsafe { libc::aio_suspend(list.as_ptr(), 1, std::ptr::null()) };
    }
    // SAFETY: the operation has ended.
    let (error, value) = unsafe { (libc::aio_error(control), libc::aio_return(control)) };
    if error == 0 {
        value as i64
    } else {
        -i64::from(error)
    }
}

/// The process whose asynchronous I/O has threads: its children have none and would wait for them.
static THREADED: AtomicI32 = AtomicI32::new(0);

/// Whether POSIX asynchronous I/O can be used here.
fn has_threads() -> bool {
    // SAFETY: takes nothing.
    let pid = unsafe { libc::getpid() };
    let owner = THREADED.compare_exchange(0, pid, Relaxed, Relaxed);
    owner.is_ok() || owner == Err(pid)
}

impl Process {
    pub(super) fn ring_op(&self, op: &RingOp) -> String {
        match op {
            RingOp::Aio { .. } | RingOp::AioFsync { .. } | RingOp::List { .. } if !has_threads() => {
                "in a child".into()
            }
            RingOp::Aio { slot, request, wide } => self.aio(*slot, request, *wide),
            RingOp::AioFsync { slot, data_only } => self.aio_fsync(*slot, *data_only),
            RingOp::List { slot, requests, wait, wide } => self.aio_list(*slot, requests, *wait, *wide),
            RingOp::Libaio { slot, requests, vectored, sync } => {
                self.libaio(*slot, requests, *vectored, *sync)
            }
            RingOp::Uring { slot, requests, sync } => self.uring(*slot, requests, *sync),
        }
    }

    fn aio(&self, slot: u8, request: &Request, wide: bool) -> String {
        let fd = self.fd(slot);
        let mut memory = memory(request);
        let mut control = control_block(fd, request, &memory);
        let pointer = &raw mut control;
        // SAFETY: control block and buffer stay where they are until the operation has ended.
        let started = unsafe {
            match (request.write, wide) {
                (true, false) => libc::aio_write(pointer),
                (false, false) => libc::aio_read(pointer),
                (true, true) => super::aliases::aio_write64(pointer),
                (false, true) => super::aliases::aio_read64(pointer),
            }
        };
        if started != 0 {
            return format!("not started {:?}", nix::errno::Errno::last());
        }
        let value = finish(&mut control);
        show(request, &mut memory, value) + &self.position(fd)
    }

    fn aio_fsync(&self, slot: u8, data_only: bool) -> String {
        let request = Request { write: false, offset: 0, len: 0, seed: 0 };
        let memory = memory(&request);
        let mut control = control_block(self.fd(slot), &request, &memory);
        let kind = if data_only { libc::O_DSYNC } else { libc::O_SYNC };
        // SAFETY: the control block stays where it is until the operation has ended.
        let started = unsafe {
            if slot % 2 == 0 {
                libc::aio_fsync(kind, &mut control)
            } else {
                super::aliases::aio_fsync64(kind, &mut control)
            }
        };
        if started != 0 {
            return format!("not started {:?}", nix::errno::Errno::last());
        }
        format!("= {}", finish(&mut control))
    }

    fn aio_list(&self, slot: u8, requests: &[Request], wait: bool, wide: bool) -> String {
        let fd = self.fd(slot);
        let requests = &requests[..requests.len().min(REQUESTS_MAX)];
        let mut memories: Vec<Memory> = requests.iter().map(memory).collect();
        let mut controls: Vec<libc::aiocb> = requests
            .iter()
            .zip(&memories)
            .map(|(request, memory)| control_block(fd, request, memory))
            .collect();
        let mut list: Vec<*mut libc::aiocb> =
            controls.iter_mut().map(|control| control as *mut libc::aiocb).collect();
        let mode = if wait { libc::LIO_WAIT } else { libc::LIO_NOWAIT };
        // SAFETY: control blocks and buffers stay where they are until the operations have ended. Those of one
        // descriptor are done one after the other.
        let outcome = Outcome::of(|| unsafe {
            let count = list.len() as i32;
            if wide {
                super::aliases::lio_listio64(mode, list.as_mut_ptr(), count, std::ptr::null_mut())
            } else {
                libc::lio_listio(mode, list.as_mut_ptr(), count, std::ptr::null_mut())
            }
        });
        let mut text = format!("= {} ", outcome.value);
        for (control, (request, memory)) in controls.iter_mut().zip(requests.iter().zip(&mut memories)) {
            text += &show(request, memory, finish(control));
        }
        text + &self.position(fd)
    }

    fn libaio(&self, slot: u8, requests: &[Request], vectored: bool, sync: bool) -> String {
        #[repr(C)]
        #[derive(Default)]
        struct Block {
            data: u64,
            key: u32,
            rw_flags: i32,
            opcode: u16,
            priority: i16,
            fd: u32,
            buffer: u64,
            bytes: u64,
            offset: i64,
            reserved: u64,
            flags: u32,
            event: u32,
        }
        let fd = self.fd(slot);
        let requests = &requests[..requests.len().min(REQUESTS_MAX)];
        let mut context = 0_u64;
        // SAFETY: the context is filled in.
        let set_up = Outcome::of(|| unsafe { libc::syscall(libc::SYS_io_setup, 8, &raw mut context) });
        if !set_up.is_ok() {
            return format!("set-up {set_up}");
        }
        let mut text = String::new();
        let mut submit = |mut block: Block| {
            block.fd = fd as u32;
            let list = [&raw mut block];
            let mut event = [0_u64; 4];
            // SAFETY: the block and all that it points to outlive the wait for it.
            unsafe {
                let sent = Outcome::of(|| libc::syscall(libc::SYS_io_submit, context, 1, list.as_ptr()));
                if sent.value != 1 {
                    text += &format!("submit {sent} ");
                    return None;
                }
                let none = std::ptr::null::<libc::timespec>();
                libc::syscall(libc::SYS_io_getevents, context, 1, 1, event.as_mut_ptr(), none);
            }
            Some(event[2] as i64)
        };
        let mut shown = Vec::new();
        for request in requests {
            let mut memory = memory(request);
            let vector = libc::iovec { iov_base: memory.pointer().cast(), iov_len: request.len as usize };
            let (opcode, buffer, bytes) = match (request.write, vectored) {
                (false, false) => (0, memory.pointer() as u64, request.len.into()),
                (true, false) => (1, memory.pointer() as u64, request.len.into()),
                (false, true) => (7, &raw const vector as u64, 1),
                (true, true) => (8, &raw const vector as u64, 1),
            };
            let block = Block { opcode, buffer, bytes, offset: request.offset, ..Block::default() };
            if let Some(result) = submit(block) {
                shown.push(show(request, &mut memory, result));
            }
        }
        if sync {
            if let Some(result) = submit(Block { opcode: 2, ..Block::default() }) {
                shown.push(format!("sync = {result} "));
            }
        }
        // SAFETY: the context is this operation's own, and nothing is under way in it.
        unsafe { libc::syscall(libc::SYS_io_destroy, context) };
        text + &shown.concat() + &self.position(fd)
    }

    fn uring(&self, slot: u8, requests: &[Request], sync: bool) -> String {
        let fd = self.fd(slot);
        let mut ring = match Ring::new() {
            Ok(ring) => ring,
            Err(outcome) => return format!("set-up {outcome}"),
        };
        let mut text = String::new();
        for request in requests.iter().take(REQUESTS_MAX) {
            let mut memory = memory(request);
            let result = ring.transfer(fd, request.write, &memory, request.len, request.offset);
            text += &show(request, &mut memory, result);
        }
        if sync {
            text += &format!("sync = {} ", ring.fsync(fd));
        }
        drop(ring);
        let by_number = if calls::by_number() { " by number" } else { "" };
        text + &self.position(fd) + by_number
    }
}
