//! What a program file says of itself: for which machine, how it is loaded, what it imports.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

const CLASS_32: u8 = 1;
const LITTLE_ENDIAN: u8 = 1;

/// The facts of one ELF file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elf {
    /// Whether addresses have 64 bits.
    pub is_64_bit: bool,
    /// The machine's number.
    pub machine: u16,
    /// The dynamic linker, if one loads it.
    pub interpreter: Option<String>,
    /// Whether it holds a dynamic table; without an interpreter, that is a static-pie program.
    pub has_dynamic_table: bool,
    /// Whether it was made by the Go tool chain.
    pub go: bool,
    /// The libraries that it names.
    pub needed: Vec<String>,
    /// Where it wants them looked for.
    pub search: Vec<String>,
    /// Names that others must define.
    pub imports: Vec<String>,
}

impl Elf {
    /// Reads the facts; an error says in what way the file is damaged.
    pub fn parse(data: &[u8]) -> Result<Self, String> {
        let (class, order) = match data {
            [0x7f, b'E', b'L', b'F', class, order, ..] => (*class, *order),
            _ => return Err("an ELF file that ends in its header".into()),
        };
        let field = data.get(18..20).ok_or("an ELF file that ends in its header")?;
        let field = [field[0], field[1]];
        let machine =
            if order == LITTLE_ENDIAN { u16::from_le_bytes(field) } else { u16::from_be_bytes(field) };
        let mut facts = Self { is_64_bit: class != CLASS_32, machine, ..Self::default() };
        if facts.is_64_bit {
            facts.read(data).map_err(|error| format!("a damaged ELF file: {error}"))?;
        }
        Ok(facts)
    }

    /// Whether the dynamic linker loads it.
    pub fn is_dynamic(&self) -> bool {
        self.interpreter.is_some()
    }

    /// Whether it is for the machine that the shim is made for.
    pub fn is_x86_64(&self) -> bool {
        self.is_64_bit && self.machine == elf::EM_X86_64
    }

    /// Such as `64-bit x86-64`.
    pub fn machine(&self) -> String {
        let bits = if self.is_64_bit { "64-bit" } else { "32-bit" };
        let name = match self.machine {
            elf::EM_X86_64 => "x86-64",
            elf::EM_386 => "x86",
            elf::EM_AARCH64 => "ARM 64",
            elf::EM_ARM => "ARM",
            elf::EM_RISCV => "RISC-V",
            elf::EM_PPC64 => "PowerPC 64",
            _ => return format!("{bits} machine number {}", self.machine),
        };
        format!("{bits} {name}")
    }

    fn read(&mut self, data: &[u8]) -> object::Result<()> {
        let header = FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        for segment in header.program_headers(endian, data)? {
            if let Some(path) = segment.interpreter(endian, data)? {
                self.interpreter = Some(String::from_utf8_lossy(path).into_owned());
            }
            self.has_dynamic_table |= segment.p_type(endian) == elf::PT_DYNAMIC;
        }
        self.read_dynamic_table(header, endian, data)?;
        let file = ElfFile64::<Endianness>::parse(data)?;
        self.go = file
            .sections()
            .filter_map(|section| section.name().ok())
            .any(|name| matches!(name, ".go.buildinfo" | ".note.go.buildid"));
        self.imports = file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
            .filter(|name| !name.is_empty())
            .collect();
        Ok(())
    }

    fn read_dynamic_table(
        &mut self,
        header: &FileHeader64<Endianness>,
        endian: Endianness,
        data: &[u8],
    ) -> object::Result<()> {
        let sections = header.sections(endian, data)?;
        let Some((entries, link)) = sections.dynamic(endian, data)? else { return Ok(()) };
        let strings = sections.strings(endian, data, link)?;
        for entry in entries {
            let list = match entry.tag32(endian) {
                Some(elf::DT_NEEDED) => &mut self.needed,
                Some(elf::DT_RPATH | elf::DT_RUNPATH) => &mut self.search,
                _ => continue,
            };
            let text = String::from_utf8_lossy(entry.string(endian, strings)?).into_owned();
            list.extend(text.split(':').filter(|part| !part.is_empty()).map(str::to_owned));
        }
        Ok(())
    }
}
