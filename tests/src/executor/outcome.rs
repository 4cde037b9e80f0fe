//! What a call gave: its value and errno, and how a transcript shows them.

use std::fmt;

use nix::errno::Errno;

/// Value and errno of one call.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// What the call returned.
    pub value: i64,
    /// `errno` afterwards; it was 0 before.
    pub errno: i32,
}

impl Outcome {
    /// Makes a call with a clean `errno`.
    pub fn of<T: Into<i64>>(call: impl FnOnce() -> T) -> Outcome {
        Errno::clear();
        let value = call().into();
        Outcome { value, errno: Errno::last_raw() }
    }

    /// The value as a descriptor or other small result.
    pub fn int(self) -> i32 {
        i32::try_from(self.value).expect("result of an int function")
    }

    /// The value as a number of bytes, when it is one.
    pub fn count(self) -> Option<usize> {
        usize::try_from(self.value).ok()
    }

    /// Whether the call succeeded.
    pub fn is_ok(self) -> bool {
        self.value >= 0
    }
}

impl fmt::Display for Outcome {
    /// A call that succeeds must leave `errno` alone: if it did not, that is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "= {}", self.value)?;
        if self.errno != 0 {
            write!(f, " {:?}", Errno::from_raw(self.errno))?;
        }
        Ok(())
    }
}
