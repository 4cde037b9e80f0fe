//! Several threads or processes that write at once, each its own stripes: what comes out is certain
//! although the order is not.

use super::Process;
use crate::data;
use crate::script::op::Crew;

/// Most members of a crew.
const MEMBERS_MAX: u8 = 4;

/// One member's share: every `members`-th stripe.
fn write_share(fd: i32, member: u8, members: u8, stripe: u32, rounds: u32, seed: u32) -> i64 {
    // Where the descriptor appends, stripes land in any order: then all of them are alike.
    // SAFETY: takes no memory.
    let appends = unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_APPEND != 0;
    let mut total = 0;
    for round in 0..rounds {
        let index = round * u32::from(members) + u32::from(member);
        let bytes = data::pattern(if appends { seed } else { seed.wrapping_add(index) }, stripe as usize);
        let offset = i64::from(index) * i64::from(stripe);
        // SAFETY: the bytes outlive the call.
        total += unsafe { libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), offset) } as i64;
    }
    total
}

impl Process {
    pub(super) fn stripes(
        &self,
        slot: u8,
        crew: Crew,
        members: u8,
        stripe: u32,
        rounds: u32,
        seed: u32,
    ) -> String {
        let fd = self.fd(slot);
        let members = members.clamp(1, MEMBERS_MAX);
        let share = |member| write_share(fd, member, members, stripe, rounds, seed);
        let totals: Vec<i64> = match crew {
            Crew::Threads => std::thread::scope(|scope| {
                let threads: Vec<_> = (0..members).map(|member| scope.spawn(move || share(member))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(-2)).collect()
            }),
            Crew::Processes => {
                let children: Vec<i32> = (0..members).map(|member| fork_member(|| share(member))).collect();
                children.into_iter().map(wait_member).collect()
            }
        };
        // Where they append, whoever comes last meets a limit on the file's size.
        // SAFETY: takes no memory.
        if fd >= 0 && unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_APPEND != 0 {
            return format!("{} members{}", totals.len(), self.position(fd));
        }
        format!("{totals:?}{}", self.position(fd))
    }
}

/// Forks a child that does its share; its status says whether all of it was written.
fn fork_member(share: impl FnOnce() -> i64) -> i32 {
    // SAFETY: no other thread is alive here, so the child may do anything.
    match unsafe { libc::fork() } {
        0 => {
            let code = i32::from(share() < 0);
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) }
        }
        child => child,
    }
}

fn wait_member(child: i32) -> i64 {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    unsafe { libc::waitpid(child, &mut status, 0) };
    status.into()
}
