//! Libraries that are loaded later: after `dlopen` their slots are looked through (`got::patch`).
//!
//! The loader looks where the *caller* of `dlopen` says (its RUNPATH, `$ORIGIN`), so we may call it
//! ourselves only with a path that means the same to everybody, or a name for a caller that has no places of
//! its own. With any other the call goes on as it came, and what it loaded is looked through at the next
//! occasion: the next `dlopen`, or `MPI_Init`.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use crate::got;
use crate::real as libc_real;
use crate::settings::SETTINGS;

mod real {
    use super::*;

    crate::real! {
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void, else ptr::null_mut();
    }
}

/// Where a call of `dlopen` from an address goes: to the real one, or to ours.
///
/// # Safety
/// `path` is null or a C string.
pub unsafe extern "C" fn choose(path: *const c_char, caller: usize) -> *const c_void {
    // SAFETY: the caller vouches.
    let path = if path.is_null() { c"" } else { unsafe { CStr::from_ptr(path) } };
    let path = path.to_bytes();
    let means_the_same = match path {
        // The program itself: nothing is loaded.
        [] => false,
        path if path.contains(&b'$') => false,
        path => path.contains(&b'/') || got::search::is_everybodys(caller),
    };
    if !SETTINGS.disabled() && means_the_same {
        return dlopen as *const c_void;
    }
    let found: *const c_void = libc_real::next(c"dlopen");
    if found.is_null() { absent as *const c_void } else { found }
}

/// Loads a library, and looks through its slots.
///
/// # Safety
/// The contract of `dlopen(3)`; the path is the same to everybody.
unsafe extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's contract is the real function's.
    let done = unsafe { real::dlopen(path, flags) };
    if !done.is_null() {
        got::patch::scan(got::FAMILIES);
    }
    done
}

/// Stands for `dlopen` where there is none.
unsafe extern "C" fn absent(_: *const c_char, _: c_int) -> *mut c_void {
    ptr::null_mut()
}
