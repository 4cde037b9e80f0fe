//! The next image without the shim: where its library is out of reach, of which the linker would complain on the program's standard error, and
//! after a process has restricted its system calls, which the shim's constructor does not know.

use super::environment::{has_shim, preload, Scratch};
use libc::{c_char, c_int};
use millpond_segment::sys;
use std::ffi::CStr;
use std::io::Write;

const NAME: &[u8] = b"LD_PRELOAD=";
/// Longest path of the library that is looked for.
const LONGEST_PATH: usize = 1024;
/// Longest list of other libraries that can be passed on.
const LONGEST: usize = 1024;
/// Variables that are passed on from the stack; larger environments go through a mapping.
const SMALL: usize = 128;

/// Whether the next image can load the shim: not after some changes of root, namespace or user.
pub fn is_loadable() -> bool {
    let own = entries(preload()).find(|e| has_shim(e)).unwrap_or(&[]);
    let mut path = [0u8; LONGEST_PATH];
    if !own.contains(&b'/') || own.len() >= LONGEST_PATH {
        return true;
    }
    path[..own.len()].copy_from_slice(own);
    let Ok(path) = CStr::from_bytes_until_nul(&path) else { return true };
    match sys::openat(libc::AT_FDCWD, path, libc::O_RDONLY | libc::O_CLOEXEC, 0) {
        Ok(fd) => {
            sys::close(fd);
            true
        }
        Err(e) => !matches!(e.0, libc::ENOENT | libc::ENOTDIR | libc::EACCES),
    }
}

/// Runs `call` with `envp`, in which no `LD_PRELOAD` names the shim.
///
/// # Safety
/// `envp` must be null or a list of C strings that ends with null.
pub unsafe fn run(envp: *const *const c_char, call: impl FnOnce(*const *const c_char) -> c_int) -> c_int {
    // SAFETY: as the caller promises.
    let (count, named) = unsafe { look(envp) };
    if !named {
        return call(envp);
    }
    let mut others = [0u8; LONGEST];
    if count < SMALL {
        let mut list = [std::ptr::null(); SMALL];
        // SAFETY: as the caller promises; there is room for the list.
        return call(unsafe { without(&mut list, envp, &mut others) });
    }
    let Some(scratch) = Scratch::new((count + 1) * size_of::<*const c_char>()) else { return call(envp) };
    // SAFETY: as the caller promises; the memory has room for the list.
    unsafe {
        let list = std::slice::from_raw_parts_mut(scratch.at as *mut *const c_char, count + 1);
        call(without(list, envp, &mut others))
    }
}

fn is_named(variable: &[u8]) -> bool {
    variable.starts_with(NAME) && has_shim(variable)
}

/// Number of variables, and whether one names the shim.
unsafe fn look(envp: *const *const c_char) -> (usize, bool) {
    let (mut count, mut named) = (0, false);
    // SAFETY: a list that ends with null, of C strings.
    unsafe {
        while let Some(&variable) = envp.wrapping_add(count).as_ref().filter(|v| !v.is_null()) {
            named |= is_named(CStr::from_ptr(variable).to_bytes());
            count += 1;
        }
    }
    (count, named)
}

/// Writes `envp` to `list`, the shim taken out; `envp` itself when the other libraries do not fit.
unsafe fn without(
    list: &mut [*const c_char],
    envp: *const *const c_char,
    others: &mut [u8; LONGEST],
) -> *const *const c_char {
    let (mut from, mut to) = (0, 0);
    // SAFETY: a list that ends with null, of C strings, which fits.
    unsafe {
        while let Some(&variable) = envp.wrapping_add(from).as_ref().filter(|v| !v.is_null()) {
            from += 1;
            let text = CStr::from_ptr(variable).to_bytes();
            list[to] = variable;
            if is_named(text) {
                match name_others(others, text) {
                    None => return envp,
                    Some(false) => continue,
                    Some(true) => list[to] = others.as_ptr().cast(),
                }
            }
            to += 1;
        }
    }
    list[to] = std::ptr::null();
    list.as_ptr()
}

fn entries(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&b| b == b':' || b == b' ').filter(|e| !e.is_empty())
}

/// What an `LD_PRELOAD` names besides the shim. Whether there is any; `None` when it does not fit.
fn name_others(out: &mut [u8; LONGEST], variable: &[u8]) -> Option<bool> {
    let mut at = &mut out[..LONGEST - 1];
    at.write_all(NAME).ok()?;
    let mut any = false;
    for entry in entries(&variable[NAME.len()..]).filter(|e| !has_shim(e)) {
        if any {
            at.write_all(b":").ok()?;
        }
        at.write_all(entry).ok()?;
        any = true;
    }
    Some(any)
}
