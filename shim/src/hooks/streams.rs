//! Streams, as far as they are anything but calls on descriptors.

use crate::report;
use libc::{c_int, FILE};

rows! {
    plain around fclose(stream: *mut FILE) -> c_int |next| {
        report::before_stream_closes(stream);
        next(stream)
    }
}
