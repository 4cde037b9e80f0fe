//! Sizes as IOR writes them: a number with an optional binary suffix (`47008`, `4k`, `1m`, `2g`).

use std::fmt;
use std::str::FromStr;

/// A number of bytes, read from and shown with binary suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const SUFFIXES: [(&str, u32); 4] = [("t", 40), ("g", 30), ("m", 20), ("k", 10)];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        // `64MiB`, `64mb` and `64m` mean the same here.
        let stem = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
        let (digits, shift) = SUFFIXES
            .iter()
            .find_map(|(suffix, shift)| stem.strip_suffix(suffix).map(|digits| (digits, *shift)))
            .unwrap_or((stem, 0));
        let number: u64 =
            digits.trim().parse().map_err(|_| format!("`{text}` is not a size (try 4k, 1m, 47008)"))?;
        number
            .checked_mul(1 << shift)
            .map(ByteSize)
            .ok_or_else(|| format!("`{text}` does not fit in 64 bits"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (suffix, shift) in SUFFIXES {
            if self.0 >= 1 << shift && self.0 % (1 << shift) == 0 {
                return write!(f, "{}{suffix}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_binary() {
        for (text, bytes) in
            [("64", 64), ("4k", 4096), ("1M", 1 << 20), ("2g", 2 << 30), ("64MiB", 64 << 20), ("8kb", 8192)]
        {
            assert_eq!(text.parse::<ByteSize>(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "k", "-1", "1.5m", "99999999999g"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn display_reads_back() {
        for bytes in [0, 1, 1023, 4096, 47008, 1 << 20, 3 << 30] {
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
    }
}
