//! Reads, writes and seeks.

use super::actor::{floor, outcome, Actor, Picked, PAGE};
use super::state::MOST;

const O_SYNCS: i32 = libc::O_DSYNC;

/// Splits `len` bytes at `base` into a few pieces.
fn pieces(actor: &mut Actor, base: *mut u8, len: usize, whole: bool) -> Vec<libc::iovec> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < len {
        let left = len - at;
        let last = whole || parts.len() == 7 || actor.random.once_in(3);
        let take = if last { left } else { actor.random.below(left as u64 + 1) as usize };
        parts.push(libc::iovec { iov_base: base.wrapping_add(at).cast(), iov_len: take });
        at += take;
    }
    parts
}

impl Actor {
    /// Moves the offset to `to`.
    fn seek_to(&mut self, picked: &mut Picked, to: usize) {
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::lseek64(picked.slot.fd, to as i64, libc::SEEK_SET) });
        self.expect("lseek", got, Ok(to));
        self.move_to(picked, to);
    }

    /// Notes the offset.
    pub fn move_to(&mut self, picked: &mut Picked, to: usize) {
        picked.d.offset = to;
        self.state.descriptions[picked.slot.description].offset = to;
    }

    /// Where a data operation happens, as its descriptor wants it.
    fn place(&mut self, picked: &mut Picked, positional: bool) -> (usize, usize) {
        let direct = picked.has(libc::O_DIRECT);
        let size = self.state.files[picked.d.file].size;
        if !positional && (picked.d.offset >= MOST || direct && picked.d.offset % PAGE != 0) {
            let to = floor(picked.d.offset % MOST);
            self.seek_to(picked, to);
        }
        let at = if positional { self.offset(size) } else { picked.d.offset };
        let len = self.length();
        if direct {
            (floor(at), len.next_multiple_of(PAGE))
        } else {
            (at, len)
        }
    }

    pub(super) fn read(&mut self, positional: bool) {
        let Some(mut picked) = self.pick_fit(Picked::reads) else { return };
        let (at, len) = self.place(&mut picked, positional);
        let direct = picked.has(libc::O_DIRECT);
        let (fd, file) = (picked.slot.fd, picked.d.file);
        let len = len.min(MOST);
        let base = self.room(len, direct);
        let parts = pieces(self, base, len, direct);
        self.told(&format!(" at {at} len {len}"));
        let (list, count) = (parts.as_ptr(), parts.len() as i32);
        let way = self.random.below(3);
        // SAFETY: all pieces lie in the actor's memory.
        let got = outcome(unsafe {
            match (positional, way) {
                (false, 0) => libc::readv(fd, list, count) as i64,
                (false, _) => libc::read(fd, base.cast(), len) as i64,
                (true, 0) => libc::preadv64(fd, list, count, at as i64) as i64,
                (true, 1) => libc::preadv2(fd, list, count, at as i64, 0) as i64,
                (true, _) => libc::pread64(fd, base.cast(), len, at as i64) as i64,
            }
        });
        let there = self.state.files[file].size.saturating_sub(at).min(len);
        let want = if picked.reads() { Ok(there) } else { Err(libc::EBADF) };
        self.expect("read", got, want);
        if want.is_ok() {
            // SAFETY: the kernel or the pool has just filled so many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(base, there) }.to_vec();
            self.same("read", file, at, &bytes);
            if !positional {
                self.move_to(&mut picked, at + there);
                self.check_offset(&picked);
            }
        }
    }

    /// Asks for the offset now and then.
    fn check_offset(&mut self, picked: &Picked) {
        if self.random.once_in(6) {
            // SAFETY: takes no memory.
            let got = outcome(unsafe { libc::lseek64(picked.slot.fd, 0, libc::SEEK_CUR) });
            self.expect("offset", got, Ok(picked.d.offset));
        }
    }

    pub(super) fn write(&mut self, positional: bool) {
        let Some(mut picked) = self.pick_writer() else { return };
        let (mut at, mut len) = self.place(&mut picked, positional);
        let direct = picked.has(libc::O_DIRECT);
        let asked = at;
        if picked.has(libc::O_APPEND) {
            at = self.state.files[picked.d.file].size;
        }
        len = len.min(MOST - at.min(MOST));
        if len == 0 || direct && (at % PAGE != 0 || len % PAGE != 0) {
            return self.told(" no room there");
        }
        let (fd, file) = (picked.slot.fd, picked.d.file);
        let bytes = self.data(len);
        let base = self.room(len, direct);
        // SAFETY: there is room for so many.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base, len) };
        let parts = pieces(self, base, len, direct);
        let (list, count) = (parts.as_ptr(), parts.len() as i32);
        let sync = if self.random.once_in(40) { libc::RWF_DSYNC } else { 0 };
        self.told(&format!(" at {asked} len {len} lands at {at}"));
        let (way, to) = (self.random.below(4), asked as i64);
        // SAFETY: all pieces lie in the actor's memory.
        let got = outcome(unsafe {
            match (positional, way) {
                (false, 0) => libc::writev(fd, list, count) as i64,
                (false, 1) => libc::pwritev2(fd, list, count, -1, sync) as i64,
                (false, _) => libc::write(fd, base.cast(), len) as i64,
                (true, 0) => libc::pwritev64(fd, list, count, to) as i64,
                (true, 1) => libc::pwritev2(fd, list, count, to, sync) as i64,
                (true, _) => libc::pwrite64(fd, base.cast(), len, to) as i64,
            }
        });
        let want = if picked.writes() { Ok(len) } else { Err(libc::EBADF) };
        self.expect("write", got, want);
        if want.is_err() {
            return;
        }
        self.wrote(file, at, &bytes);
        if !positional {
            self.move_to(&mut picked, at + len);
            self.check_offset(&picked);
        }
        if way == 1 && sync != 0 || picked.has(O_SYNCS) && self.random.once_in(4) {
            self.look(file, "after a synchronous write");
        }
    }

    /// A write at the end by a flag of the call.
    pub(super) fn append_at(&mut self) {
        let Some(picked) = self.pick_writer() else { return };
        let at = self.state.files[picked.d.file].size;
        let len = self.length().min(MOST - at);
        if len == 0 || picked.has(libc::O_DIRECT) {
            return self.told(" no room there");
        }
        let bytes = self.data(len);
        let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: len };
        let offset = self.offset(at) as i64;
        self.told(&format!(" len {len}"));
        // SAFETY: the piece outlives the call.
        let got =
            outcome(unsafe { libc::pwritev2(picked.slot.fd, &part, 1, offset, libc::RWF_APPEND) } as i64);
        let want = if picked.writes() { Ok(len) } else { Err(libc::EBADF) };
        self.expect("append", got, want);
        if want.is_ok() {
            self.wrote(picked.d.file, at, &bytes);
        }
    }

    pub(super) fn seek(&mut self) {
        let Some(mut picked) = self.pick_any() else { return };
        let size = self.state.files[picked.d.file].size;
        let to = self.offset(size);
        let (base, whence) = self.random.pick(&[
            (0, libc::SEEK_SET),
            (picked.d.offset, libc::SEEK_CUR),
            (size, libc::SEEK_END),
        ]);
        let by = to as i64 - base as i64;
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::lseek64(picked.slot.fd, by, whence) });
        self.expect("lseek", got, Ok(to));
        self.move_to(&mut picked, to);
    }

    /// Where data and holes are is the file system's affair; but what is passed over on the way to data must be zeros.
    pub(super) fn seek_sparse(&mut self) {
        let Some(mut picked) = self.pick_any() else { return };
        let file = picked.d.file;
        let size = self.state.files[file].size;
        let from = self.offset(size);
        let whence = self.random.pick(&[libc::SEEK_DATA, libc::SEEK_HOLE]);
        // SAFETY: takes no memory.
        let got = outcome(unsafe { libc::lseek64(picked.slot.fd, from as i64, whence) });
        let reached = match got {
            Ok(to) if to >= from && to <= size && from < size => to,
            Err(libc::ENXIO) if whence == libc::SEEK_DATA || from >= size => size,
            _ => self.fail(&format!("lseek {whence} from {from} of {size} gave {got:?}")),
        };
        self.told(&format!(" {whence} from {from} = {got:?}"));
        if whence == libc::SEEK_DATA && from < size {
            let bytes = self.state.files[file].read(from, reached - from);
            if let Some(at) = bytes.iter().position(|&byte| byte != 0) {
                self.fail(&format!("no data is said to be at {}, where there is some", from + at));
            }
        }
        if let Ok(to) = got {
            self.move_to(&mut picked, to);
        }
    }

    /// Two threads that write beside each other, and one that reads what they leave alone.
    pub(super) fn threads(&mut self) {
        let Some(picked) = self.pick_fit(|p| p.reads() && p.writes()) else { return };
        let (fd, file) = (picked.slot.fd, picked.d.file);
        let size = self.state.files[file].size;
        let at = self.offset(size);
        let (one, two) = (self.length().min(MOST / 4), self.length().min(MOST / 4));
        let unfit = !picked.writes() || !picked.reads() || picked.has(libc::O_DIRECT | libc::O_APPEND);
        if unfit || at + one + two > MOST {
            return self.told(" not this one");
        }
        let (first, second) = (self.data(one), self.data(two));
        let beyond = (at + one + two, size.saturating_sub(at + one + two).min(100_000));
        let (from, left) = if self.random.once_in(2) { (0, at.min(size).min(100_000)) } else { beyond };
        self.told(&format!(" at {at} lens {one} {two} reads {from} len {left}"));
        let mut found = vec![0; left];
        let room = &mut found;
        let put = |bytes: &[u8], at: usize| {
            // SAFETY: the bytes outlive the call.
            outcome(unsafe { libc::pwrite64(fd, bytes.as_ptr().cast(), bytes.len(), at as i64) } as i64)
        };
        let (a, b, c) = std::thread::scope(|scope| {
            let a = scope.spawn(|| put(&first, at));
            let b = scope.spawn(|| put(&second, at + one));
            let c = scope.spawn(move || {
                // SAFETY: the room outlives the call.
                outcome(unsafe { libc::pread64(fd, room.as_mut_ptr().cast(), left, from as i64) } as i64)
            });
            (a.join(), b.join(), c.join())
        });
        self.expect("first write", a.expect("thread"), Ok(one));
        self.expect("second write", b.expect("thread"), Ok(two));
        self.expect("read", c.expect("thread"), Ok(left));
        self.wrote(file, at, &first);
        self.wrote(file, at + one, &second);
        self.same("read beside writes", file, from, &found);
    }
}
