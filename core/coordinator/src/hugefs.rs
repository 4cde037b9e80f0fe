//! A file in huge pages: on a tmpfs of our own that is mounted nowhere.
//!
//! The mount is made by descriptor and never attached to a directory, so nothing of it is visible in the system, and it goes with the last
//! descriptor of the file. Who may not mount does it in a short-lived child inside a user namespace of its own.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::CloneFlags;
use rustix::fs::{openat, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, FsMountFlags, FsOpenFlags, MountAttrFlags,
};
use rustix::net::{
    recvmsg, sendmsg, socketpair, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::{waitpid, Pid, WaitOptions};

use crate::process;

/// Room for the file system's own bookkeeping.
const SLACK: u64 = 4 << 20;

/// An empty unnamed file that will lie in huge pages, with room for `length` bytes.
pub fn file(length: u64) -> Result<OwnedFd, Errno> {
    match mounted(length) {
        Err(Errno::PERM | Errno::ACCESS) => in_namespace(length),
        other => other,
    }
}

fn mounted(length: u64) -> Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "source", "millpond")?;
    fsconfig_set_string(context.as_fd(), "huge", "always")?;
    fsconfig_set_string(context.as_fd(), "size", (length + SLACK).to_string())?;
    fsconfig_set_string(context.as_fd(), "mode", "0700")?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    openat(&mount, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
}

fn in_namespace(length: u64) -> Result<OwnedFd, Errno> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let child = process::fork(|| {
        let made = enter_namespace(uid, gid)
            .and_then(|()| mounted(length))
            .and_then(|file| hand_over(&theirs, &file));
        made.map_or_else(Errno::raw_os_error, |()| 0)
    })
    .map_err(|e| Errno::from_raw_os_error(e.0))?;
    drop(theirs);
    let taken = take_over(&ours);
    let status = loop {
        match waitpid(Pid::from_raw(child as i32), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    match (taken, status.and_then(|(_, status)| status.exit_status())) {
        (Some(file), _) => Ok(file),
        (None, Some(code)) if code > 0 => Err(Errno::from_raw_os_error(code)),
        _ => Err(Errno::IO),
    }
}

fn enter_namespace(uid: u32, gid: u32) -> Result<(), Errno> {
    let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    nix::sched::unshare(flags).map_err(|e| Errno::from_raw_os_error(e as i32))?;
    let write = |path: &str, text: String| {
        std::fs::write(path, text)
            .map_err(|e| Errno::from_raw_os_error(e.raw_os_error().unwrap_or(libc::EIO)))
    };
    // Without that a user may not map a group.
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

fn hand_over(socket: &OwnedFd, file: &OwnedFd) -> Result<(), Errno> {
    let fds = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(socket, &[IoSlice::new(b"f")], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
}

fn take_over(socket: &OwnedFd) -> Option<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; 1];
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC).ok()?;
    let mut fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    fds.next()
}
