//! Input files, the same bytes at each run: generated from fixed seeds.

use std::io;
use std::path::Path;

/// A small generator (splitmix64): the sequence is part of what the rows expect, so it is written out here.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Bytes of `in/bin`: not a multiple of any page.
const BIN_BYTES: usize = 1_300_007;
/// Lines of `in/text`, about 3 MB.
const TEXT_LINES: usize = 60_000;
/// Lines of `in/lines`, about 50 KB.
const FEW_LINES: usize = 1000;
/// Bytes of `in/small`.
const SMALL_BYTES: usize = 3901;

/// Writes the named input into `dir`.
///
/// # Errors
/// When the name is not known or the file cannot be written.
pub fn write(name: &str, dir: &Path) -> io::Result<()> {
    let bytes = match name {
        "bin" => bytes(1, BIN_BYTES),
        "small" => bytes(2, SMALL_BYTES),
        "text" => lines(3, TEXT_LINES),
        "lines" => lines(4, FEW_LINES),
        other => return Err(io::Error::other(format!("no input is named {other}"))),
    };
    std::fs::write(dir.join(name), bytes)
}

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut out: Vec<u8> =
        std::iter::repeat_with(|| random.next().to_le_bytes()).flatten().take(count + 7).collect();
    out.truncate(count);
    out
}

fn lines(seed: u64, count: usize) -> Vec<u8> {
    const WORDS: [&str; 8] = ["pond", "wheel", "mill", "water", "sluice", "grain", "stone", "race"];
    let mut random = Random(seed);
    let mut out = String::new();
    for number in 0..count {
        let value = random.next();
        let words = [0, 8, 16, 24].map(|shift| WORDS[(value >> shift) as usize % WORDS.len()]);
        out.push_str(&format!("{:016x} {number:05} {}\n", random.next(), words.join(" ")));
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_their_size_and_repeat() {
        assert_eq!(bytes(1, BIN_BYTES).len(), BIN_BYTES);
        assert_eq!(bytes(2, 100), bytes(2, 100));
        assert_ne!(bytes(1, 100), bytes(2, 100));
        let text = lines(3, 10);
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 10);
    }
}
