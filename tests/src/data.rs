//! Bytes that are a function of a seed, and digests of bytes.
//!
//! Every eight-byte word of a pattern differs from its neighbours, so that a block that lands in the
//! wrong place, twice, or not at all changes the digest.

/// Fills `out` with the pattern of `seed`.
pub fn fill(seed: u32, out: &mut [u8]) {
    let mut state = u64::from(seed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for chunk in out.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word ^= word >> 27;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
}

/// The first `len` bytes of the pattern of `seed`.
pub fn pattern(seed: u32, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    fill(seed, &mut out);
    out
}

/// A running 64-bit digest; not cryptographic, only sensitive to every bit and to order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes in one word.
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }

    /// Takes in a byte string and its length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        self.word(bytes.len() as u64);
    }

    /// The digest so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// How a transcript shows bytes: in full when short, as digest and length otherwise.
pub fn show(bytes: &[u8]) -> String {
    if bytes.len() <= 16 {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    let mut digest = Digest::default();
    digest.bytes(bytes);
    format!("{:016x}+{}", digest.value(), bytes.len())
}

/// Digest of a sparse byte string that does not depend on which of its zero blocks are holes: takes
/// `(offset, block)` pairs at ascending multiples of [`SPARSE_BLOCK`] and passes over blocks of zeros.
#[derive(Default)]
pub struct SparseDigest(Digest);

/// Granularity of [`SparseDigest`].
pub const SPARSE_BLOCK: u64 = 4096;

impl SparseDigest {
    /// Takes in the bytes at `offset`; a block that is all zero leaves no trace.
    pub fn block(&mut self, offset: u64, block: &[u8]) {
        let end = block.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if end > 0 {
            self.0.word(offset);
            self.0.bytes(&block[..end]);
        }
    }

    /// The digest so far.
    pub fn value(&self) -> u64 {
        self.0.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_tells_order_and_length() {
        let (mut a, mut b) = (Digest::default(), Digest::default());
        a.bytes(b"ab");
        b.bytes(b"ba");
        assert_ne!(a, b);
        assert_ne!(show(&pattern(1, 40)), show(&pattern(1, 41)));
        assert_ne!(show(&pattern(1, 40)), show(&pattern(2, 40)));
    }

    #[test]
    fn sparse_digest_ignores_zero_blocks() {
        let (mut a, mut b) = (SparseDigest::default(), SparseDigest::default());
        a.block(0, &[0; 4096]);
        a.block(4096, &[1, 0, 0]);
        b.block(4096, &[1]);
        assert_eq!(a.value(), b.value());
    }
}
