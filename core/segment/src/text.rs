//! Short texts as they stand in the segment: words that are read and written one by one, so that a reader meets no reference to bytes that change.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A text of at most `8 * WORDS` bytes, with zeros behind it.
#[repr(C)]
pub struct Text<const WORDS: usize>([AtomicU64; WORDS]);

// SAFETY: `repr(C)` and made of atomics only.
unsafe impl<const WORDS: usize> crate::Shared for Text<WORDS> {}

impl<const WORDS: usize> Text<WORDS> {
    /// Bytes that it can hold.
    pub const BYTES: usize = 8 * WORDS;

    /// Takes a text over, its beginning when it is too long.
    pub fn set(&self, text: &[u8]) {
        for (word, value) in self.0.iter().zip(words(text)) {
            word.store(value, Relaxed);
        }
    }

    /// Takes a text over, its end when it is too long.
    pub fn set_end(&self, text: &[u8]) {
        self.set(&text[text.len().saturating_sub(Self::BYTES)..]);
    }

    /// Whether this is `text`.
    pub fn is(&self, text: &[u8]) -> bool {
        self.0.iter().zip(words(text)).all(|(word, value)| word.load(Relaxed) == value)
    }

    /// The bytes, without the zeros behind them, in `buf`, as far as they fit there. Without an allocation.
    pub fn get<'a>(&self, buf: &'a mut [u8]) -> &'a [u8] {
        let mut filled = 0;
        for (eight, word) in buf.chunks_exact_mut(8).zip(&self.0) {
            eight.copy_from_slice(&word.load(Relaxed).to_le_bytes());
            filled += 8;
        }
        let bytes = &buf[..filled];
        &bytes[..bytes.iter().position(|&b| b == 0).unwrap_or(filled)]
    }

    /// The text, for people.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> =
            self.0.iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).take_while(|&b| b != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A text in words, for as long as they are asked for.
fn words(text: &[u8]) -> impl Iterator<Item = u64> + '_ {
    (0..).step_by(8).map(|at| {
        let mut eight = [0u8; 8];
        if let Some(rest) = text.get(at..) {
            let n = rest.len().min(8);
            eight[..n].copy_from_slice(&rest[..n]);
        }
        u64::from_le_bytes(eight)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_as_far_as_they_fit() {
        let name = Text::<4>(Default::default());
        for text in ["", "cat", "exactly-thirty-two-bytes-long-ab"] {
            name.set(text.as_bytes());
            assert!(name.is(text.as_bytes()) && name.text() == text, "{text}");
            assert_eq!(name.get(&mut [0; 32]), text.as_bytes());
        }
        let long = [b'x'; 40];
        name.set(&long);
        assert!(name.is(&long) && name.text().len() == Text::<4>::BYTES);
        assert!(!name.is(b"x"));
        name.set_end(b"a/path/of/more/than/thirty-two/bytes");
        assert_eq!(name.text(), "th/of/more/than/thirty-two/bytes");
    }
}
