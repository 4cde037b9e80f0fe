//! The table of ratios, for people and as JSON.

use serde::Serialize;

use super::case::{Case, Unit, Wanted};
use super::worker::Sample;
use crate::stats::{median, Percentiles};

/// One side of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Median over the rounds.
    pub median: f64,
    /// All rounds, in order.
    pub values: Vec<f64>,
    /// Medians over the rounds of the percentiles.
    pub latency: Option<Percentiles>,
}

impl Side {
    fn new(samples: &[Sample]) -> Self {
        let values: Vec<f64> = samples.iter().map(|s| s.value).collect();
        let middle = |pick: fn(&Percentiles) -> u64| {
            let picked: Vec<f64> =
                samples.iter().filter_map(|s| s.latency.as_ref()).map(|l| pick(l) as f64).collect();
            (!picked.is_empty()).then(|| median(&picked) as u64)
        };
        let latency = middle(|l| l.p50_ns)
            .zip(middle(|l| l.p99_ns))
            .map(|(p50_ns, p99_ns)| Percentiles { p50_ns, p99_ns });
        Self { median: median(&values), values, latency }
    }
}

/// One row with its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The row's name.
    pub name: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// Unit of the numbers.
    pub unit: &'static str,
    /// Against the kernel.
    pub plain: Side,
    /// Through the shim.
    pub shim: Side,
    /// Speed of the shim over speed of the kernel.
    pub ratio: f64,
    /// The goal, as text.
    pub wanted: String,
    /// Whether the goal is reached; null where there is none.
    pub reached: Option<bool>,
}

impl Row {
    /// A row from the samples of both sides.
    pub fn new(case: &Case, plain: &[Sample], shim: &[Sample]) -> Self {
        let Case { name, what, unit, wanted, .. } = *case;
        let (plain, shim) = (Side::new(plain), Side::new(shim));
        let ratio = unit.speed_ratio(plain.median, shim.median);
        let reached = wanted.is_reached(unit, plain.median, shim.median);
        Self { name, what, unit: unit.name(), plain, shim, ratio, wanted: wanted.to_string(), reached }
    }

    /// The ratio as shown; for start-up the difference is what counts.
    fn shown_ratio(&self) -> String {
        if self.unit == Unit::MicrosPerRun.name() {
            format!("{:+.0} µs", self.shim.median - self.plain.median)
        } else {
            format!("{:.2}", self.ratio)
        }
    }
}

fn percentiles(side: &Side) -> String {
    side.latency.map_or_else(String::new, |l| format!("{}/{}", l.p50_ns, l.p99_ns))
}

/// Prints the head of the table.
pub fn print_head() {
    println!(
        "{:<46} {:>6} {:>10} {:>10} {:>9} {:>10} {:>4}  {:>15} {:>15}",
        "what", "unit", "plain", "shim", "ratio", "wanted", "", "plain p50/p99", "shim p50/p99 ns"
    );
}

/// Prints one row of the table.
pub fn print_row(row: &Row) {
    let verdict = match row.reached {
        Some(true) => "ok",
        Some(false) => "MISS",
        None => "",
    };
    println!(
        "{:<46} {:>6} {:>10.1} {:>10.1} {:>9} {:>10} {:>4}  {:>15} {:>15}",
        row.what,
        row.unit,
        row.plain.median,
        row.shim.median,
        row.shown_ratio(),
        row.wanted,
        verdict,
        percentiles(&row.plain),
        percentiles(&row.shim)
    );
}

/// Prints all rows as JSON.
pub fn print_json(rows: &[Row]) -> std::io::Result<()> {
    println!("{}", serde_json::to_string_pretty(rows)?);
    Ok(())
}

/// Rows whose goal is not reached.
pub fn missed(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.reached == Some(false)).count()
}

/// Whether anything is wanted of a row at all.
pub fn has_goal(case: &Case) -> bool {
    case.wanted != Wanted::Information
}
