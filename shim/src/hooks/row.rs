//! What a row is made of.

use crate::errno::fail;
use crate::next::Next;
use millpond_segment::Errno;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// One row, for resolving and patching.
pub struct Row {
    /// The functions behind it.
    pub next: &'static Next,
    /// The handler for libc's patched entry, if it is to be patched.
    pub handler: Option<*const ()>,
    /// Whether the symbol is exported.
    pub exported: bool,
}

// SAFETY: the pointer is a function's.
unsafe impl Sync for Row {}

/// What a function returns when the C library at hand does not have it.
pub trait Missing {
    /// -1 and `ENOSYS`, or the like.
    fn missing() -> Self;
}

impl Missing for i32 {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS)) as Self
    }
}

impl Missing for i64 {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS)) as Self
    }
}

impl Missing for isize {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS))
    }
}

impl Missing for usize {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS)) as Self
    }
}

impl<T> Missing for *mut T {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS)) as Self
    }
}

impl Missing for () {
    fn missing() -> Self {
        fail(Errno(libc::ENOSYS));
    }
}

/// Runs an operation; a panic in it is as if the call were not ours.
#[inline]
pub fn guarded<T>(operation: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(operation)).unwrap_or(None)
}

/// Runs what looks at a result; a panic in it leaves the result as it is.
pub fn guarded_look(look: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(look));
}

/// Declares rows (see the module above).
macro_rules! rows {
    ($($mark:ident $kind:ident $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty $(| $next:ident |)? $body:block)*) => {
        $( #[allow(non_snake_case, clippy::too_many_arguments)]
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            #[allow(unused_imports)]
            use crate::hooks::row::{guarded, Missing};
            use crate::next::Next;

            pub static NEXT: Next = Next::new(match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a row's name has a zero in it"),
            });

            type Real = unsafe extern "C-unwind" fn($($t),*) -> $r;

            #[allow(dead_code)]
            #[inline]
            pub unsafe fn real(address: usize $(, $v: $t)*) -> $r {
                if address == 0 {
                    return <$r as Missing>::missing();
                }
                // SAFETY: the address is that of a function of this name and so of this type; the arguments are the program's.
                unsafe { std::mem::transmute::<usize, Real>(address)($($v),*) }
            }

            rows!(@body $kind $name ( $($v : $t),* ) -> $r $(| $next |)? $body);
        } )*

        /// The rows of this group.
        pub static ROWS: &[crate::hooks::Row] = &[
            $( crate::hooks::Row { next: &$name::NEXT, handler: rows!(@handler $mark $name), exported: rows!(@exported $kind) } ),*
        ];
    };

    (@handler patch $name:ident) => { Some($name::patched as *const ()) };
    (@handler plain $name:ident) => { None };
    (@exported inner) => { false };
    (@exported $kind:ident) => { true };

    (@body hook $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty $body:block) => {
        mod symbol {
            #[allow(unused_imports)]
            use super::*;
            redhook::hook! {
                unsafe fn $name($($v: $t),*) -> $r => entered {
                    match guarded(|| $body) {
                        Some(result) => result,
                        // SAFETY: the program's own call.
                        None => unsafe { super::real(super::NEXT.symbol() $(, $v)*) },
                    }
                }
            }
        }

        rows!(@body inner $name ( $($v : $t),* ) -> $r $body);
    };

    (@body point $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty $body:block) => {
        mod symbol {
            #[allow(unused_imports)]
            use super::*;
            #[no_mangle]
            pub unsafe extern "C-unwind" fn $name($($v: $t),*) -> $r {
                if crate::ops::cancel::is_special() {
                    // SAFETY: the program's own call.
                    return unsafe { super::cancellable(false $(, $v)*) };
                }
                match guarded(|| $body) {
                    Some(result) => result,
                    // SAFETY: the program's own call.
                    None => unsafe { super::real(super::NEXT.symbol() $(, $v)*) },
                }
            }
        }

        #[allow(dead_code)]
        pub unsafe extern "C-unwind" fn patched($($v: $t),*) -> $r {
            if crate::ops::cancel::is_special() {
                // SAFETY: the caller's own call.
                return unsafe { cancellable(true $(, $v)*) };
            }
            match guarded(|| $body) {
                Some(result) => result,
                // SAFETY: the caller's own call.
                None => unsafe { real(NEXT.original() $(, $v)*) },
            }
        }

        // Nothing to clean up here, and nothing inlined that has: see `ops::cancel`.
        #[cold]
        #[inline(never)]
        unsafe extern "C-unwind" fn cancellable(patched: bool $(, $v: $t)*) -> $r {
            let old = crate::ops::cancel::defer();
            crate::ops::cancel::point();
            // SAFETY: the caller's own call.
            let served = unsafe { undisturbed($($v),*) };
            crate::ops::cancel::allow(old);
            match served {
                Some(result) => result,
                None => {
                    let next = if patched { NEXT.original() } else { NEXT.symbol() };
                    // SAFETY: the caller's own call.
                    unsafe { real(next $(, $v)*) }
                }
            }
        }

        #[cold]
        #[inline(never)]
        unsafe fn undisturbed($($v: $t),*) -> Option<$r> {
            guarded(|| $body)
        }
    };

    (@body inner $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty $body:block) => {
        #[allow(dead_code)]
        pub unsafe extern "C-unwind" fn patched($($v: $t),*) -> $r {
            match guarded(|| $body) {
                Some(result) => result,
                // SAFETY: the caller's own call.
                None => unsafe { real(NEXT.original() $(, $v)*) },
            }
        }
    };

    (@body held $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty | $next:ident | $body:block) => {
        mod symbol {
            #[allow(unused_imports)]
            use super::*;
            #[no_mangle]
            pub unsafe extern "C-unwind" fn $name($($v: $t),*) -> $r {
                if crate::ops::cancel::is_anywhere() {
                    // SAFETY: the program's own call.
                    return unsafe { super::cancellable(false $(, $v)*) };
                }
                // SAFETY: the program's own call.
                unsafe { super::around(false $(, $v)*) }
            }
        }

        #[allow(dead_code)]
        pub unsafe extern "C-unwind" fn patched($($v: $t),*) -> $r {
            if crate::ops::cancel::is_anywhere() {
                // SAFETY: the caller's own call.
                return unsafe { cancellable(true $(, $v)*) };
            }
            // SAFETY: the caller's own call.
            unsafe { around(true $(, $v)*) }
        }

        #[inline(always)]
        unsafe fn around(patched: bool $(, $v: $t)*) -> $r {
            #[allow(unused_variables)]
            let $next = |$($v: $t),*| {
                let next = if patched { NEXT.original() } else { NEXT.symbol() };
                // SAFETY: the caller's own call.
                unsafe { real(next $(, $v)*) }
            };
            $body
        }

        // Nothing to clean up here, and nothing inlined that has: see `ops::cancel`.
        #[cold]
        #[inline(never)]
        unsafe extern "C-unwind" fn cancellable(patched: bool $(, $v: $t)*) -> $r {
            let old = crate::ops::cancel::defer();
            // SAFETY: the caller's own call.
            let result = unsafe { undisturbed(patched $(, $v)*) };
            crate::ops::cancel::allow(old);
            result
        }

        #[cold]
        #[inline(never)]
        unsafe fn undisturbed(patched: bool $(, $v: $t)*) -> $r {
            // SAFETY: the caller's own call.
            unsafe { around(patched $(, $v)*) }
        }
    };

    (@body inner $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty | $next:ident | $body:block) => {
        pub unsafe extern "C-unwind" fn patched($($v: $t),*) -> $r {
            // SAFETY: the caller's own call.
            #[allow(unused_variables)]
            let $next = |$($v: $t),*| unsafe { real(NEXT.original() $(, $v)*) };
            $body
        }
    };

    (@body around $name:ident ( $($v:ident : $t:ty),* ) -> $r:ty | $next:ident | $body:block) => {
        mod symbol {
            #[allow(unused_imports)]
            use super::*;
            #[no_mangle]
            pub unsafe extern "C-unwind" fn $name($($v: $t),*) -> $r {
                // SAFETY: the program's own call.
                #[allow(unused_variables)]
                let $next = |$($v: $t),*| unsafe { super::real(super::NEXT.symbol() $(, $v)*) };
                $body
            }
        }

        #[allow(dead_code)]
        pub unsafe extern "C-unwind" fn patched($($v: $t),*) -> $r {
            // SAFETY: the caller's own call.
            #[allow(unused_variables)]
            let $next = |$($v: $t),*| unsafe { real(NEXT.original() $(, $v)*) };
            $body
        }
    };
}
