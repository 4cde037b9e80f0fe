//! Medians, spreads and latency percentiles.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The middle value; the mean of the two middle ones for an even count, NaN for an empty list.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Largest, smallest, mean, standard deviation and median of a list, as IOR prints them at its end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Summary {
    /// The largest value.
    pub max: f64,
    /// The smallest value.
    pub min: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The population standard deviation.
    pub stddev: f64,
    /// The middle value.
    pub median: f64,
}

impl Summary {
    /// Summarises `values`, which must not be empty.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        Self {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            stddev: variance.sqrt(),
            median: median(values),
        }
    }
}

/// Two percentiles of a latency distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half of the operations took at most this long.
    pub p50_ns: u64,
    /// All but one in a hundred took at most this long.
    pub p99_ns: u64,
}

/// Collects latencies with three significant digits up to one minute.
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// Longest latency kept apart from longer ones, in nanoseconds.
    pub const LIMIT_NS: u64 = 60_000_000_000;

    /// An empty collection, its memory allocated now so that recording never does.
    pub fn new() -> Self {
        Self(Histogram::new_with_bounds(1, Self::LIMIT_NS, 3).expect("the bounds are constant and valid"))
    }

    /// Notes one operation's nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(1));
    }

    /// The percentiles of what was recorded.
    pub fn percentiles(&self) -> Percentiles {
        Percentiles { p50_ns: self.0.value_at_quantile(0.5), p99_ns: self.0.value_at_quantile(0.99) }
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn percentiles_follow_the_samples() {
        let mut latencies = Latencies::new();
        (0..990).for_each(|_| latencies.record(100));
        (0..10).for_each(|_| latencies.record(5000));
        let p = latencies.percentiles();
        assert_eq!(p.p50_ns, 100);
        assert!(p.p99_ns <= 101, "{p:?}");
    }
}
