//! The bytes that a data check expects: a function of the writing rank and the file offset only, so that any reader
//! can verify any range, whatever transfer size wrote it.
//!
//! Words follow each other by a constant step, which lets a fill run at memory speed and keeps the measured
//! loop honest.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
const WORD: u64 = 8;

/// The pattern of one rank.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    seed: u64,
}

impl Pattern {
    /// The pattern that rank `rank` writes.
    pub fn of_rank(rank: u32) -> Self {
        Self { seed: (u64::from(rank) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    fn word(self, index: u64) -> u64 {
        self.seed.wrapping_add(index.wrapping_mul(STEP))
    }

    /// The byte at one file offset.
    pub fn byte(self, offset: u64) -> u8 {
        self.word(offset / WORD).to_le_bytes()[(offset % WORD) as usize]
    }

    /// Fills `buf` with the bytes that belong at `offset`.
    pub fn fill(self, buf: &mut [u8], offset: u64) {
        let head = Self::head(offset, buf.len());
        let (first, rest) = buf.split_at_mut(head);
        first.iter_mut().zip(offset..).for_each(|(byte, at)| *byte = self.byte(at));
        let start = offset + head as u64;
        let mut word = self.word(start / WORD);
        let mut words = rest.chunks_exact_mut(WORD as usize);
        let whole = words.len() as u64 * WORD;
        for chunk in &mut words {
            chunk.copy_from_slice(&word.to_le_bytes());
            word = word.wrapping_add(STEP);
        }
        words.into_remainder().iter_mut().zip(start + whole..).for_each(|(byte, at)| *byte = self.byte(at));
    }

    /// Number of bytes in `buf` that are not what belongs at `offset`.
    pub fn mismatches(self, buf: &[u8], offset: u64) -> u64 {
        let head = Self::head(offset, buf.len());
        let (first, rest) = buf.split_at(head);
        let start = offset + head as u64;
        let mut wrong = self.count(first, offset);
        let mut words = rest.chunks_exact(WORD as usize);
        let (mut word, mut differing) = (self.word(start / WORD), 0);
        // One pass without a branch a word; counting is for the rare buffer that is wrong.
        for chunk in &mut words {
            let mut bytes = [0; WORD as usize];
            bytes.copy_from_slice(chunk);
            differing |= u64::from_le_bytes(bytes) ^ word;
            word = word.wrapping_add(STEP);
        }
        let whole = rest.len() - words.remainder().len();
        if differing != 0 {
            wrong += self.count(&rest[..whole], start);
        }
        wrong + self.count(words.remainder(), start + whole as u64)
    }

    fn count(self, bytes: &[u8], offset: u64) -> u64 {
        bytes.iter().zip(offset..).filter(|(byte, at)| **byte != self.byte(*at)).count() as u64
    }

    /// Bytes before the first word boundary, at most `len`.
    fn head(offset: u64, len: usize) -> usize {
        ((WORD - offset % WORD) % WORD).min(len as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_agrees_with_byte_at_any_alignment() {
        let pattern = Pattern::of_rank(3);
        for offset in [0, 1, 7, 8, 47008, 47011] {
            for len in [0, 1, 5, 8, 9, 100] {
                let mut buf = vec![0; len];
                pattern.fill(&mut buf, offset);
                let wanted: Vec<u8> = (offset..offset + len as u64).map(|at| pattern.byte(at)).collect();
                assert_eq!(buf, wanted, "offset {offset}, length {len}");
                assert_eq!(pattern.mismatches(&buf, offset), 0);
            }
        }
    }

    #[test]
    fn wrong_bytes_rank_and_offset_are_counted() {
        let mut buf = vec![0; 4096];
        Pattern::of_rank(0).fill(&mut buf, 8192);
        assert!(Pattern::of_rank(1).mismatches(&buf, 8192) > 3500);
        assert!(Pattern::of_rank(0).mismatches(&buf, 4096) > 3500);
        buf[77] ^= 1;
        assert_eq!(Pattern::of_rank(0).mismatches(&buf, 8192), 1);
    }
}
