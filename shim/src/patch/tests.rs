//! The parts of the patcher against crafted code, and the decoder against `iced-x86` over all of libc.

use std::ffi::c_void;
use std::ptr;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, OpKind};

use super::decode::{decode, Kind};
use super::head::Head;
use super::image::{Image, Lookup};
use super::outcome::Refusal;
use super::relocate::trampoline;
use super::{patch_entries, Outcome, PatchError};

/// Finds the head of `code` as if it stood at a fixed address.
fn head(code: &[u8]) -> Result<Head, Refusal> {
    Head::find(code, 0x10_0000)
}

#[test]
fn decoder_agrees_with_iced_over_all_of_libc() {
    let mut known = 0usize;
    let mut unknown = 0usize;
    Image::libc().unwrap().each_function(|name, function| {
        // SAFETY: a function that lies in libc's text.
        let code = unsafe { std::slice::from_raw_parts(function.entry as *const u8, function.size) };
        let mut reference = Decoder::with_ip(64, code, function.entry as u64, DecoderOptions::NONE);
        while reference.can_decode() {
            let at = reference.position();
            let wanted = reference.decode();
            if wanted.is_invalid() {
                break;
            }
            let Some(got) = decode(&code[at..], function.entry + at) else {
                unknown += 1;
                continue;
            };
            known += 1;
            assert_eq!(got.len, wanted.len(), "{name:?}+{at:#x}: {:02x?}", &code[at..at + wanted.len()]);
            let target = (wanted.op_count() == 1 && wanted.op0_kind() == OpKind::NearBranch64)
                .then(|| wanted.near_branch_target() as usize);
            assert_eq!(got.target(), target, "{name:?}+{at:#x}: {:?}", wanted.code());
            let relative = wanted.is_ip_rel_memory_operand();
            assert_eq!(matches!(got.kind, Kind::RipRelative(_)), relative, "{name:?}+{at:#x}");
            if let Kind::RipRelative(field) = got.kind {
                assert_eq!(field, reference.get_constant_offsets(&wanted).displacement_offset());
            }
            let ends = matches!(
                wanted.flow_control(),
                FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Exception
            ) || wanted.code() == Code::Hlt;
            assert_eq!(got.kind == Kind::End, ends && !relative, "{name:?}+{at:#x}: {:?}", wanted.code());
        }
    });
    println!("{known} instructions agree, {unknown} are left to others");
    assert!(known > 100_000);
    assert!(unknown * 5 < known, "too much of libc is unknown: {unknown}");
}

#[test]
fn moved_heads_name_the_same_addresses() {
    // cmp byte [rip+0x11223344], 0; je +0x10; then the moved one must reach the same byte and the same target.
    let code = [0x80, 0x3d, 0x44, 0x33, 0x22, 0x11, 0, 0x74, 0x10, 0x90, 0xc3];
    let found = head(&code).unwrap();
    assert_eq!(found.len, 7);
    let to = 0x7f0_0000;
    let (moved, len) = trampoline(&found, to).unwrap();
    let mut decoder = Decoder::with_ip(64, &moved[..len], to as u64, DecoderOptions::NONE);
    assert_eq!(decoder.decode().ip_rel_memory_address(), 0x10_0007 + 0x1122_3344);
    assert_eq!(decoder.decode().near_branch_target(), 0x10_0007);
    assert!(!decoder.can_decode());
}

#[test]
fn short_branches_in_the_head_become_long_ones() {
    // test edi,edi; js +0x20; nop; then a call, all moved far away.
    let code = [0x85, 0xff, 0x78, 0x20, 0x90, 0xc3];
    let found = head(&code).unwrap();
    let to = 0x7000_0000;
    let (moved, len) = trampoline(&found, to).unwrap();
    let mut decoder = Decoder::with_ip(64, &moved[..len], to as u64, DecoderOptions::NONE);
    assert_eq!(decoder.decode().code(), Code::Test_rm32_r32);
    let branch = decoder.decode();
    assert_eq!((branch.code(), branch.near_branch_target()), (Code::Js_rel32_64, 0x10_0024));
    assert_eq!(decoder.decode().code(), Code::Nopd);
    assert_eq!(decoder.decode().near_branch_target(), 0x10_0005);
}

#[test]
fn a_head_out_of_reach_is_refused() {
    let found = head(&[0x80, 0x3d, 0, 0, 0, 0, 0, 0xc3]).unwrap();
    assert_eq!(trampoline(&found, 1 << 40).unwrap_err(), Refusal::OutOfReach);
}

#[test]
fn landing_pads_stay() {
    let code = [0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0xc3];
    let found = head(&code).unwrap();
    assert_eq!((found.start, found.len), (0x10_0004, 5));
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let refused = |code: &[u8]| head(code).err();
    // xor eax,eax; ret
    assert_eq!(refused(&[0x31, 0xc0, 0xc3]), Some(Refusal::TooShort));
    // xor eax,eax; ret; and padding that belongs to nobody
    assert_eq!(refused(&[0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90]), Some(Refusal::TooShort));
    // jmp +0; only two bytes of flow
    assert_eq!(refused(&[0xeb, 0x20, 0x90, 0x90, 0x90, 0x90]), Some(Refusal::TooShort));
    // jrcxz has no long form
    assert_eq!(refused(&[0xe3, 0x20, 0x90, 0x90, 0x90, 0x90]), Some(Refusal::Unmovable));
    // an instruction that the function does not hold in full
    assert_eq!(refused(&[0x31, 0xc0, 0xb8, 1, 0]), Some(Refusal::Undecodable));
    // push es does not exist in 64-bit mode
    assert_eq!(refused(&[0x06, 0x90, 0x90, 0x90, 0x90, 0x90]), Some(Refusal::Undecodable));
}

#[test]
fn branches_into_the_head_are_found_at_any_distance() {
    // xor eax,eax; dec edi; nop; jne back to the dec; ret
    assert_eq!(head(&[0x31, 0xc0, 0xff, 0xcf, 0x90, 0x75, 0xfb, 0xc3]).err(), Some(Refusal::BranchIntoHead));
    for distance in [130usize, 4_000, 70_000] {
        let mut code = vec![0x90; distance];
        code[..5].copy_from_slice(&[0xb8, 1, 0, 0, 0]);
        let back = 2i32 - (distance as i32 + 6);
        code.extend([0x0f, 0x85]);
        code.extend(back.to_le_bytes());
        code.push(0xc3);
        assert_eq!(head(&code).err(), Some(Refusal::BranchIntoHead), "at {distance}");
    }
    // The same bytes as an immediate are no branch: mov eax, imm32, whose last bytes read as a jump back.
    let mut code = vec![0xb8, 1, 0, 0, 0, 0xb8, 0, 0, 0x75, 0xf8, 0xc3];
    assert_eq!(head(&code).map(|found| found.len), Ok(5));
    code[5] = 0x90;
    assert_eq!(head(&code).err(), Some(Refusal::BranchIntoHead), "without the mov it is one");
}

/// A page of code, like libc's text: executable, and not writable.
struct CodePage(*mut u8);

impl CodePage {
    fn new(code: &[u8], protection: i32) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, filled before it is made executable.
        unsafe {
            let page = libc::mmap(ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            ptr::copy_nonoverlapping(code.as_ptr(), page.cast(), code.len());
            assert_eq!(libc::mprotect(page, 4096, protection), 0);
            Self(page.cast())
        }
    }

    fn start(&self) -> usize {
        self.0 as usize
    }

    fn call(&self, at: usize) -> i32 {
        // SAFETY: the tests put functions without arguments there.
        unsafe { std::mem::transmute::<usize, extern "C" fn() -> i32>(self.start() + at)() }
    }
}

impl Drop for CodePage {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.0.cast::<c_void>(), 4096) };
    }
}

extern "C" fn forty_two() -> i32 {
    42
}

#[test]
fn crafted_functions_are_patched_or_refused_one_by_one() {
    let mut code = [0x90; 96];
    // mov eax, 7; ret
    code[..6].copy_from_slice(&[0xb8, 7, 0, 0, 0, 0xc3]);
    // push 3; pop rax; dec eax; jne back to the dec, which the jump would cover; mov eax,9; ret
    code[32..46].copy_from_slice(&[0x6a, 3, 0x58, 0xff, 0xc8, 0x75, 0xfc, 0xb8, 9, 0, 0, 0, 0xc3, 0x90]);
    // mov eax, [rip+10]; ret; with the value at 64+16
    code[64..71].copy_from_slice(&[0x8b, 0x05, 10, 0, 0, 0, 0xc3]);
    code[80..84].copy_from_slice(&11i32.to_le_bytes());
    let page = CodePage::new(&code, libc::PROT_READ | libc::PROT_EXEC);
    let start = page.start();
    let handler = forty_two as *const ();
    let entries = [
        (start, 6, handler),
        (start + 32, 13, handler),
        (start + 64, 7, handler),
        (start, 6, handler),
        (start + 2, 4, handler),
    ];
    let mut outcomes = [Outcome::Missing; 5];
    // SAFETY: the page is ours, and no thread runs its code.
    let stats = unsafe { patch_entries(start..start + 4096, &entries, &mut outcomes) }.unwrap();
    assert_eq!((stats.patched, stats.aliases, stats.refused), (2, 1, 2));
    assert!(!stats.left_writable);
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::BranchIntoHead));
    assert_eq!(outcomes[3], Outcome::SameAs(0));
    assert!(matches!(outcomes[4], Outcome::Refused(_)));
    assert_eq!([page.call(0), page.call(32), page.call(64)], [42, 9, 42]);
    for (index, value) in [(0, 7), (2, 11)] {
        let Outcome::Patched(original) = outcomes[index] else { panic!("{index} is not patched") };
        // SAFETY: the trampoline of a function without arguments.
        let got = unsafe { std::mem::transmute::<*const (), extern "C" fn() -> i32>(original)() };
        assert_eq!(got, value);
    }
}

#[test]
fn a_refused_protection_changes_nothing() {
    // A shared mapping of a file that is open for reading cannot become writable: EACCES, as on a hardened kernel.
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: a new read-only mapping.
    let page = unsafe { libc::mmap(ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    let start = page as usize;
    // SAFETY: the page is mapped and readable.
    let before = unsafe { *(page as *const [u8; 64]) };
    // Any bytes of the page that read as a function will do.
    let at = (0..4000).find(|at| {
        // SAFETY: as above.
        let code = unsafe { std::slice::from_raw_parts((start + at) as *const u8, 32) };
        Head::find(code, start + at).is_ok()
    });
    let entries = [(start + at.unwrap(), 32, forty_two as *const ())];
    let mut outcomes = [Outcome::Missing];
    // SAFETY: the page is never executed.
    let result = unsafe { patch_entries(start..start + 4096, &entries, &mut outcomes) };
    assert_eq!(result, Err(PatchError::Protect(libc::EACCES)));
    assert_eq!(outcomes, [Outcome::Missing]);
    // SAFETY: still mapped; unmapped once.
    unsafe {
        assert_eq!(*(page as *const [u8; 64]), before);
        libc::munmap(page, 4096);
    }
}

#[test]
fn symbols_are_libcs_own() {
    let libc = Image::libc().unwrap();
    for name in [c"read", c"__read_nocancel", c"__open64_nocancel", c"__libc_fork", c"_exit", c"fstat64"] {
        assert!(matches!(libc.find(name), Lookup::Found(_)), "{name:?}");
    }
    assert_eq!(libc.find(c"millpond_has_no_such_symbol"), Lookup::Missing);
    assert_eq!(libc.find(c"memcpy"), Lookup::Unusable(Refusal::Indirect));
    assert_eq!(libc.find(c"environ"), Lookup::Unusable(Refusal::NotAFunction));
    // By libc's own handle: this test program exports the shim's symbols itself.
    // SAFETY: a terminated name of a library that is loaded.
    let handle = unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    assert!(!handle.is_null());
    for name in [c"write", c"posix_spawn", c"fcntl64", c"getline"] {
        // SAFETY: a terminated name.
        let wanted = unsafe { libc::dlsym(handle, name.as_ptr()) } as usize;
        let Lookup::Found(found) = libc.find(name) else { panic!("{name:?} is missing") };
        assert_eq!(found.entry, wanted, "{name:?}: not the default version");
    }
}
