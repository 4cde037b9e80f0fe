//! Adds to an I/O error the thing that was being done, so that one line on standard error says enough.

use std::io;

/// Puts a description in front of an error's own text.
pub trait Context<T> {
    /// `Err` keeps its kind and gains `what` as a prefix; the description is only made when needed.
    fn context<S: Into<String>>(self, what: impl FnOnce() -> S) -> io::Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context<S: Into<String>>(self, what: impl FnOnce() -> S) -> io::Result<T> {
        self.map_err(|e| {
            let e: io::Error = e.into();
            io::Error::new(e.kind(), format!("{}: {e}", what().into()))
        })
    }
}

/// An error that carries only a text.
pub fn failure(text: impl Into<String>) -> io::Error {
    io::Error::other(text.into())
}
