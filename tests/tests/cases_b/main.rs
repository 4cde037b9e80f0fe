//! Cases C28 to C54: public bug reports about programs of this kind, each as a small program that is run plain and
//! behind a coordinator. A test is named after its case.

mod aside;
mod offsets;
mod paths;
mod processes;
mod sizes;
mod soak;
mod strangers;
mod together;
mod twice;
