//! The table of programs: result, bytes through the pool, sync-downs with reasons, by program.

use super::runner::Outcome;

/// Prints the head of the table.
pub fn print_head() {
    println!(
        "{:<28} {:<8} {:>9} {:>14} {:>14}  sync-downs and escapes, by program",
        "program", "result", "seconds", "bytes read", "bytes written"
    );
}

/// Prints one row; what failed follows in indented lines.
pub fn print_row(name: &str, outcome: &Outcome) {
    let report = outcome.report.clone().unwrap_or_default();
    println!(
        "{name:<28} {:<8} {:>9.2} {:>14} {:>14}  {}",
        outcome.verdict(),
        outcome.elapsed.as_secs_f64(),
        report.bytes_read,
        report.bytes_written,
        report.reasons_by_program()
    );
    for line in outcome.failures.iter().flat_map(|failure| failure.lines()) {
        println!("    {line}");
    }
}
