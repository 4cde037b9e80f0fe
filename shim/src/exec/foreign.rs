//! A program that cannot be preloaded, as the report tells of it: by its own name, with the reason as an escape.
//!
//! It is counted before the call that starts it, as nobody comes back from that; a call that fails takes it back.

use super::target::Found;
use crate::ops::processes::Target;
use crate::{attach, peek, process, report, stores};
use millpond_pool::Caller;
use millpond_segment::account::Escape;
use millpond_segment::client::COMMAND_BYTES;
use millpond_segment::program::NAME_BYTES;
use std::ffi::CStr;

/// Why a target is foreign, and what it is called.
pub struct Foreign {
    why: Escape,
    name: [u8; NAME_BYTES],
}

impl Foreign {
    /// The target, if it was found to be foreign: by what it is, or because the shim is `unreachable` for it.
    pub fn of(found: Option<Found>, unreachable: bool, target: Target) -> Option<Self> {
        let why = match found {
            _ if unreachable => Escape::ExecUnreached,
            Some(Found::Foreign(why)) => why,
            _ => return None,
        };
        let mut name = [0; NAME_BYTES];
        let mut keep = |path: &[u8]| {
            let part = attach::last_part(path);
            let n = part.len().min(NAME_BYTES);
            name[..n].copy_from_slice(&part[..n]);
        };
        let of_descriptor = |fd: i32, keep: &mut dyn FnMut(&[u8])| {
            keep(stores::path_of(fd, &mut [0; 256]).unwrap_or(b"?"));
        };
        match target {
            Target::Descriptor(fd) => of_descriptor(fd, &mut keep),
            Target::Path(dirfd, path, _) => match peek::text(path).map(CStr::to_bytes) {
                Some(b"") => of_descriptor(dirfd, &mut keep),
                Some(path) => keep(path),
                None => keep(b"?"),
            },
        }
        Some(Self { why, name })
    }

    fn name(&self) -> &[u8] {
        let end = self.name.iter().position(|&b| b == 0).unwrap_or(NAME_BYTES);
        &self.name[..end]
    }

    /// Counts it: in the slot that its process will have, which from now on has its name.
    pub fn note(&self, slot: Option<u32>) {
        match (process::pool(), slot) {
            (Some(pool), Some(slot)) => {
                let who = Caller::new(slot, 0);
                pool.become_program(who, self.name(), self.name());
                pool.count_escapes(who, self.why, 1);
            }
            _ => report::note(self.why),
        }
    }

    /// The call has failed.
    pub fn take_back(&self, vfork: bool, slot: Option<u32>) {
        match (process::pool(), slot) {
            (Some(pool), Some(slot)) => {
                let who = Caller::new(slot, 0);
                pool.uncount_escape(who, self.why);
                if !vfork {
                    let own = attach::Identity::read();
                    pool.become_program(who, own.name(), own.command(&mut [0; COMMAND_BYTES]));
                }
            }
            _ => report::take_back(self.why),
        }
    }
}
