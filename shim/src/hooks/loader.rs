//! The list of loaded objects, and objects that are loaded apart.

use crate::aside;
use libc::{c_char, c_int, c_long, c_void, dl_phdr_info};
use millpond_segment::stats::Reason;
use std::ffi::CStr;

type Look = unsafe extern "C" fn(*mut dl_phdr_info, usize, *mut c_void) -> c_int;

/// Names of the runtimes that refuse to start when another library comes before them in the list.
const PARTICULAR: [&[u8]; 2] = [b"libasan.so", b"libclang_rt.asan"];

/// A look at the list on behalf of a caller.
struct Asked {
    look: Look,
    data: *mut c_void,
    own: usize,
    last: bool,
    found: Option<dl_phdr_info>,
}

fn has(info: &dl_phdr_info, address: usize) -> bool {
    let segments = if info.dlpi_phdr.is_null() {
        &[][..]
    } else {
        // SAFETY: the loader's table, as long as said.
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
    };
    segments.iter().filter(|s| s.p_type == libc::PT_LOAD).any(|s| {
        let start = info.dlpi_addr as usize + s.p_vaddr as usize;
        (start..start + s.p_memsz as usize).contains(&address)
    })
}

fn is_particular(info: &dl_phdr_info) -> bool {
    if info.dlpi_name.is_null() {
        return false;
    }
    // SAFETY: the loader's name of the object.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    PARTICULAR.iter().any(|p| name.windows(p.len()).any(|w| w == *p))
}

/// Whether it is such a runtime that asks.
unsafe extern "C" fn who_asks(info: *mut dl_phdr_info, _size: usize, asked: *mut c_void) -> c_int {
    // SAFETY: the loader's object and our own question.
    let (info, asked) = unsafe { (&*info, &mut *asked.cast::<Asked>()) };
    asked.last |= is_particular(info) && has(info, asked.look as usize);
    0
}

unsafe extern "C" fn pass_on(info: *mut dl_phdr_info, size: usize, asked: *mut c_void) -> c_int {
    // SAFETY: the loader's object, our own question, the program's callback.
    unsafe {
        let asked = &mut *asked.cast::<Asked>();
        if has(&*info, asked.own) {
            asked.found = Some(*info);
            return 0;
        }
        (asked.look)(info, size, asked.data)
    }
}

rows! {
    plain around dl_iterate_phdr(look: Option<Look>, data: *mut c_void) -> c_int |next| {
        let Some(callback) = look else { return next(look, data) };
        let own = who_asks as *const () as usize;
        let mut asked = Asked { look: callback, data, own, last: false, found: None };
        let place = (&raw mut asked).cast();
        next(Some(who_asks), place);
        if !asked.last {
            return next(look, data);
        }
        // The shim comes last, not first.
        match (next(Some(pass_on), place), asked.found) {
            // SAFETY: the program's callback, with what the loader says of the shim.
            (0, Some(mut own)) => unsafe { callback(&raw mut own, size_of::<dl_phdr_info>(), data) },
            (result, _) => result,
        }
    }
    plain around dlmopen(space: c_long, name: *const c_char, flags: c_int) -> *mut c_void |next| {
        // What is loaded apart has a libc of its own, which nobody watches.
        if space != 0 && crate::attach::is_possible() {
            aside::step(Reason::Unpatched);
        }
        next(space, name, flags)
    }
}
