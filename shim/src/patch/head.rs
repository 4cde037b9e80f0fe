//! The head of a function: the whole instructions that a jump over its entry overwrites.
//!
//! What holds here: a [`Head`] has room for the jump, ends at an instruction boundary inside its function, holds
//! only instructions that can be moved, and no direct branch of the function lands in it.

use super::decode::{decode, Instruction, Kind};
use super::outcome::Refusal;

/// `jmp rel32`.
pub const JUMP_LEN: usize = 5;
/// A head is shorter than a jump by at most one instruction.
pub const MAX_HEAD: usize = JUMP_LEN - 1 + 15;

/// The landing pad that control-flow enforcement wants at an entry; it stays where it is.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// What will be overwritten, and what stood there when it was planned.
#[derive(Clone, Copy)]
pub struct Head {
    /// Address of the first overwritten byte.
    pub start: usize,
    /// Number of overwritten bytes.
    pub len: usize,
    /// The bytes as they were.
    pub bytes: [u8; MAX_HEAD],
}

impl Head {
    /// Finds the head of the function whose code is `code` and stands at `entry`.
    pub fn find(code: &[u8], entry: usize) -> Result<Self, Refusal> {
        let skip = if code.starts_with(&ENDBR64) { ENDBR64.len() } else { 0 };
        let mut len = 0;
        while len < JUMP_LEN {
            let at = skip + len;
            let rest = code.get(at..).filter(|rest| !rest.is_empty()).ok_or(Refusal::TooShort)?;
            let instruction = decode(rest, entry + at).ok_or(Refusal::Undecodable)?;
            len += instruction.len;
            match instruction.kind {
                Kind::Odd(_) => return Err(Refusal::Unmovable),
                Kind::End | Kind::Jump(_) if len < JUMP_LEN => return Err(Refusal::TooShort),
                _ => {}
            }
        }
        let head = skip..skip + len;
        if may_branch_into(code, head.end) && branches_into(code, entry, head.end)? {
            return Err(Refusal::BranchIntoHead);
        }
        let mut bytes = [0; MAX_HEAD];
        bytes[..len].copy_from_slice(&code[head]);
        Ok(Self { start: entry + skip, len, bytes })
    }

    /// The bytes that the jump replaces.
    pub fn original(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether the two overwrite a common byte.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.start + other.len && other.start < self.start + self.len
    }

    /// The instructions of the head with their addresses.
    pub fn instructions(&self) -> impl Iterator<Item = (usize, Instruction)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let here = at;
            let instruction = decode(self.original().get(here..)?, self.start + here)?;
            at += instruction.len;
            Some((here, instruction))
        })
    }
}

/// Whether any bytes of `code`, read at any alignment as a branch, would land before `end`.
///
/// It errs on the side of yes, and it is fast: decoding every function in full would cost more than all the rest.
/// Both loops are free of branches, since every one of them would be a fresh one to the predictor.
fn may_branch_into(code: &[u8], end: usize) -> bool {
    let Ok(size) = u16::try_from(code.len()) else { return true };
    let end = end as u16;
    let short = size.min(end + 130).saturating_sub(1);
    let (first, second) = (&code[..short.into()], &code[1..][..short.into()]);
    let mut hit = false;
    for at in 0..short {
        let (opcode, distance) = (first[usize::from(at)], second[usize::from(at)]);
        let branches = (opcode & 0xf0 == 0x70) | (opcode & 0xfc == 0xe0) | (opcode == 0xeb);
        let target = (at + 2).wrapping_add_signed((distance as i8).into());
        hit |= branches & (target < end);
    }
    // Backwards by less than 64 KiB: the upper half of the displacement is all ones, the lower half is the rest.
    let long = size.saturating_sub(3);
    let byte = |nth: usize| &code[nth.min(code.len())..][..long.into()];
    let (a, b, c, d) = (byte(0), byte(1), byte(2), byte(3));
    for at in 0..long {
        let i = usize::from(at);
        let target = (at + 4).wrapping_add(u16::from_le_bytes([a[i], b[i]]));
        hit |= (c[i] & d[i] == 0xff) & (target < end);
    }
    hit
}

/// Whether an instruction of the function branches to an address before `end`.
fn branches_into(code: &[u8], entry: usize, end: usize) -> Result<bool, Refusal> {
    let mut at = 0;
    while at < code.len() {
        let instruction = decode(&code[at..], entry + at).ok_or(Refusal::BranchIntoHead)?;
        at += instruction.len;
        if instruction.target().is_some_and(|to| to.wrapping_sub(entry) < end) {
            return Ok(true);
        }
    }
    Ok(false)
}
