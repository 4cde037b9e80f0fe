//! The environment of the next image: ours put back where it was lost, and the survivors named.

use super::Survivor;
use crate::peek;
use libc::{c_char, c_int};
use millpond_segment::sys;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, CString};
use std::io::Write;

/// Names the client slot and the surviving descriptors: `SLOT:FD=DESCRIPTION,…`.
pub const ADOPT: &CStr = c"MILLPOND_ADOPT";
/// Variables of ours, in the order of [`KEPT`].
const NAMES: [&[u8]; OURS] =
    [b"LD_PRELOAD=", b"MILLPOND_SOCKET=", b"MILLPOND_STORES=", b"MILLPOND_EXCLUDE=", b"MILLPOND_RUN="];
/// Our variables. Those from [`NEEDED`] on need not be there.
const OURS: usize = 5;
const NEEDED: usize = 3;
/// Longest variable that can be put back.
const KEEP: usize = 4096;
/// Variables that are passed on from the stack, which may be one of 16 KiB; larger environments go through a mapping.
const SMALL: usize = 128;
/// Longest list of survivors: each takes two numbers of five digits.
const NAMED: usize = 1024;

/// The variables as this image got them.
static KEPT: OnceCell<[Option<CString>; OURS]> = OnceCell::new();

/// Keeps our variables of the environment that this image got. Called once, by the constructor.
pub fn remember(get: impl Fn(&CStr) -> Option<&'static CStr>) {
    let whole = |name: &[u8]| {
        let mut key = [0u8; 32];
        key[..name.len() - 1].copy_from_slice(&name[..name.len() - 1]);
        let value = get(CStr::from_bytes_until_nul(&key).ok()?)?.to_bytes();
        CString::new([name, value].concat()).ok().filter(|v| v.as_bytes().len() < KEEP)
    };
    let kept = NAMES.map(whole);
    if kept[..NEEDED].iter().all(Option::is_some) {
        let _ = KEPT.set(kept);
    }
}

fn kept(i: usize) -> Option<&'static CStr> {
    KEPT.get()?.get(i)?.as_deref()
}

/// The shim's own entry in `LD_PRELOAD`: the one that ends in its file name.
pub(super) fn has_shim(value: &[u8]) -> bool {
    value.windows(SHIM.len()).any(|w| w == SHIM)
}

const SHIM: &[u8] = b"libmillpond.so";

/// Runs `call` with `envp`, amended: our variables are there, and `survivors` are named.
///
/// # Safety
/// `envp` must be null or a list of C strings that ends with null.
pub unsafe fn with(
    envp: *const *const c_char,
    named: Option<(u32, &[Survivor])>,
    call: impl FnOnce(*const *const c_char) -> c_int,
) -> c_int {
    if KEPT.get().is_none() {
        return call(envp);
    }
    if !peek::is_list_there(envp.cast()) {
        return call(envp);
    }
    // SAFETY: as the caller promises, and it is there.
    let Environment { count, have, other } = unsafe { look(envp) };
    if named.is_none() && (0..OURS).all(|i| have[i] || kept(i).is_none()) {
        return call(envp);
    }
    let mut adopt = [0u8; NAMED];
    if let Some((slot, survivors)) = named {
        name_survivors(&mut adopt, slot, survivors);
    }
    let room = count + OURS + 2;
    if room <= SMALL && !other {
        let mut list = [std::ptr::null(); SMALL];
        // SAFETY: the list has room for all of it.
        unsafe { fill(&mut list, envp, have, &mut [], named.is_some().then_some(&adopt)) };
        return call(list.as_ptr());
    }
    let list_bytes = room * size_of::<*const c_char>();
    let Some(scratch) = Scratch::new(list_bytes + KEEP) else { return call(envp) };
    // SAFETY: the memory has room for `room` pointers and for a variable behind them.
    unsafe {
        let list = std::slice::from_raw_parts_mut(scratch.at as *mut *const c_char, room);
        let preload = std::slice::from_raw_parts_mut((scratch.at + list_bytes) as *mut u8, KEEP);
        fill(list, envp, have, preload, named.is_some().then_some(&adopt));
        call(list.as_ptr())
    }
}

/// Memory for a list that is too large for the stack: a mapping, as it may not be allocated. It goes when an `exec` succeeds, and with the value.
pub(super) struct Scratch {
    pub(super) at: usize,
    bytes: usize,
}

impl Scratch {
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let kind = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
        // SAFETY: an anonymous mapping.
        let at = unsafe { sys::syscall(libc::SYS_mmap, [0, bytes, access, kind, usize::MAX, 0]) };
        Some(Self { at: at.ok()?, bytes })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the mapping made above, which nothing refers to any more.
        let _ = unsafe { sys::syscall(libc::SYS_munmap, [self.at, self.bytes, 0, 0, 0, 0]) };
    }
}

/// What a list of variables holds.
#[derive(Default)]
struct Environment {
    /// Number of variables.
    count: usize,
    /// Which of ours are among them.
    have: [bool; OURS],
    /// Whether it has an `LD_PRELOAD` that lacks the shim.
    other: bool,
}

unsafe fn look(envp: *const *const c_char) -> Environment {
    let Environment { mut count, mut have, mut other } = Environment::default();
    if envp.is_null() {
        return Environment::default();
    }
    // SAFETY: a list that ends with null, of C strings.
    unsafe {
        while !(*envp.add(count)).is_null() {
            let variable = CStr::from_ptr(*envp.add(count)).to_bytes();
            for (i, name) in NAMES.iter().enumerate() {
                have[i] |= variable.starts_with(name) && (i > 0 || has_shim(variable));
            }
            other |= variable.starts_with(NAMES[0]) && !has_shim(variable);
            count += 1;
        }
    }
    Environment { count, have, other }
}

/// Writes the amended list.
unsafe fn fill(
    list: &mut [*const c_char],
    envp: *const *const c_char,
    have: [bool; OURS],
    preload: &mut [u8],
    adopt: Option<&[u8; NAMED]>,
) {
    let mut at = 0;
    let mut source = envp;
    // SAFETY: a list that ends with null, of C strings.
    while let Some(&variable) = unsafe { source.as_ref() }.filter(|v| !v.is_null()) {
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(variable) }.to_bytes();
        // SAFETY: the list has not ended.
        source = unsafe { source.add(1) };
        if text.strip_prefix(ADOPT.to_bytes()).is_some_and(|rest| rest.starts_with(b"="))
            || !have[0] && text.starts_with(NAMES[0]) && joined(preload, text)
        {
            continue;
        }
        list[at] = variable;
        at += 1;
    }
    for (i, there) in have.iter().enumerate() {
        let joined = i == 0 && preload.first().is_some_and(|&b| b != 0);
        let variable = if joined { Some(preload.as_ptr().cast()) } else { kept(i).map(CStr::as_ptr) };
        if let (false, Some(variable)) = (*there, variable) {
            list[at] = variable;
            at += 1;
        }
    }
    if let Some(adopt) = adopt {
        list[at] = adopt.as_ptr().cast();
        at += 1;
    }
    list[at] = std::ptr::null();
}

/// A program's own `LD_PRELOAD` without the shim gets it in front. `false` when it does not fit.
fn joined(preload: &mut [u8], theirs: &[u8]) -> bool {
    let entry = kept(0).unwrap_or_default().to_bytes()[NAMES[0].len()..]
        .split(|&b| b == b':' || b == b' ')
        .find(|e| has_shim(e))
        .unwrap_or(&[]);
    let rest = &theirs[NAMES[0].len()..];
    let Some(room) = preload.len().checked_sub(1) else { return false };
    let mut at = &mut preload[..room];
    let whole = at.write_all(NAMES[0]).and_then(|()| at.write_all(entry));
    let whole = if rest.is_empty() {
        whole
    } else {
        whole.and_then(|()| at.write_all(b":")).and_then(|()| at.write_all(rest))
    };
    if whole.is_err() {
        preload[0] = 0;
    }
    whole.is_ok()
}

fn name_survivors(out: &mut [u8; NAMED], slot: u32, survivors: &[Survivor]) {
    let mut at = &mut out[..NAMED - 1];
    let _ = write!(at, "{}={slot}:", ADOPT.to_str().unwrap_or_default());
    for (fd, description) in survivors {
        let _ = write!(at, "{fd}={description},");
    }
}

/// What an image was told of its descriptors: the slot, and an iterator over descriptor and description.
pub fn adopted(value: &[u8]) -> Option<(u32, impl Iterator<Item = Survivor> + Clone + '_)> {
    let text = std::str::from_utf8(value).ok()?;
    let (slot, list) = text.split_once(':')?;
    let pairs = list.split(',').filter_map(|pair| {
        let (fd, description) = pair.split_once('=')?;
        Some((fd.parse().ok()?, description.parse().ok()?))
    });
    Some((slot.parse().ok()?, pairs))
}

/// The `LD_PRELOAD` that this image got, without its name.
pub(super) fn preload() -> &'static [u8] {
    kept(0).map_or(&[], |variable| &variable.to_bytes()[NAMES[0].len()..])
}
