//! Operations on descriptors that programs need more rarely, and descriptors that travel between processes.

use std::os::fd::RawFd;

use super::calls;
use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::op::{CloseMany, Control, DescriptorOp};
use crate::script::{NEVER_OPEN, SLOTS};

/// Lowest number of the sockets that the processes of a script share.
const MAIL_FD_MIN: i32 = 600;
/// Most descriptors in one message.
const RIGHTS_MAX: usize = 4;
/// Room for the control part of a message.
const CONTROL_ROOM: usize = 64;

const FS_IOC_GETFLAGS: libc::c_ulong = 0x8008_6601;
const FS_IOC_FIEMAP: libc::c_ulong = 0xc020_660b;

/// Sockets: what goes into the first comes out of the second.
pub fn mail_sockets() -> [RawFd; 2] {
    let mut pair = [0; 2];
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) }, 0, "sockets");
    pair.map(|low| {
        // SAFETY: takes no memory; the low number is not used again.
        unsafe {
            let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, MAIL_FD_MIN);
            libc::close(low);
            high
        }
    })
}

/// A message with descriptors, and all that it points to.
struct Message {
    byte: [u8; 1],
    vector: libc::iovec,
    control: [u64; CONTROL_ROOM / 8],
    header: libc::mmsghdr,
}

impl Message {
    fn new(rights: &[RawFd]) -> Box<Message> {
        // SAFETY: integers and pointers, for which zero is a value.
        let mut message: Box<Message> = Box::new(unsafe { std::mem::zeroed() });
        message.byte = [b'x'];
        message.vector = libc::iovec { iov_base: message.byte.as_mut_ptr().cast(), iov_len: 1 };
        let header = &mut message.header.msg_hdr;
        header.msg_iov = &raw mut message.vector;
        header.msg_iovlen = 1;
        header.msg_control = message.control.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_ROOM as _;
        if rights.is_empty() {
            return message;
        }
        let len = size_of_val(rights) as u32;
        // SAFETY: the control part has room for the header and `RIGHTS_MAX` descriptors.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(len) as _;
            let first = libc::CMSG_FIRSTHDR(header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(len) as _;
            for (index, right) in rights.iter().enumerate() {
                libc::CMSG_DATA(first).cast::<RawFd>().add(index).write_unaligned(*right);
            }
        }
        message
    }

    fn rights(&self) -> Vec<RawFd> {
        let header = &self.header.msg_hdr;
        let mut rights = Vec::new();
        // SAFETY: the kernel has filled in the control part that the header points to.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(header);
            if first.is_null() || (*first).cmsg_type != libc::SCM_RIGHTS {
                return rights;
            }
            let bytes = (*first).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            for index in 0..bytes / size_of::<RawFd>() {
                rights.push(libc::CMSG_DATA(first).cast::<RawFd>().add(index).read_unaligned());
            }
        }
        rights
    }
}

impl Process {
    pub(super) fn descriptor_op(&mut self, op: &DescriptorOp) -> String {
        match op {
            DescriptorOp::Dup3 { slot, to_slot, flags } => {
                let (fd, target) = (self.fd(*slot), self.target(*to_slot));
                // SAFETY: takes no memory.
                let outcome = Outcome::of(|| unsafe { calls::dup3(fd, target, *flags) });
                self.set_fd(*to_slot, outcome.int());
                format!("{outcome}{}", self.position(outcome.int()))
            }
            DescriptorOp::CloseMany { from_slot, to_slot, how } => {
                self.close_many(*from_slot, *to_slot, *how)
            }
            DescriptorOp::Lease { slot, kind } => self.lease(*slot, *kind),
            DescriptorOp::AskDescription { slot, kind, start, len } => {
                self.ask_description(*slot, *kind, *start, *len)
            }
            DescriptorOp::Lockf { slot, command, len } => {
                let fd = self.fd(*slot);
                // SAFETY: takes no memory.
                Outcome::of(|| unsafe {
                    if len % 2 == 0 {
                        libc::lockf(fd, *command, *len)
                    } else {
                        super::aliases::lockf64(fd, *command, *len)
                    }
                })
                .to_string()
            }
            DescriptorOp::Poll { slot } => {
                let mut poll =
                    libc::pollfd { fd: self.fd(*slot), events: libc::POLLIN | libc::POLLOUT, revents: 0 };
                // SAFETY: the structure outlives the call.
                let outcome = Outcome::of(|| unsafe { libc::poll(&mut poll, 1, 0) });
                format!("{outcome} events {:#x}", poll.revents)
            }
            DescriptorOp::Epoll { slot } => self.epoll(*slot),
            DescriptorOp::Ioctl { slot, control } => self.control(*slot, *control),
            DescriptorOp::Ask { slot, command } => {
                let fd = self.fd(*slot);
                // SAFETY: the commands that scripts ask take a number or nothing.
                Outcome::of(|| unsafe { calls::fcntl(fd, *command, fd as usize) }).to_string()
            }
            DescriptorOp::Readlink { slot } => self.read_link(&format!("/proc/self/fd/{}", self.fd(*slot))),
            DescriptorOp::Pidfd { slot, to_slot, parent } => self.pidfd(*slot, *to_slot, *parent),
            DescriptorOp::Mail { slots, close, many } => self.mail_out(slots, *close, *many),
            DescriptorOp::Fetch { to_slots, cloexec, peek, many } => {
                self.mail_in(to_slots, *cloexec, *peek, *many)
            }
            DescriptorOp::ByHandle { slot, path, flags } => self.by_handle(*slot, path, flags.0),
            DescriptorOp::OpenHow { slot, path, flags, mode, resolve, extra } => {
                self.open_how(*slot, path, flags.0, *mode, *resolve, *extra)
            }
            DescriptorOp::LinkEmpty { slot, to } => {
                let (fd, to) = (self.fd(*slot), self.path(to));
                // SAFETY: the paths are live C strings.
                Outcome::of(|| unsafe {
                    calls::linkat(fd, c"".as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_EMPTY_PATH)
                })
                .to_string()
            }
        }
    }

    fn close_many(&mut self, from_slot: u8, to_slot: u8, how: CloseMany) -> String {
        let (first, last) = (self.fd(from_slot), self.fd(to_slot));
        // The executor's own descriptors lie below every slot's first.
        if first < 3 || from_slot == NEVER_OPEN || to_slot == NEVER_OPEN {
            return "closed".into();
        }
        let (low, high) = (first as u32, if last < 0 { first as u32 } else { last as u32 });
        if how == CloseMany::From {
            // What measures held mappings would go too, and so do the sockets.
            self.forget_high_descriptors();
        }
        // SAFETY: closes descriptors of slots, and of nobody else below the shared sockets.
        let outcome = Outcome::of(|| unsafe {
            match how {
                CloseMany::Range => calls::close_range(low, high, 0),
                CloseMany::Cloexec => calls::close_range(low, high, libc::CLOSE_RANGE_CLOEXEC as i32),
                CloseMany::Unshare => calls::close_range(low, high, libc::CLOSE_RANGE_UNSHARE as i32),
                CloseMany::BadFlag => calls::close_range(low, high, 0x40),
                CloseMany::From => {
                    super::aliases::closefrom(first);
                    0
                }
            }
        });
        if outcome.is_ok() && how != CloseMany::Cloexec {
            let last = if how == CloseMany::From { i32::MAX } else { high as i32 };
            for slot in &mut self.slots {
                if (first..=last).contains(slot) {
                    *slot = -1;
                }
            }
        }
        outcome.to_string()
    }

    fn lease(&self, slot: u8, kind: i32) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let steps = [(libc::F_SETLEASE, kind), (libc::F_GETLEASE, 0), (libc::F_SETLEASE, libc::F_UNLCK)].map(
            |(command, argument)| {
                // SAFETY: takes no memory.
                Outcome::of(|| unsafe { calls::fcntl(fd, command, argument as usize) }).to_string()
            },
        );
        steps.join(" ")
    }

    fn ask_description(&self, slot: u8, kind: i32, start: i64, len: i64) -> String {
        let fd = self.fd(slot);
        // SAFETY: all fields are integers, for which zero is a value.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as i16;
        lock.l_start = start;
        lock.l_len = len;
        // SAFETY: the structure outlives the call.
        let outcome = Outcome::of(|| unsafe { calls::fcntl(fd, libc::F_OFD_GETLK, &raw mut lock as usize) });
        format!("{outcome} type {} start {} len {}", lock.l_type, lock.l_start, lock.l_len)
    }

    fn epoll(&self, slot: u8) -> String {
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let instance = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: the structure outlives the call.
        let outcome =
            Outcome::of(|| unsafe { libc::epoll_ctl(instance, libc::EPOLL_CTL_ADD, fd, &mut event) });
        // SAFETY: the instance is this operation's own.
        unsafe { libc::close(instance) };
        outcome.to_string()
    }

    fn control(&self, slot: u8, control: Control) -> String {
        let fd = self.fd(slot);
        let mut words = [0_u64; 16];
        let request = match control {
            Control::Fionread => libc::FIONREAD,
            Control::Fionbio => libc::FIONBIO,
            Control::Fioclex => libc::FIOCLEX,
            Control::Fionclex => libc::FIONCLEX,
            Control::Figetbsz => 2,
            Control::GetFlags => FS_IOC_GETFLAGS,
            Control::Fiemap => {
                // From 0 to the end, synced, only counted.
                words[1] = u64::MAX;
                words[2] = 1;
                FS_IOC_FIEMAP
            }
            Control::Terminal => libc::TCGETS,
        };
        // SAFETY: the words are more than any of these requests writes.
        let outcome = Outcome::of(|| unsafe { calls::ioctl(fd, request as _, words.as_mut_ptr() as usize) });
        match control {
            Control::Fionread => format!("{outcome} {}", words[0] as i32),
            // How many extents there are is the file system's affair, but not whether there are any.
            Control::Fiemap => format!("{outcome} {}", words[2] >> 32 != 0),
            _ => outcome.to_string(),
        }
    }

    /// A link without what is different in every run.
    pub(super) fn read_link(&self, path: &str) -> String {
        match std::fs::read_link(path) {
            Ok(target) => {
                let target = target.to_string_lossy().replace(&self.root, "@");
                let steady = target.split(['#', ':']).next().unwrap_or_default();
                format!("-> {steady}")
            }
            Err(error) => format!("errno {:?}", error.raw_os_error()),
        }
    }

    fn pidfd(&mut self, slot: u8, to_slot: u8, parent: bool) -> String {
        // SAFETY: takes no memory. Only a child of a process of the script has such a parent.
        let pid = unsafe {
            if parent && self.is_child {
                libc::getppid()
            } else {
                libc::getpid()
            }
        };
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let outcome = Outcome::of(|| unsafe {
            let pidfd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            let got = libc::syscall(libc::SYS_pidfd_getfd, pidfd, fd, 0);
            let errno = *libc::__errno_location();
            libc::close(pidfd as i32);
            *libc::__errno_location() = errno;
            got
        });
        self.take_over(to_slot, outcome)
    }

    fn mail_out(&mut self, slots: &[u8], close: bool, many: bool) -> String {
        let rights: Vec<RawFd> = slots.iter().take(RIGHTS_MAX).map(|slot| self.fd(*slot)).collect();
        let mut message = Message::new(&rights);
        let Some([socket, _]) = self.mail else { return "no sockets".into() };
        // SAFETY: the message and all that it points to outlive the call.
        let outcome = Outcome::of(|| unsafe {
            if many {
                i64::from(libc::sendmmsg(socket, &mut message.header, 1, 0))
            } else {
                calls::sendmsg(socket, &message.header.msg_hdr, 0) as i64
            }
        });
        let mut text = outcome.to_string();
        if close && outcome.is_ok() {
            for slot in slots.iter().take(RIGHTS_MAX) {
                // In between only the socket keeps the file open.
                text += &format!(" close {}", self.close(*slot));
            }
        }
        text
    }

    fn mail_in(&mut self, to_slots: &[u8], cloexec: bool, peek: bool, many: bool) -> String {
        let mut message = Message::new(&[]);
        let Some([_, socket]) = self.mail else { return "no sockets".into() };
        let flags = libc::MSG_DONTWAIT
            | if cloexec { libc::MSG_CMSG_CLOEXEC } else { 0 }
            | if peek { libc::MSG_PEEK } else { 0 };
        // SAFETY: the message and all that it points to outlive the call.
        let outcome = Outcome::of(|| unsafe {
            if many {
                i64::from(libc::recvmmsg(socket, &mut message.header, 1, flags, std::ptr::null_mut()))
            } else {
                calls::recvmsg(socket, &mut message.header.msg_hdr, flags) as i64
            }
        });
        let mut text = outcome.to_string();
        if !outcome.is_ok() {
            return text;
        }
        for (index, right) in message.rights().into_iter().enumerate() {
            let to_slot = to_slots.get(index).copied().unwrap_or((index % SLOTS) as u8);
            text +=
                &format!(" received {}", self.take_over(to_slot, Outcome { value: right.into(), errno: 0 }));
        }
        text
    }

    fn by_handle(&mut self, slot: u8, path: &str, flags: i32) -> String {
        #[repr(C)]
        struct Handle {
            bytes: u32,
            kind: i32,
            data: [u8; 128],
        }
        let mut handle = Handle { bytes: 128, kind: 0, data: [0; 128] };
        let (path, mut mount) = (self.path(path), 0_i32);
        // SAFETY: the path is a live C string, handle and number outlive the call.
        let named = Outcome::of(|| unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                libc::AT_FDCWD,
                path.as_ptr(),
                &raw mut handle,
                &raw mut mount,
                libc::AT_SYMLINK_FOLLOW,
            )
        });
        if !named.is_ok() {
            return named.to_string();
        }
        // SAFETY: the handle outlives the call.
        let outcome = Outcome::of(|| unsafe {
            if calls::by_number() {
                libc::syscall(libc::SYS_open_by_handle_at, libc::AT_FDCWD, &raw mut handle, flags) as i32
            } else {
                super::aliases::open_by_handle_at(libc::AT_FDCWD, (&raw mut handle).cast(), flags)
            }
        });
        self.take_over(slot, outcome)
    }

    fn open_how(&mut self, slot: u8, path: &str, flags: i32, mode: u64, resolve: u64, extra: u8) -> String {
        let path = self.path(path);
        let how = [flags as u64, mode, resolve, u64::from(extra)];
        let size = if extra > 2 { extra.into() } else { 24 + 8 * usize::from(extra > 0) };
        // SAFETY: the path is a live C string; the kernel reads no more words than there are.
        let outcome = Outcome::of(|| unsafe {
            libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, path.as_ptr(), how.as_ptr(), size.min(32))
        });
        self.take_over(slot, outcome)
    }

    pub(super) fn attribute_bytes(seed: u32) -> Vec<u8> {
        data::pattern(seed, 1 + seed as usize % 40)
    }
}
