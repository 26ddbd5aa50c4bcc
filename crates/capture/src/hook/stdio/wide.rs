//! Wide characters. How many bytes they become only the stream's encoding knows, so the position is
//! asked before and after; a table of hooks that differ in nothing else.

use core::ffi::{c_int, c_void};

use libc::wchar_t;
use netra_event::Function;

use super::stream::{self, File};
use crate::call::Call;

#[expect(non_camel_case_types, reason = "it is C's name")]
type wint_t = u32;
const WEOF: wint_t = u32::MAX;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn fgetwc(stream: *mut File) -> wint_t, else WEOF;
        fn fgetwc_unlocked(stream: *mut File) -> wint_t, else WEOF;
        fn __wuflow(stream: *mut File) -> wint_t, else WEOF;
        fn getwchar() -> wint_t, else WEOF;
        fn getwchar_unlocked() -> wint_t, else WEOF;
        fn fgetws(into: *mut wchar_t, size: c_int, stream: *mut File) -> *mut wchar_t, else core::ptr::null_mut();
        fn fgetws_unlocked(into: *mut wchar_t, size: c_int, stream: *mut File) -> *mut wchar_t, else core::ptr::null_mut();
        fn __fgetws_chk(into: *mut wchar_t, room: usize, size: c_int, stream: *mut File) -> *mut wchar_t, else core::ptr::null_mut();
        fn __fgetws_unlocked_chk(into: *mut wchar_t, room: usize, size: c_int, stream: *mut File) -> *mut wchar_t, else core::ptr::null_mut();
        fn fputwc(c: wchar_t, stream: *mut File) -> wint_t, else WEOF;
        fn putwc(c: wchar_t, stream: *mut File) -> wint_t, else WEOF;
        fn fputwc_unlocked(c: wchar_t, stream: *mut File) -> wint_t, else WEOF;
        fn putwc_unlocked(c: wchar_t, stream: *mut File) -> wint_t, else WEOF;
        fn putwchar(c: wchar_t) -> wint_t, else WEOF;
        fn putwchar_unlocked(c: wchar_t) -> wint_t, else WEOF;
        fn fputws(text: *const wchar_t, stream: *mut File) -> c_int, else -1;
        fn fputws_unlocked(text: *const wchar_t, stream: *mut File) -> c_int, else -1;
        fn __woverflow(stream: *mut File, c: wint_t) -> wint_t, else WEOF;
        fn vfwprintf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __vfwprintf_chk(stream: *mut File, flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn vwprintf(format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __vwprintf_chk(flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __isoc99_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __isoc23_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __isoc99_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
        fn __isoc23_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, else -1;
    }
}

/// Hooks: the name, its code, the real function, its arguments, the stream, and how a result shows
/// success.
macro_rules! wide {
    ($write:literal: $($name:ident = $function:ident, $real:ident($($arg:ident: $kind:ty),*) -> $result:ty, on $stream:expr, if done $success:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> $result {
            let stream = $stream;
            // SAFETY: an open stream, by the caller's contract.
            let before = unsafe { stream::position_before(stream) };
            let call = Call::begin(Function::$function, site);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$real($($arg),*) };
            let bytes = if wide!(@success done $success) {
                // SAFETY: an open stream, by the caller's contract.
                Some(unsafe { stream::bytes_since(stream, before) })
            } else {
                None
            };
            // SAFETY: an open stream, by the caller's contract.
            unsafe { stream::moved::<$write>(call, stream, bytes.unwrap_or(0), bytes) };
            done
        }
    )*};
    (@success $done:ident character) => { $done != WEOF };
    (@success $done:ident text) => { $done >= 0 };
    (@success $done:ident fields) => { $done > 0 };
    (@success $done:ident line) => { !$done.is_null() };
}

wide! { false:
    fgetwc = Fgetwc, fgetwc(stream: *mut File) -> wint_t, on stream, if done character;
    fgetwc_unlocked = Fgetwc, fgetwc_unlocked(stream: *mut File) -> wint_t, on stream, if done character;
    getwchar = Getwchar, getwchar() -> wint_t, on stream::standard_input(), if done character;
    getwchar_unlocked = Getwchar, getwchar_unlocked() -> wint_t, on stream::standard_input(), if done character;
    fgetws = Fgetws, fgetws(into: *mut wchar_t, size: c_int, stream: *mut File) -> *mut wchar_t, on stream, if done line;
    fgetws_unlocked = Fgetws, fgetws_unlocked(into: *mut wchar_t, size: c_int, stream: *mut File) -> *mut wchar_t, on stream, if done line;
    __fgetws_chk = Fgetws, __fgetws_chk(into: *mut wchar_t, room: usize, size: c_int, stream: *mut File) -> *mut wchar_t, on stream, if done line;
    __fgetws_unlocked_chk = Fgetws, __fgetws_unlocked_chk(into: *mut wchar_t, room: usize, size: c_int, stream: *mut File) -> *mut wchar_t, on stream, if done line;
    __wuflow = Uflow, __wuflow(stream: *mut File) -> wint_t, on stream, if done character;
    fwscanf = Fwscanf, vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    vfwscanf = Vfwscanf, vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    wscanf = Wscanf, vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
    vwscanf = Vwscanf, vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
    __isoc99_fwscanf = Fwscanf, __isoc99_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    __isoc99_vfwscanf = Vfwscanf, __isoc99_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    __isoc99_wscanf = Wscanf, __isoc99_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
    __isoc99_vwscanf = Vwscanf, __isoc99_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
    __isoc23_fwscanf = Fwscanf, __isoc23_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    __isoc23_vfwscanf = Vfwscanf, __isoc23_vfwscanf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done fields;
    __isoc23_wscanf = Wscanf, __isoc23_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
    __isoc23_vwscanf = Vwscanf, __isoc23_vwscanf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_input(), if done fields;
}

wide! { true:
    fputwc = Fputwc, fputwc(c: wchar_t, stream: *mut File) -> wint_t, on stream, if done character;
    putwc = Fputwc, putwc(c: wchar_t, stream: *mut File) -> wint_t, on stream, if done character;
    fputwc_unlocked = Fputwc, fputwc_unlocked(c: wchar_t, stream: *mut File) -> wint_t, on stream, if done character;
    putwc_unlocked = Fputwc, putwc_unlocked(c: wchar_t, stream: *mut File) -> wint_t, on stream, if done character;
    putwchar = Putwchar, putwchar(c: wchar_t) -> wint_t, on stream::standard_output(), if done character;
    putwchar_unlocked = Putwchar, putwchar_unlocked(c: wchar_t) -> wint_t, on stream::standard_output(), if done character;
    fputws = Fputws, fputws(text: *const wchar_t, stream: *mut File) -> c_int, on stream, if done text;
    fputws_unlocked = Fputws, fputws_unlocked(text: *const wchar_t, stream: *mut File) -> c_int, on stream, if done text;
    __woverflow = Overflow, __woverflow(stream: *mut File, c: wint_t) -> wint_t, on stream, if done character;
    fwprintf = Fwprintf, vfwprintf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done text;
    vfwprintf = Vfwprintf, vfwprintf(stream: *mut File, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done text;
    wprintf = Wprintf, vwprintf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_output(), if done text;
    vwprintf = Vwprintf, vwprintf(format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_output(), if done text;
    __fwprintf_chk = Fwprintf, __vfwprintf_chk(stream: *mut File, flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done text;
    __vfwprintf_chk = Vfwprintf, __vfwprintf_chk(stream: *mut File, flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, on stream, if done text;
    __wprintf_chk = Wprintf, __vwprintf_chk(flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_output(), if done text;
    __vwprintf_chk = Vwprintf, __vwprintf_chk(flag: c_int, format: *const wchar_t, list: *mut c_void) -> c_int, on stream::standard_output(), if done text;
}
