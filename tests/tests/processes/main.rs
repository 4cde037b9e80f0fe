//! Processes, signals, threads, small stacks and the end of a program: behaviours of programs that use buffered files, each run plain and behind a
//! coordinator with the same output.

mod around;
mod children;
mod ends;
mod shells;
mod signals;
mod stacks;
