//! Writes the instructions of a head so that they do the same at another address.
//!
//! What holds here: the result ends with a jump to the instruction behind the head, every address that the moved
//! instructions name is the one that they named, and flags and registers are untouched in between.

use super::decode::Kind;
use super::head::Head;
use super::outcome::Refusal;

/// The most bytes that a moved head takes, with the jump back.
pub const MAX_TRAMPOLINE: usize = 48;

/// Code under construction for a fixed address.
struct Buffer {
    address: usize,
    len: usize,
    bytes: [u8; MAX_TRAMPOLINE],
}

impl Buffer {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let end = self.len + bytes.len();
        self.bytes.get_mut(self.len..end).ok_or(Refusal::OutOfReach)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Appends an opcode and the distance to `target` from behind it.
    fn push_branch(&mut self, opcode: &[u8], target: usize) -> Result<(), Refusal> {
        self.push(opcode)?;
        let distance = distance(self.address + self.len + 4, target).ok_or(Refusal::OutOfReach)?;
        self.push(&distance.to_le_bytes())
    }
}

/// The displacement that leads from `next` (behind the instruction) to `target`, if 32 bits hold it.
pub fn distance(next: usize, target: usize) -> Option<i32> {
    i32::try_from(target.wrapping_sub(next) as isize).ok()
}

/// Builds the trampoline of `head` for the address `to`; gives the bytes and how many there are.
pub fn trampoline(head: &Head, to: usize) -> Result<([u8; MAX_TRAMPOLINE], usize), Refusal> {
    let mut out = Buffer { address: to, len: 0, bytes: [0xcc; MAX_TRAMPOLINE] };
    for (at, instruction) in head.instructions() {
        match instruction.kind {
            Kind::Plain | Kind::End => out.push(&head.original()[at..at + instruction.len])?,
            Kind::RipRelative(field) => {
                let mut moved = [0; 15];
                let moved = &mut moved[..instruction.len];
                moved.copy_from_slice(&head.original()[at..at + instruction.len]);
                let old =
                    i32::from_le_bytes([moved[field], moved[field + 1], moved[field + 2], moved[field + 3]]);
                let target = (head.start + at + instruction.len).wrapping_add_signed(old as isize);
                let new =
                    distance(out.address + out.len + instruction.len, target).ok_or(Refusal::OutOfReach)?;
                moved[field..field + 4].copy_from_slice(&new.to_le_bytes());
                out.push(moved)?;
            }
            Kind::Call(target) => out.push_branch(&[0xe8], target)?,
            Kind::Jump(target) => out.push_branch(&[0xe9], target)?,
            Kind::JumpIf(condition, target) => out.push_branch(&[0x0f, 0x80 | condition], target)?,
            Kind::Odd(_) => return Err(Refusal::Unmovable),
        }
    }
    out.push_branch(&[0xe9], head.start + head.len)?;
    Ok((out.bytes, out.len))
}
