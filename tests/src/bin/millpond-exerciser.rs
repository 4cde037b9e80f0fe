//! Does random operations on files of the current directory and knows at every step what they must give.
//!
//! `millpond-exerciser seed=N run=N steps=N processes=N state=FILE …`

fn main() {
    millpond_tests::exerciser::main();
}
