//! Standard input and output streams, whose calls into the kernel are libc's own.

use std::ffi::CString;

use super::outcome::Outcome;
use super::Process;
use crate::data;
use crate::script::STREAMS;

impl Process {
    fn stream(&self, stream: u8) -> Option<*mut libc::FILE> {
        let file = self.streams[usize::from(stream) % STREAMS];
        (!file.is_null()).then_some(file)
    }

    /// Does something with a stream and shows the result with the stream's state.
    fn with_stream(&self, stream: u8, call: impl FnOnce(*mut libc::FILE) -> i64) -> String {
        let Some(file) = self.stream(stream) else { return "closed".into() };
        let outcome = Outcome::of(|| call(file));
        // Stream functions may leave `errno` behind when they succeed.
        let errno = if outcome.value == -1 { format!(" errno {}", outcome.errno) } else { String::new() };
        format!("= {}{errno}{}", outcome.value, Self::state(file))
    }

    /// Position and indicators of a stream.
    fn state(file: *mut libc::FILE) -> String {
        // SAFETY: the stream is open.
        let (at, end, error) = unsafe { (libc::ftell(file), libc::feof(file), libc::ferror(file)) };
        format!(" at {at} eof {} error {}", i32::from(end != 0), i32::from(error != 0))
    }

    fn adopt(&mut self, stream: u8, file: *mut libc::FILE) -> String {
        let errno = nix::errno::Errno::last();
        if file.is_null() {
            return format!("{errno:?}");
        }
        self.streams[usize::from(stream) % STREAMS] = file;
        // SAFETY: the stream is open.
        format!("fd {}{}", unsafe { libc::fileno(file) }, Self::state(file))
    }

    pub(super) fn fopen(&mut self, stream: u8, path: &str, mode: &str) -> String {
        let closed = self.fclose(stream);
        let (path, mode) = (self.path(path), CString::new(mode).expect("mode"));
        // SAFETY: both are live C strings.
        let file = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        format!("{closed} {}", self.adopt(stream, file))
    }

    pub(super) fn fdopen(&mut self, stream: u8, slot: u8, mode: &str) -> String {
        let closed = self.fclose(stream);
        let mode = CString::new(mode).expect("mode");
        let fd = self.fd(slot);
        // SAFETY: takes no memory.
        let copy = Outcome::of(|| unsafe { libc::dup(fd) });
        if !copy.is_ok() {
            return format!("{closed} dup {copy}");
        }
        // SAFETY: the mode is a live C string.
        let file = unsafe { libc::fdopen(copy.int(), mode.as_ptr()) };
        let text = self.adopt(stream, file);
        if file.is_null() {
            // SAFETY: takes no memory; the descriptor is the copy made above.
            unsafe { libc::close(copy.int()) };
        }
        format!("{closed} {text}")
    }

    pub(super) fn setvbuf(&self, stream: u8, unbuffered: bool, size: u32) -> String {
        let mode = if unbuffered { libc::_IONBF } else { libc::_IOFBF };
        // SAFETY: the stream is open; with a null pointer libc brings its own buffer.
        self.with_stream(stream, |file| unsafe {
            libc::setvbuf(file, std::ptr::null_mut(), mode, size as usize).into()
        })
    }

    pub(super) fn fprintf(&self, stream: u8, seed: u32) -> String {
        self.with_stream(stream, |file| {
            // SAFETY: the format takes one unsigned int and one int.
            unsafe { libc::fprintf(file, c"%08x is line %d\n".as_ptr(), seed, (seed % 1000) as i32).into() }
        })
    }

    pub(super) fn fwrite(&self, stream: u8, len: u32, seed: u32) -> String {
        let bytes = data::pattern(seed, len as usize);
        // SAFETY: the bytes outlive the call.
        self.with_stream(stream, |file| unsafe {
            libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), file) as i64
        })
    }

    pub(super) fn fgets(&self, stream: u8, len: u32) -> String {
        let mut bytes = vec![0_u8; len as usize + 1];
        // SAFETY: the buffer holds the length given.
        let text = self.with_stream(stream, |file| unsafe {
            let line = libc::fgets(bytes.as_mut_ptr().cast(), bytes.len() as i32, file);
            i64::from(!line.is_null())
        });
        format!("{text} [{}]", data::show(&bytes))
    }

    pub(super) fn fread(&self, stream: u8, len: u32) -> String {
        let mut bytes = vec![0_u8; len as usize];
        // SAFETY: the buffer holds the length given.
        let text = self.with_stream(stream, |file| unsafe {
            libc::fread(bytes.as_mut_ptr().cast(), 1, bytes.len(), file) as i64
        });
        format!("{text} [{}]", data::show(&bytes))
    }

    pub(super) fn fseek(&self, stream: u8, offset: i64, whence: i32) -> String {
        // SAFETY: the stream is open.
        self.with_stream(stream, |file| unsafe { libc::fseek(file, offset, whence).into() })
    }

    pub(super) fn fgetc(&self, stream: u8, back: bool) -> String {
        // SAFETY: the stream is open.
        self.with_stream(stream, |file| unsafe {
            let byte = libc::fgetc(file);
            if back && byte >= 0 {
                libc::ungetc(byte, file);
            }
            byte.into()
        })
    }

    pub(super) fn fputs(&self, stream: u8, seed: u32) -> String {
        let line = CString::new(format!("{seed:x} is a word\n")).expect("no null bytes");
        // SAFETY: the line is a live C string, the stream is open.
        self.with_stream(stream, |file| unsafe { i64::from(libc::fputs(line.as_ptr(), file) >= 0) })
    }

    pub(super) fn rewind(&self, stream: u8) -> String {
        // SAFETY: the stream is open.
        self.with_stream(stream, |file| unsafe {
            libc::rewind(file);
            0
        })
    }

    pub(super) fn fgetpos(&self, stream: u8) -> String {
        // SAFETY: the stream is open; the position is filled in by the first call.
        self.with_stream(stream, |file| unsafe {
            let mut position = std::mem::zeroed();
            let got = libc::fgetpos(file, &mut position);
            let byte = libc::fgetc(file);
            let set = if got == 0 { libc::fsetpos(file, &position) } else { -2 };
            i64::from(byte) * 100 + i64::from(set)
        })
    }

    pub(super) fn fscanf(&self, stream: u8) -> String {
        let mut word = [0_u8; 33];
        // SAFETY: the stream is open, the word has room for what the format lets in.
        let text = self.with_stream(stream, |file| unsafe {
            libc::fscanf(file, c"%32[0-9a-f]".as_ptr(), word.as_mut_ptr()).into()
        });
        let text = text.split(" errno").next().unwrap_or_default().to_string();
        format!("{text} [{}]", data::show(&word))
    }

    pub(super) fn getdelim(&self, stream: u8) -> String {
        let Some(file) = self.stream(stream) else { return "closed".into() };
        let (mut line, mut room) = (std::ptr::null_mut(), 0);
        // SAFETY: the stream is open; with a null pointer libc allocates the record.
        let len = unsafe { super::aliases::getdelim(&mut line, &mut room, 0, file) };
        let shown = match usize::try_from(len) {
            // SAFETY: libc has just written this many bytes there.
            Ok(len) => data::show(unsafe { std::slice::from_raw_parts(line.cast::<u8>(), len) }),
            Err(_) => String::new(),
        };
        // SAFETY: the record is libc's allocation or null.
        unsafe { libc::free(line.cast()) };
        format!("= {len} [{shown}]{}", Self::state(file))
    }

    pub(super) fn reopen(&mut self, stream: u8, mode: &str) -> String {
        let index = usize::from(stream) % STREAMS;
        if self.streams[index].is_null() {
            return "closed".into();
        }
        let mode = CString::new(mode).expect("mode");
        // SAFETY: the mode is a live C string; the stream is replaced by the result.
        let file = unsafe { libc::freopen(std::ptr::null(), mode.as_ptr(), self.streams[index]) };
        self.streams[index] = std::ptr::null_mut();
        self.adopt(stream, file)
    }

    pub(super) fn tmpfile64(&mut self, stream: u8) -> String {
        let closed = self.fclose(stream);
        // SAFETY: takes nothing.
        let file = unsafe { super::aliases::tmpfile64() };
        self.streams[usize::from(stream) % STREAMS] = file;
        format!("{closed} {}", if file.is_null() { "failed" } else { "open" })
    }

    pub(super) fn fflush(&self, stream: u8) -> String {
        // SAFETY: the stream is open.
        self.with_stream(stream, |file| unsafe { libc::fflush(file).into() })
    }

    pub(super) fn fclose(&mut self, stream: u8) -> String {
        let Some(file) = self.stream(stream) else { return "none".into() };
        self.streams[usize::from(stream) % STREAMS] = std::ptr::null_mut();
        // SAFETY: the stream is open and forgotten with this.
        let outcome = Outcome::of(|| unsafe { libc::fclose(file) });
        let errno = if outcome.value == 0 { 0 } else { outcome.errno };
        format!("closed {} errno {errno}", outcome.value)
    }
}
