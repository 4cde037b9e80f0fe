//! Lengths and branch targets of x86-64 instructions, as far as the patcher needs them.
//!
//! What holds here: an instruction is either described rightly or not at all (`None`); whatever is rare, new or
//! invalid in 64-bit mode is not described. No allocation, no tables to build.

/// How an instruction depends on where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not at all.
    Plain,
    /// It has a memory operand relative to the next instruction; the 32-bit displacement is at this offset.
    RipRelative(usize),
    /// `call` of the target.
    Call(usize),
    /// `jmp` to the target.
    Jump(usize),
    /// Jump to the target on the condition with this code.
    JumpIf(u8, usize),
    /// `loop`, `jrcxz`, `xbegin` or a prefixed branch to the target: has no wide or no plain form.
    Odd(usize),
    /// Control does not go on behind it: `ret`, an indirect jump, `ud2`, `hlt`.
    End,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its length in bytes, 1 to 15.
    pub len: usize,
    /// Whether and how it can be moved.
    pub kind: Kind,
}

impl Instruction {
    /// Where it branches to, if it names a target.
    pub fn target(self) -> Option<usize> {
        match self.kind {
            Kind::Call(to) | Kind::Jump(to) | Kind::JumpIf(_, to) | Kind::Odd(to) => Some(to),
            Kind::Plain | Kind::RipRelative(_) | Kind::End => None,
        }
    }
}

/// The immediate operand behind an opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Imm {
    None,
    /// One byte.
    B,
    /// Two bytes.
    W,
    /// Three bytes (`enter`).
    WB,
    /// Two or four bytes, by operand size.
    Z,
    /// Two, four or eight bytes, by operand size (`mov` to a register).
    V,
    /// An absolute address of eight or four bytes.
    Offset,
}

/// The shape of an opcode: whether a ModRM byte follows, and which immediate.
type Shape = (bool, Imm);

/// The longest instruction that the processor accepts.
const LONGEST: usize = 15;

/// Prefixes seen before the opcode.
#[derive(Clone, Copy, Default)]
struct Prefixes {
    operand16: bool,
    address32: bool,
    rex_w: bool,
    any: bool,
}

/// Describes the instruction at the start of `code`, which stands at `address`; `None` when it does not end
/// within `code` or is not known.
pub fn decode(code: &[u8], address: usize) -> Option<Instruction> {
    let mut at = 0;
    let prefixes = read_prefixes(code, &mut at)?;
    let opcode = take(code, &mut at)?;
    let found = match opcode {
        0x0f => two_byte(code, &mut at, prefixes, address)?,
        0xc4 | 0xc5 => vex(code, &mut at, prefixes, opcode)?,
        _ => one_byte(code, &mut at, prefixes, opcode, address)?,
    };
    (at <= LONGEST && at <= code.len()).then_some(Instruction { len: at, kind: found })
}

fn take(code: &[u8], at: &mut usize) -> Option<u8> {
    let byte = *code.get(*at)?;
    *at += 1;
    Some(byte)
}

fn read_prefixes(code: &[u8], at: &mut usize) -> Option<Prefixes> {
    let mut found = Prefixes::default();
    loop {
        match *code.get(*at)? {
            0x66 => found.operand16 = true,
            0x67 => found.address32 = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 | 0xf2 | 0xf3 => {}
            rex @ 0x40..=0x4f => {
                // A REX prefix counts only right before the opcode; one before another prefix is refused below,
                // where the other prefix is no opcode.
                found.rex_w = rex & 8 != 0;
                *at += 1;
                return Some(found);
            }
            _ => return Some(found),
        }
        found.any = true;
        *at += 1;
        if *at >= LONGEST {
            return None;
        }
    }
}

fn one_byte(code: &[u8], at: &mut usize, p: Prefixes, opcode: u8, address: usize) -> Option<Kind> {
    match opcode {
        0x70..=0x7f | 0xe0..=0xe3 | 0xeb => {
            let to = relative(code, at, 1, address)?;
            return Some(match opcode {
                _ if p.any => Kind::Odd(to),
                0xeb => Kind::Jump(to),
                0xe0..=0xe3 => Kind::Odd(to),
                _ => Kind::JumpIf(opcode & 0xf, to),
            });
        }
        0xe8 | 0xe9 => {
            if p.operand16 {
                return None;
            }
            let to = relative(code, at, 4, address)?;
            return Some(match opcode {
                _ if p.any => Kind::Odd(to),
                0xe8 => Kind::Call(to),
                _ => Kind::Jump(to),
            });
        }
        _ => {}
    }
    let (modrm, mut imm) = one_byte_shape(opcode)?;
    let mut kind = Kind::Plain;
    if modrm {
        let byte = *code.get(*at)?;
        let group = (byte >> 3) & 7;
        match (opcode, group) {
            (0xf6, 0 | 1) => imm = Imm::B,
            (0xf7, 0 | 1) => imm = Imm::Z,
            // XOP shares its first byte with `pop`; the transactional pair shares theirs with `mov`.
            (0x8f | 0xc6 | 0xc7, 1..) | (0xfe, 2..) | (0xff, 7) => return None,
            _ => {}
        }
        kind = operands(code, at, p)?;
        if opcode == 0xff && matches!(group, 4 | 5) {
            // A jump through memory ends the flow; where it stands does matter, so it cannot be the last moved.
            kind = if matches!(kind, Kind::RipRelative(_)) { kind } else { Kind::End };
        }
    }
    immediate(code, at, p, imm)?;
    Some(match opcode {
        0xc2 | 0xc3 | 0xca | 0xcb | 0xcf | 0xf4 => Kind::End,
        _ => kind,
    })
}

fn one_byte_shape(opcode: u8) -> Option<Shape> {
    Some(match opcode {
        0x00..=0x3f => match opcode & 7 {
            0..=3 => (true, Imm::None),
            4 => (false, Imm::B),
            5 => (false, Imm::Z),
            _ => return None,
        },
        0x50..=0x5f | 0x6c..=0x6f | 0x90..=0x99 | 0x9b..=0x9f => (false, Imm::None),
        0x63 | 0x84..=0x8f | 0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff => (true, Imm::None),
        0x68 | 0xa9 => (false, Imm::Z),
        0x69 | 0x81 | 0xc7 => (true, Imm::Z),
        0x6a | 0xa8 | 0xb0..=0xb7 | 0xcd | 0xe4..=0xe7 => (false, Imm::B),
        0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => (true, Imm::B),
        0xa0..=0xa3 => (false, Imm::Offset),
        0xa4..=0xa7 | 0xaa..=0xaf => (false, Imm::None),
        0xb8..=0xbf => (false, Imm::V),
        0xc2 | 0xca => (false, Imm::W),
        0xc8 => (false, Imm::WB),
        0xc3 | 0xc9 | 0xcb | 0xcc | 0xcf | 0xd7 | 0xec..=0xef | 0xf1 | 0xf4 | 0xf5 => (false, Imm::None),
        0xf8..=0xfd => (false, Imm::None),
        _ => return None,
    })
}

fn two_byte(code: &[u8], at: &mut usize, p: Prefixes, address: usize) -> Option<Kind> {
    let opcode = take(code, at)?;
    let (modrm, imm) = match opcode {
        0x38 | 0x3a => {
            take(code, at)?;
            (true, if opcode == 0x3a { Imm::B } else { Imm::None })
        }
        0x80..=0x8f => {
            if p.operand16 {
                return None;
            }
            let to = relative(code, at, 4, address)?;
            return Some(if p.any { Kind::Odd(to) } else { Kind::JumpIf(opcode & 0xf, to) });
        }
        0x0b => return Some(Kind::End),
        _ => two_byte_shape(opcode)?,
    };
    let kind = if modrm { operands(code, at, p)? } else { Kind::Plain };
    immediate(code, at, p, imm)?;
    Some(kind)
}

fn two_byte_shape(opcode: u8) -> Option<Shape> {
    Some(match opcode {
        0x05..=0x09 | 0x30..=0x35 | 0x37 | 0x77 | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf => {
            (false, Imm::None)
        }
        0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6 => (true, Imm::B),
        // Moves of control registers read their ModRM byte differently, and no user code has them.
        0x20..=0x27 => return None,
        0x00..=0x03 | 0x0d | 0x10..=0x1f | 0x28..=0x2f | 0x40..=0x6f | 0x74..=0x76 | 0x7c..=0x7f => {
            (true, Imm::None)
        }
        0x90..=0x9f | 0xa3 | 0xa5 | 0xab | 0xad..=0xb8 | 0xbb..=0xc1 | 0xc3 | 0xc7 | 0xd0..=0xfe => {
            (true, Imm::None)
        }
        _ => return None,
    })
}

/// AVX encodings: the prefix names the opcode map, the rest is as without it.
fn vex(code: &[u8], at: &mut usize, p: Prefixes, first: u8) -> Option<Kind> {
    let payload = take(code, at)?;
    let map = if first == 0xc5 { 1 } else { payload & 0x1f };
    if first == 0xc4 {
        take(code, at)?;
    }
    let opcode = take(code, at)?;
    let imm = match (map, opcode) {
        (1, 0x77) => return Some(Kind::Plain),
        (1, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6) | (3, _) => Imm::B,
        (1 | 2, _) => Imm::None,
        _ => return None,
    };
    let kind = operands(code, at, p)?;
    immediate(code, at, p, imm)?;
    Some(kind)
}

/// Steps over ModRM, SIB and displacement.
fn operands(code: &[u8], at: &mut usize, p: Prefixes) -> Option<Kind> {
    let modrm = take(code, at)?;
    let (mode, rm) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return Some(Kind::Plain);
    }
    let base = if rm == 4 { take(code, at)? & 7 } else { rm };
    if mode == 0 && rm == 5 {
        let displacement = *at;
        *at += 4;
        // With a 32-bit address size it is relative to EIP, which nothing outside the low 4 GiB can use.
        return (!p.address32).then_some(Kind::RipRelative(displacement));
    }
    *at += match mode {
        0 if base == 5 => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    Some(Kind::Plain)
}

fn immediate(code: &[u8], at: &mut usize, p: Prefixes, imm: Imm) -> Option<()> {
    *at += match imm {
        Imm::None => 0,
        Imm::B => 1,
        Imm::W => 2,
        Imm::WB => 3,
        Imm::V if p.rex_w => 8,
        Imm::Z | Imm::V if p.operand16 && !p.rex_w => 2,
        Imm::Z | Imm::V => 4,
        Imm::Offset if p.address32 => 4,
        Imm::Offset => 8,
    };
    (*at <= code.len()).then_some(())
}

/// Reads a branch displacement of `width` bytes, the last field of its instruction, and gives the target.
fn relative(code: &[u8], at: &mut usize, width: usize, address: usize) -> Option<usize> {
    let bytes = code.get(*at..*at + width)?;
    *at += width;
    let displacement = match *bytes {
        [b] => i64::from(b as i8),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => return None,
    };
    Some(address.wrapping_add(*at).wrapping_add_signed(displacement as isize))
}
