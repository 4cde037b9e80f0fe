//! Directory entries: a program that lists its descriptors (`/proc/self/fd`, `/dev/fd`) does not meet ours among them.

use crate::attach;
use std::ffi::CStr;

/// Where the fields of a `linux_dirent64` lie.
const RECORD_LEN: usize = 16;
const KIND: usize = 18;
const NAME: usize = 19;

/// `getdents64`: `next` is the kernel's, into `buf`.
///
/// # Safety
/// `buf` is where `next` has put as many bytes of entries as it returns.
pub unsafe fn getdents(next: impl Fn() -> isize, dir: i32, buf: *mut u8) -> isize {
    loop {
        let filled = next();
        let own = attach::own_descriptor();
        if own < 0 || filled <= 0 {
            return filled;
        }
        // SAFETY: as the caller promises.
        match unsafe { without(own, dir, buf, filled as usize) } {
            // Nothing else was in it, which would say that the directory ends here.
            0 => {}
            left => return left as isize,
        }
    }
}

/// Takes the entry that leads to descriptor `own` out of the entries of `dir`. Returns how many bytes are left.
unsafe fn without(own: i32, dir: i32, buf: *mut u8, filled: usize) -> usize {
    let mut at = 0;
    while at + NAME < filled {
        // SAFETY: a record of the kernel's starts here and ends before `filled`; its name ends with a zero.
        unsafe {
            let record = buf.add(at);
            let len = usize::from(record.add(RECORD_LEN).cast::<u16>().read_unaligned());
            if *record.add(KIND) == libc::DT_LNK {
                let name = CStr::from_ptr(record.add(NAME).cast());
                if is_number(name, own) && attach::leads_to_own(dir, name) {
                    let behind = filled - (at + len);
                    std::ptr::copy(record.add(len), record, behind);
                    return at + behind;
                }
            }
            at += len.max(1);
        }
    }
    filled
}

/// Whether `name` is `number` in decimal digits.
fn is_number(name: &CStr, number: i32) -> bool {
    let mut rest = number;
    for &digit in name.to_bytes().iter().rev() {
        if rest == 0 || i32::from(digit) != i32::from(b'0') + rest % 10 {
            return false;
        }
        rest /= 10;
    }
    rest == 0
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn names_of_descriptors_are_their_digits() {
        assert!(is_number(c"1000", 1000));
        assert!(is_number(c"7", 7));
        for other in [c"", c"100", c"01000", c"10000", c"1001", c"x000"] {
            assert!(!is_number(other, 1000), "{other:?}");
        }
    }
}
