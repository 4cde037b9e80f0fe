//! Byte sizes as people write them: `64KiB`, `1GiB`, `512M`, or a plain number of bytes.
//!
//! A size is a whole number that fits 64 bits; what is not one is refused with the way out. Which sizes make
//! sense for a key is decided in `validate`.

use std::fmt;
use std::str::FromStr;

use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// Why a text is no byte size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ByteSizeError {
    /// The text holds nothing.
    #[error("an empty size")]
    Empty,
    /// The text starts with a minus sign.
    #[error("`{0}` is negative")]
    Negative(String),
    /// The text does not start with a number.
    #[error("`{0}` does not start with a number")]
    NoNumber(String),
    /// The number has a fraction.
    #[error("`{0}` is not a whole number")]
    Fraction(String),
    /// What follows the number is no unit.
    #[error("`{unit}` in `{text}` is no unit of size")]
    Unit {
        /// The whole text.
        text: String,
        /// The part that is no unit.
        unit: String,
    },
    /// The size does not fit 64 bits.
    #[error("`{0}` does not fit 64 bits")]
    Overflow(String),
}

impl ByteSize {
    /// The largest unit first, so that `Display` picks the shortest exact form.
    const UNITS: [(&'static str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

    /// A size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A size of `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// A size of `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// A size of `n` GiB.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Whether the size is a power of two.
    pub const fn is_power_of_two(self) -> bool {
        self.0.is_power_of_two()
    }
}

/// The factor of a unit; `K` and `KiB` are 1024 and `KB` is 1000, as in `dd` and `ls`.
fn factor(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

impl FromStr for ByteSize {
    type Err = ByteSizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(ByteSizeError::Empty);
        }
        if trimmed.starts_with('-') {
            return Err(ByteSizeError::Negative(trimmed.into()));
        }
        let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, rest) = trimmed.split_at(split);
        if number.is_empty() {
            return Err(ByteSizeError::NoNumber(trimmed.into()));
        }
        if rest.starts_with('.') {
            return Err(ByteSizeError::Fraction(trimmed.into()));
        }
        let unit = rest.trim_start();
        let factor =
            factor(unit).ok_or_else(|| ByteSizeError::Unit { text: trimmed.into(), unit: unit.into() })?;
        let overflow = || ByteSizeError::Overflow(trimmed.into());
        let number: u64 = number.parse().map_err(|_| overflow())?;
        number.checked_mul(factor).map(Self).ok_or_else(overflow)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in Self::UNITS {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ByteSize;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"64KiB\" or a number of bytes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<ByteSize, E> {
                u64::try_from(bytes)
                    .map(ByteSize)
                    .map_err(|_| E::custom(ByteSizeError::Negative(bytes.to_string())))
            }

            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<ByteSize, E> {
                Ok(ByteSize(bytes))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_read() {
        let cases = [
            ("0", 0),
            ("4096", 4096),
            ("64KiB", 65_536),
            ("64 kib", 65_536),
            ("512M", 512 << 20),
            ("1GiB", 1 << 30),
            ("2T", 2 << 40),
            ("3KB", 3000),
            ("7B", 7),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse(), Ok(ByteSize::new(bytes)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        let cases = [
            ("64 potatoes", "`potatoes` in `64 potatoes` is no unit of size"),
            ("-1", "`-1` is negative"),
            ("", "an empty size"),
            ("KiB", "`KiB` does not start with a number"),
            ("1.5GiB", "`1.5GiB` is not a whole number"),
            ("99999999999999999999", "`99999999999999999999` does not fit 64 bits"),
            ("17179869184GiB", "`17179869184GiB` does not fit 64 bits"),
        ];
        for (text, reason) in cases {
            assert_eq!(text.parse::<ByteSize>().unwrap_err().to_string(), reason);
        }
    }

    proptest! {
        #[test]
        fn display_reads_back(bytes: u64, shift in 0u32..64) {
            let size = ByteSize::new(bytes >> shift << shift);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<ByteSize>();
        }
    }
}
