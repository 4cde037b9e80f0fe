//! Messages between a client and the coordinator, over a `SOCK_SEQPACKET` Unix socket.
//!
//! Each message is one packet of [`BYTES`] bytes, little-endian; some carry one descriptor. Neither data nor metadata
//! of a file that the segment knows waits for one: messages attach, hand a descriptor over, and ask for flushes that the
//! asking process cannot do itself.

/// Bytes in a message.
pub const BYTES: usize = 32;
/// Version of the messages.
pub const VERSION: u32 = 1;

/// What a message asks or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Asks for the segment. `a`: process id.
    Hello = 1,
    /// Answer to `Hello`, with the segment's descriptor. `a`: length; `b`: the asker's process id as the coordinator sees it; `c`: the coordinator's
    /// namespace of process ids.
    Welcome = 2,
    /// Hands over a descriptor (`O_PATH`) of a file that will have dirty bytes. `a`: file slot. Not answered.
    Keep = 3,
    /// Asks for a flush. `a`: file slot, or [`ALL`]; `b`: 1 when it is to be durable. Answered by `Done`.
    Flush = 4,
    /// Asks that a file's descriptor be given up. `a`: file slot. Answered by `Done`.
    Release = 5,
    /// Asks the coordinator to stop. `a`: 1 to stop although programs are attached, 2 to stop when none is left. Answered by `Done`.
    Stop = 6,
    /// Answer. `a`: 0 or an error number; `b`: a count.
    Done = 7,
    /// A refusal. `a`: an error number.
    Refused = 8,
    /// Says that a growing file has many dirty bytes, to be written while it grows. `a`: file slot. Not answered.
    Behind = 9,
}

/// File slot number that means all files.
pub const ALL: u64 = u64::MAX;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// First argument.
    pub a: u64,
    /// Second argument.
    pub b: u64,
    /// Third argument.
    pub c: u64,
}

impl Message {
    /// A message with one argument.
    pub fn new(kind: Kind, a: u64) -> Self {
        Self { kind, a, b: 0, c: 0 }
    }

    /// As bytes.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[..4].copy_from_slice(&(self.kind as u32).to_le_bytes());
        out[4..8].copy_from_slice(&VERSION.to_le_bytes());
        for (slot, word) in [self.a, self.b, self.c].iter().enumerate() {
            out[8 + slot * 8..16 + slot * 8].copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// From bytes; `None` when they are no message of this version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        if bytes.len() != BYTES || half(4)? != VERSION {
            return None;
        }
        let kind = match half(0)? {
            1 => Kind::Hello,
            2 => Kind::Welcome,
            3 => Kind::Keep,
            4 => Kind::Flush,
            5 => Kind::Release,
            6 => Kind::Stop,
            7 => Kind::Done,
            8 => Kind::Refused,
            9 => Kind::Behind,
            _ => return None,
        };
        Some(Self { kind, a: word(8)?, b: word(16)?, c: word(24)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire_and_garbage_is_none() {
        for kind in [
            Kind::Hello,
            Kind::Welcome,
            Kind::Keep,
            Kind::Flush,
            Kind::Release,
            Kind::Stop,
            Kind::Done,
            Kind::Refused,
            Kind::Behind,
        ] {
            let message = Message { kind, a: 1, b: u64::MAX, c: 3 };
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
        let good = Message::new(Kind::Hello, 1).encode();
        assert_eq!(Message::decode(&good[..31]), None);
        for (at, byte) in [(0, 99), (4, 2)] {
            let mut bad = good;
            bad[at] = byte;
            assert_eq!(Message::decode(&bad), None);
        }
    }
}
