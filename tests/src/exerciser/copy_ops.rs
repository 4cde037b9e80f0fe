//! Copies from file to file that the kernel makes, and descriptors that go through a socket.

use super::actor::{outcome, Actor, Picked};
use super::state::{Slot, MOST, SLOTS};

/// A copy: where from, where to, how much.
struct Copy {
    from: Picked,
    to: Picked,
    source: usize,
    target: usize,
    len: usize,
    /// Whether source and target are given in the call, rather than the descriptions' offsets.
    given: (bool, bool),
}

impl Actor {
    fn copy(&mut self) -> Option<Copy> {
        let (from, to) = (self.pick_fit(Picked::reads)?, self.pick_writer()?);
        let sizes = (self.state.files[from.d.file].size, self.state.files[to.d.file].size);
        let given = (self.random.once_in(2), self.random.once_in(2));
        let source = if given.0 { self.offset(sizes.0) } else { from.d.offset };
        let target = if given.1 { self.offset(sizes.1) } else { to.d.offset };
        let len = self.length().min(MOST.saturating_sub(target));
        self.told(&format!(" {source} to {target} len {len} given {given:?}"));
        let one_offset = from.slot.description == to.slot.description && (!given.0 || !given.1);
        if len == 0 || one_offset || from.has(libc::O_DIRECT) || to.has(libc::O_DIRECT) {
            self.told(" not this one");
            return None;
        }
        Some(Copy { from, to, source, target, len, given })
    }

    fn overlaps(&self, copy: &Copy, len: usize) -> bool {
        copy.from.d.file == copy.to.d.file
            && copy.target + len > copy.source
            && copy.target < copy.source + len
    }

    /// How many bytes there are to copy.
    fn there(&self, copy: &Copy) -> usize {
        self.state.files[copy.from.d.file].size.saturating_sub(copy.source).min(copy.len)
    }

    /// Follows a copy of `done` bytes.
    fn copied(&mut self, mut copy: Copy, done: usize) {
        let bytes = self.state.files[copy.from.d.file].read(copy.source, done).to_vec();
        self.wrote(copy.to.d.file, copy.target, &bytes);
        if !copy.given.0 {
            self.move_to(&mut copy.from, copy.source + done);
        }
        if !copy.given.1 {
            self.move_to(&mut copy.to, copy.target + done);
        }
    }

    /// Takes what a copy gave: some of what there was, or the right failure.
    fn judge(&mut self, what: &str, copy: Copy, got: Result<usize, i32>, failure: Option<i32>) {
        let there = self.there(&copy);
        let want = match (failure, got) {
            (Some(errno), _) => Err(errno),
            (None, Ok(done)) if done >= 1 && done <= there => Ok(done),
            (None, _) => Ok(there),
        };
        self.expect(what, got, want);
        if let Ok(done) = want {
            self.copied(copy, done);
        }
    }

    pub(super) fn copy_range(&mut self) {
        let Some(copy) = self.copy() else { return };
        let (mut source, mut target) = (copy.source as i64, copy.target as i64);
        let null = std::ptr::null_mut();
        let from = if copy.given.0 { &mut source } else { null };
        let to = if copy.given.1 { &mut target } else { null };
        // SAFETY: the offsets outlive the call.
        let got = outcome(unsafe {
            libc::copy_file_range(copy.from.slot.fd, from, copy.to.slot.fd, to, copy.len, 0)
        } as i64);
        let failure = if !copy.from.reads() || !copy.to.writes() || copy.to.has(libc::O_APPEND) {
            Some(libc::EBADF)
        } else {
            self.overlaps(&copy, self.there(&copy)).then_some(libc::EINVAL)
        };
        let (given, ends) = (copy.given, (copy.source, copy.target));
        self.judge("copy_file_range", copy, got, failure);
        let moved = got.unwrap_or(0);
        if given.0 {
            self.expect("source offset", Ok(source as usize), Ok(ends.0 + moved));
        }
        if given.1 {
            self.expect("target offset", Ok(target as usize), Ok(ends.1 + moved));
        }
    }

    pub(super) fn send_file(&mut self) {
        let Some(mut copy) = self.copy() else { return };
        if copy.from.d.file == copy.to.d.file {
            // What the call itself puts behind the end would be read in turn.
            copy.len = copy.len.min(self.there(&copy));
        }
        if copy.len == 0
            || copy.given.1
            || self.overlaps(&copy, copy.len)
            || !copy.from.reads()
            || !copy.to.writes()
        {
            return self.told(" not this one");
        }
        let mut source = copy.source as i64;
        let from = if copy.given.0 { &mut source } else { std::ptr::null_mut() };
        // SAFETY: the offset outlives the call.
        let got =
            outcome(unsafe { libc::sendfile64(copy.to.slot.fd, copy.from.slot.fd, from, copy.len) } as i64);
        let failure = copy.to.has(libc::O_APPEND).then_some(libc::EINVAL);
        self.judge("sendfile", copy, got, failure);
    }

    /// File to pipe, pipe to file.
    pub(super) fn splice(&mut self) {
        let Some(mut copy) = self.copy() else { return };
        copy.len = copy.len.min(60_000);
        let unfit = !copy.from.reads() || !copy.to.writes() || copy.to.has(libc::O_APPEND);
        let there = self.there(&copy);
        if unfit || self.overlaps(&copy, copy.len) || there == 0 {
            return self.told(" not this one");
        }
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0, "pipe");
        let null = std::ptr::null_mut();
        let mut source = copy.source as i64;
        let from = if copy.given.0 { &mut source } else { null };
        // SAFETY: the offset outlives the call.
        let got =
            outcome(unsafe { libc::splice(copy.from.slot.fd, from, ends[1], null, copy.len, 0) } as i64);
        let in_pipe = got.unwrap_or(0);
        self.expect("splice in", got, Ok(if (1..=there).contains(&in_pipe) { in_pipe } else { there }));
        let mut target = copy.target as i64;
        let mut done = 0;
        while done < in_pipe {
            let to = if copy.given.1 { &mut target } else { null };
            // SAFETY: the offset outlives the call.
            let got = outcome(
                unsafe { libc::splice(ends[0], null, copy.to.slot.fd, to, in_pipe - done, 0) } as i64
            );
            let part = got.unwrap_or(0);
            self.expect("splice out", got, Ok(part.clamp(1, in_pipe - done)));
            done += part;
        }
        for end in ends {
            // SAFETY: this operation's own.
            unsafe { libc::close(end) };
        }
        self.copied(copy, done);
    }

    /// Sends a descriptor to ourselves.
    pub(super) fn pass(&mut self) {
        let Some(picked) = self.pick_any() else { return };
        let index = self.random.below(SLOTS as u64) as usize;
        if index == picked.index {
            return self.told(" onto itself");
        }
        self.close_slot(index);
        let Some(fd) = through_a_socket(picked.slot.fd) else {
            self.fail("a descriptor that was sent did not come")
        };
        self.told(&format!(" comes as {fd}"));
        let description = picked.slot.description;
        self.state.descriptions[description].refs += 1;
        self.state.roles[self.role].slots[index] = Some(Slot { fd, description, cloexec: false });
    }
}

/// Sends a descriptor through a pair of sockets; gives its copy.
fn through_a_socket(fd: i32) -> Option<i32> {
    let mut ends = [0; 2];
    let room = libc::SCM_RIGHTS as usize + 64;
    let (mut out, mut back) = (vec![0u64; room / 8 + 1], vec![0u64; room / 8 + 1]);
    let mut byte = 0u8;
    // SAFETY: every pointer is to a local that outlives the calls; the control buffers are aligned and long enough for one descriptor.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) != 0
        {
            return None;
        }
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
        message.msg_control = out.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as usize;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as usize;
        libc::CMSG_DATA(header).cast::<i32>().write_unaligned(fd);
        let sent = libc::sendmsg(ends[0], &message, 0);
        message.msg_control = back.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as usize;
        let came = libc::recvmsg(ends[1], &mut message, 0);
        libc::close(ends[0]);
        libc::close(ends[1]);
        let header = libc::CMSG_FIRSTHDR(&message);
        if sent != 1 || came != 1 || header.is_null() {
            return None;
        }
        Some(libc::CMSG_DATA(header).cast::<i32>().read_unaligned())
    }
}
