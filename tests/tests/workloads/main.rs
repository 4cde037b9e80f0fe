//! What large test suites of other programs do to files, and what was wrong under it once: each a small program or script, run plain and
//! behind a coordinator with the same output and files.

mod full_log;
mod offsets;
mod processes;
mod watches;
