//! A function of libc that no symbol names, found by who calls it.
//!
//! What holds here: it is taken only when two exported functions, which do nothing but call it, agree on where it stands.

use super::decode::{decode, Kind};
use super::image::{Function, Image, Lookup};
use super::outcome::Refusal;
use super::LAST_WORDS;
use std::ffi::CStr;

/// Functions whose one call it is.
const CALLERS: [&CStr; 2] = [c"__libc_fatal", c"__fortify_fail"];
/// More than its size: what is looked through for branches into its head, as far as the next function that is known. Looking at more errs on the side of
/// refusing.
const REACH: usize = 2048;

/// Looks a name up, [`LAST_WORDS`] too.
pub fn find(libc: &Image, name: &CStr) -> Lookup {
    match libc.find(name) {
        Lookup::Missing if name == LAST_WORDS => last_words(libc),
        found => found,
    }
}

fn last_words(libc: &Image) -> Lookup {
    let [one, other] = CALLERS.map(|caller| called_by(libc, caller));
    match (one, other) {
        (Some(entry), Some(same)) if entry == same => {
            let next = CALLERS.into_iter().filter_map(|caller| match libc.find(caller) {
                Lookup::Found(function) if function.entry > entry => Some(function.entry),
                _ => None,
            });
            let end = next.min().unwrap_or(libc.text.end).min(libc.text.end);
            let size = REACH.min(end.saturating_sub(entry));
            if libc.text.holds(entry..entry + size) {
                Lookup::Found(Function { entry, size })
            } else {
                Lookup::Unusable(Refusal::OutsideText)
            }
        }
        _ => Lookup::Missing,
    }
}

/// The target of the only call that an exported function makes.
fn called_by(libc: &Image, caller: &CStr) -> Option<usize> {
    let Lookup::Found(function) = libc.find(caller) else { return None };
    // SAFETY: the symbol table says that this is code of libc's text, which is readable and which nobody changes while this runs.
    let code = unsafe { std::slice::from_raw_parts(function.entry as *const u8, function.size) };
    let (mut at, mut target) = (0, None);
    while at < code.len() {
        let instruction = decode(&code[at..], function.entry + at)?;
        at += instruction.len;
        if let Kind::Call(to) = instruction.kind {
            if target.is_some_and(|known| known != to) {
                return None;
            }
            target = Some(to);
        }
    }
    target
}
