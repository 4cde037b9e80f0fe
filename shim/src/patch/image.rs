//! The loaded libc: where its code lies, and which symbol stands where.
//!
//! What holds here: symbols come from libc's own dynamic symbol table, never from a library that interposes
//! them; the default version of a name wins, as it does for a program linked today. The tables are read in place,
//! without the dynamic linker's locks.

use std::ffi::{c_int, c_void, CStr};
use std::ops::Range;

use super::outcome::{PatchError, Refusal};

const DT_GNU_HASH: i64 = 0x6fff_fef5;
const DT_VERSYM: i64 = 0x6fff_fff0;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_SONAME: i64 = 14;

const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const SHN_UNDEF: u16 = 0;
/// The bit of a version index that marks a version other than the default.
const HIDDEN: u16 = 0x8000;

/// Where a function lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its first byte.
    pub entry: usize,
    /// Its length.
    pub size: usize,
}

/// What looking a name up gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// A function inside the text.
    Found(Function),
    /// No such name.
    Missing,
    /// Something that must not be patched.
    Unusable(Refusal),
}

/// A loaded shared object, by its tables in memory. They stay valid because libc is never unloaded.
#[derive(Clone, Copy)]
pub struct Image {
    base: usize,
    /// The executable segment.
    pub text: Span,
    symbols: *const libc::Elf64_Sym,
    strings: *const libc::c_char,
    versions: *const u16,
    hash: *const u32,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first address.
    pub start: usize,
    /// The address behind the last.
    pub end: usize,
}

impl Span {
    /// Whether all of `part` lies inside.
    pub fn holds(self, part: Range<usize>) -> bool {
        self.start <= part.start && part.start <= part.end && part.end <= self.end
    }
}

/// The addresses that a dynamic section names.
#[derive(Default)]
struct Tables {
    hash: usize,
    versions: usize,
    strings: usize,
    symbols: usize,
    soname: Option<usize>,
}

impl Image {
    /// The C library of this process.
    pub fn libc() -> Result<Self, PatchError> {
        let mut found: Result<Self, PatchError> = Err(PatchError::NoLibc);
        // SAFETY: the callback has the signature that is asked for, and `found` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
        found
    }

    /// The image that `info` describes, if it is glibc.
    ///
    /// # Safety
    ///
    /// `info` must come from `dl_iterate_phdr`.
    unsafe fn of(info: &libc::dl_phdr_info) -> Option<Result<Self, PatchError>> {
        let base = info.dlpi_addr as usize;
        // SAFETY: the linker gives that many headers at that address.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
        // SAFETY: a PT_DYNAMIC header names the object's dynamic section, mapped at the object's base.
        let tables = unsafe { Tables::read(base, base + dynamic.p_vaddr as usize) };
        if tables.strings == 0 {
            return None;
        }
        let strings = tables.strings as *const libc::c_char;
        // SAFETY: DT_SONAME is an offset of a terminated string in the string table.
        let soname = unsafe { CStr::from_ptr(strings.add(tables.soname?)) };
        if soname != c"libc.so.6" {
            return None;
        }
        if tables.hash == 0 || tables.symbols == 0 {
            return Some(Err(PatchError::NoSymbols));
        }
        let wanted = libc::PF_R | libc::PF_X;
        let text = headers.iter().find(|h| h.p_type == libc::PT_LOAD && h.p_flags & wanted == wanted);
        let Some(text) = text else {
            return Some(Err(PatchError::NoSymbols));
        };
        let start = base + text.p_vaddr as usize;
        Some(Ok(Self {
            base,
            text: Span { start, end: start + text.p_memsz as usize },
            symbols: tables.symbols as *const _,
            strings,
            versions: tables.versions as *const u16,
            hash: tables.hash as *const u32,
        }))
    }

    /// Looks `name` up in the hash table.
    pub fn find(&self, name: &CStr) -> Lookup {
        let hash = gnu_hash(name);
        // SAFETY: DT_GNU_HASH has this layout: four words, the filter, the buckets, the chains; the indices are
        // kept within what the table itself says.
        unsafe {
            let [buckets, first, filter_len, _] = self.hash.cast::<[u32; 4]>().read();
            let bucket_table = self.hash.add(4 + 2 * filter_len as usize);
            let chains = bucket_table.add(buckets as usize);
            let mut index = *bucket_table.add((hash % buckets.max(1)) as usize);
            let mut fallback = Lookup::Missing;
            if index < first {
                return fallback;
            }
            loop {
                let chain = *chains.add((index - first) as usize);
                if chain | 1 == hash | 1 && self.is_named(index, name) {
                    let found = self.classify(&*self.symbols.add(index as usize));
                    if found != Lookup::Missing && self.is_default(index) {
                        return found;
                    }
                    if fallback == Lookup::Missing {
                        fallback = found;
                    }
                }
                if chain & 1 != 0 {
                    return fallback;
                }
                index += 1;
            }
        }
    }

    /// # Safety
    ///
    /// `index` must be one of the symbol table.
    unsafe fn is_named(&self, index: u32, name: &CStr) -> bool {
        // SAFETY: as promised, and a symbol's name is an offset of a terminated string.
        unsafe {
            let symbol = &*self.symbols.add(index as usize);
            CStr::from_ptr(self.strings.add(symbol.st_name as usize)) == name
        }
    }

    /// # Safety
    ///
    /// `index` must be one of the symbol table.
    unsafe fn is_default(&self, index: u32) -> bool {
        // SAFETY: the version table has one entry for each symbol.
        self.versions.is_null() || unsafe { *self.versions.add(index as usize) } & HIDDEN == 0
    }

    fn classify(&self, symbol: &libc::Elf64_Sym) -> Lookup {
        if symbol.st_shndx == SHN_UNDEF {
            return Lookup::Missing;
        }
        let function =
            Function { entry: self.base + symbol.st_value as usize, size: symbol.st_size as usize };
        match symbol.st_info & 0xf {
            STT_GNU_IFUNC => Lookup::Unusable(Refusal::Indirect),
            STT_FUNC if function.size == 0 => Lookup::Unusable(Refusal::SizeUnknown),
            STT_FUNC if self.text.holds(function.entry..function.entry + function.size) => {
                Lookup::Found(function)
            }
            STT_FUNC => Lookup::Unusable(Refusal::OutsideText),
            _ => Lookup::Unusable(Refusal::NotAFunction),
        }
    }

    /// Calls `each` for every function that the table defines.
    #[cfg(test)]
    pub fn each_function(&self, mut each: impl FnMut(&CStr, Function)) {
        // SAFETY: as in `find`; the chains of all buckets are walked.
        unsafe {
            let [buckets, first, filter_len, _] = self.hash.cast::<[u32; 4]>().read();
            let bucket_table = self.hash.add(4 + 2 * filter_len as usize);
            let chains = bucket_table.add(buckets as usize);
            for bucket in 0..buckets as usize {
                let mut index = *bucket_table.add(bucket);
                while index >= first {
                    let symbol = &*self.symbols.add(index as usize);
                    if let Lookup::Found(function) = self.classify(symbol) {
                        each(CStr::from_ptr(self.strings.add(symbol.st_name as usize)), function);
                    }
                    if *chains.add((index - first) as usize) & 1 != 0 {
                        break;
                    }
                    index += 1;
                }
            }
        }
    }
}

impl Tables {
    /// # Safety
    ///
    /// `section` must be the address of the dynamic section of an object loaded at `base`.
    unsafe fn read(base: usize, section: usize) -> Self {
        let mut tables = Self::default();
        let mut entry = section as *const [i64; 2];
        loop {
            // SAFETY: the section is an array of pairs that a null tag ends.
            let [tag, value] = unsafe { entry.read() };
            let value = value as usize;
            // glibc's linker stores addresses here, the file has offsets.
            let address = if value < base { base + value } else { value };
            match tag {
                0 => return tables,
                DT_GNU_HASH => tables.hash = address,
                DT_VERSYM => tables.versions = address,
                DT_STRTAB => tables.strings = address,
                DT_SYMTAB => tables.symbols = address,
                DT_SONAME => tables.soname = Some(value),
                _ => {}
            }
            // SAFETY: the end has not been reached.
            entry = unsafe { entry.add(1) };
        }
    }
}

/// Takes the first object that is glibc and stops there.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: the linker passes a valid description and the pointer that `libc` gave it.
    unsafe {
        let Some(image) = Image::of(&*info) else { return 0 };
        *found.cast::<Result<Image, PatchError>>() = image;
    }
    1
}

fn gnu_hash(name: &CStr) -> u32 {
    name.to_bytes().iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add((*byte).into()))
}
