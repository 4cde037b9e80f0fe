//! Closing what takes long to close.
//!
//! The last descriptor of a removed file gives its pages back to the system, and waits for those that are being written to the disk. The
//! worker serves everybody and must not: a thread beside it does. It owns nothing but descriptors, and is gone before the process forks.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{channel, Sender};
use std::thread::{Builder, JoinHandle};

use millpond_segment::sys;

/// Closing a removed file of fewer bytes than this takes no time worth a thread.
const LARGE: u64 = 1 << 20;

/// Closes descriptors, some of them elsewhere.
#[derive(Default)]
pub struct Closer {
    thread: Option<(Sender<OwnedFd>, JoinHandle<()>)>,
}

impl Closer {
    /// Closes a descriptor, now or soon.
    pub fn close(&mut self, descriptor: OwnedFd) {
        let is_long = sys::stat_fd(descriptor.as_raw_fd())
            .is_ok_and(|stat| stat.nlink == 0 && stat.stamp.size >= LARGE);
        if !is_long {
            return drop(descriptor);
        }
        if self.thread.is_none() {
            self.thread = start();
        }
        match &self.thread {
            // What cannot be sent is in the error, and closed with it.
            Some((queue, _)) => drop(queue.send(descriptor)),
            None => drop(descriptor),
        }
    }

    /// Waits until everything is closed and the thread has ended.
    pub fn finish(&mut self) {
        if let Some((queue, thread)) = self.thread.take() {
            drop(queue);
            let _ = thread.join();
        }
    }
}

fn start() -> Option<(Sender<OwnedFd>, JoinHandle<()>)> {
    let (queue, waiting) = channel::<OwnedFd>();
    let thread =
        Builder::new().name("closer".into()).spawn(move || waiting.into_iter().for_each(drop)).ok()?;
    Some((queue, thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_closed_when_it_has_finished() {
        let mut closer = Closer::default();
        let mut numbers = Vec::new();
        for size in [0, LARGE, 3 * LARGE] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            numbers.push(file.as_raw_fd());
            closer.close(file.into());
        }
        assert!(closer.thread.is_some());
        closer.finish();
        assert!(closer.thread.is_none());
        for number in numbers {
            let name = std::fs::read_link(format!("/proc/self/fd/{number}"));
            assert!(!name.is_ok_and(|name| name.to_string_lossy().contains("(deleted)")));
        }
    }
}
