//! Spans of time as people write them: `250ms`, `5s`, `2min`, `1h`.
//!
//! Whole numbers of a named unit, down to a microsecond; a bare number is refused, because nothing says
//! whether it means seconds or milliseconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A span of time in whole microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    micros: u64,
}

/// Why a text is no span of time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PeriodError {
    /// The text does not start with a whole number.
    #[error("`{0}` does not start with a whole number")]
    NoNumber(String),
    /// There is a number but no unit.
    #[error("`{0}` names no unit of time")]
    NoUnit(String),
    /// What follows the number is no unit.
    #[error("`{unit}` in `{text}` is no unit of time")]
    Unit {
        /// The whole text.
        text: String,
        /// The part that is no unit.
        unit: String,
    },
    /// The span does not fit 64 bits of microseconds.
    #[error("`{0}` is too long")]
    Overflow(String),
}

impl Period {
    /// The largest unit first, so that `Display` picks the shortest exact form.
    const UNITS: [(&'static str, u64); 5] =
        [("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)];

    /// A span of `n` microseconds.
    pub const fn micros(n: u64) -> Self {
        Self { micros: n }
    }

    /// A span of `n` milliseconds.
    pub const fn millis(n: u64) -> Self {
        Self { micros: n * 1_000 }
    }

    /// A span of `n` seconds.
    pub const fn secs(n: u64) -> Self {
        Self { micros: n * 1_000_000 }
    }

    /// The span as the standard library's type.
    pub const fn duration(self) -> Duration {
        Duration::from_micros(self.micros)
    }
}

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, rest) = trimmed.split_at(split);
        if number.is_empty() || rest.starts_with('.') {
            return Err(PeriodError::NoNumber(trimmed.into()));
        }
        let unit = rest.trim_start();
        if unit.is_empty() {
            return Err(PeriodError::NoUnit(trimmed.into()));
        }
        let (_, factor) = Self::UNITS
            .into_iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| PeriodError::Unit { text: trimmed.into(), unit: unit.into() })?;
        let overflow = || PeriodError::Overflow(trimmed.into());
        let number: u64 = number.parse().map_err(|_| overflow())?;
        number.checked_mul(factor).map(Self::micros).ok_or_else(overflow)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.micros == 0 {
            return f.write_str("0s");
        }
        for (unit, factor) in Self::UNITS {
            if self.micros % factor == 0 {
                return write!(f, "{}{unit}", self.micros / factor);
            }
        }
        write!(f, "{}us", self.micros)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Period;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time such as \"250ms\" or \"5s\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Period, E> {
                text.parse().map_err(E::custom)
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
        for (text, micros) in
            [("250ms", 250_000), ("5s", 5_000_000), ("2 min", 120_000_000), ("1h", 3_600_000_000), ("7us", 7)]
        {
            assert_eq!(text.parse(), Ok(Period::micros(micros)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        let cases = [
            ("5", "`5` names no unit of time"),
            ("5 fortnights", "`fortnights` in `5 fortnights` is no unit of time"),
            ("-5s", "`-5s` does not start with a whole number"),
            ("1.5s", "`1.5s` does not start with a whole number"),
            ("", "`` does not start with a whole number"),
            ("99999999999999999h", "`99999999999999999h` is too long"),
        ];
        for (text, reason) in cases {
            assert_eq!(text.parse::<Period>().unwrap_err().to_string(), reason);
        }
    }

    proptest! {
        #[test]
        fn display_reads_back(micros: u64, factor in prop::sample::select(vec![1u64, 1_000, 1_000_000, 60_000_000])) {
            let period = Period::micros(micros / factor * factor);
            prop_assert_eq!(period.to_string().parse(), Ok(period));
        }
    }
}
