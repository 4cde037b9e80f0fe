//! Python's own test suite plain and behind a coordinator, and the kinds of differences that it has shown, as cases.

mod found;
mod interpreter;
mod outcomes;
mod side;
mod suite;
