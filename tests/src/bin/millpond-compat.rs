//! `millpond-compat`: runs all real programs plainly and behind the shim, and prints the table: program, result,
//! bytes through the pool, sync-downs with reasons.
//!
//! Arguments: names of rows (all unless given); `--plain-twice` compares plain with plain, which shows whether a row is
//! deterministic; `--show` prints what each row printed when plain; `--keep` leaves both trees and all output in
//! `programs-kept/` beside the binary; `--list` prints the names.

use std::process::ExitCode;

use millpond_tests::programs::list::ROWS;
use millpond_tests::programs::row::Row;
use millpond_tests::programs::runner::{run, run_in, Outcome, Second};
use millpond_tests::programs::table;
use millpond_tests::shim_env::{in_ci, millpond_binary, profile_dir};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        ROWS.iter().for_each(|row| println!("{}", row.name));
        return ExitCode::SUCCESS;
    }
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    if let Some(unknown) = names.iter().find(|name| ROWS.iter().all(|row| row.name != name.as_str())) {
        eprintln!("millpond-compat: no row is named {unknown}; --list prints them");
        return ExitCode::FAILURE;
    }
    let second = match (given("--plain-twice"), millpond_binary()) {
        (true, _) => Second::Plain,
        (false, Some(millpond)) => Second::Shim(millpond),
        (false, None) => {
            eprintln!(
                "millpond-compat: there is no millpond binary beside this one; build the workspace first"
            );
            return ExitCode::FAILURE;
        }
    };
    let rows =
        ROWS.iter().filter(|row| names.is_empty() || names.iter().any(|name| row.name == name.as_str()));
    if print_table(rows, &second, given("--show"), given("--keep")) == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs and prints the rows; the number of those that failed.
fn print_table<'a>(rows: impl Iterator<Item = &'a Row>, second: &Second, show: bool, keep: bool) -> usize {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    table::print_head();
    for row in rows {
        match if keep { run_kept(row, second) } else { run(row, second) } {
            Err(error) => {
                println!("{:<28} FAILED   {error}", row.name);
                failed += 1;
            }
            Ok(outcome) => {
                table::print_row(row.name, &outcome);
                if show {
                    print!("{}", outcome.transcript);
                }
                if !outcome.missing.is_empty() {
                    println!("    not installed: {}", outcome.missing.join(" "));
                }
                match outcome.verdict() {
                    "ok" => passed += 1,
                    "skipped" if !in_ci() => skipped += 1,
                    _ => failed += 1,
                }
            }
        }
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    failed
}

/// Runs a row where its files stay, in place of what an earlier run left.
fn run_kept(row: &Row, second: &Second) -> std::io::Result<Outcome> {
    let scratch = profile_dir().join("programs-kept").join(row.name);
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    }
    std::fs::create_dir_all(&scratch)?;
    run_in(&scratch, row, second)
}
