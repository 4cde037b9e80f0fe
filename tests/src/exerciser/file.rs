//! What operations do to the bytes of a file.

use super::state::{File, MOST};

impl File {
    /// Bytes from `at`, as many as there are up to `len`.
    pub fn read(&self, at: usize, len: usize) -> &[u8] {
        let end = at.saturating_add(len).min(self.size);
        &self.bytes[at.min(end)..end]
    }

    /// Puts bytes at `at`; the file grows as it must.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        // Nothing may be anywhere, beyond the longest file too.
        if !bytes.is_empty() {
            self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
            self.size = self.size.max(at + bytes.len());
        }
    }

    /// Sets the size.
    pub fn truncate(&mut self, size: usize) {
        if size < self.size {
            self.bytes[size..self.size].fill(0);
        }
        self.size = size;
    }

    /// Makes zeros of what there is of a range.
    pub fn zero(&mut self, at: usize, len: usize) {
        let end = (at + len).min(self.size);
        self.bytes[at.min(end)..end].fill(0);
    }

    /// Makes the file at least so long.
    pub fn reach(&mut self, end: usize) {
        self.size = self.size.max(end);
    }

    /// Takes a range out.
    pub fn collapse(&mut self, at: usize, len: usize) {
        self.bytes.copy_within(at + len..self.size, at);
        self.truncate(self.size - len);
    }

    /// Puts a range of zeros in.
    pub fn insert(&mut self, at: usize, len: usize) {
        debug_assert!(self.size + len <= MOST);
        self.bytes.copy_within(at..self.size, at + len);
        self.bytes[at..at + len].fill(0);
        self.size += len;
    }
}
