//! Carries out a script of file operations through libc and prints what each one gave.
//!
//! `millpond-executor SCRIPT DIRECTORY`; a script named `-` is read from standard input.

fn main() {
    millpond_tests::executor::main();
}
