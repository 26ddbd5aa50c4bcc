//! Formatted output and input. Rust can not define variadic functions, so `fprintf` and its like are
//! a few lines of C in the preload library that turn their arguments into a list and come here; a
//! list travels as a pointer on our ABIs.

use core::ffi::{c_char, c_int, c_void};

use netra_event::Function;

use super::stream::{self, File};
use crate::call::Call;
use crate::call::Transfer;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn vfprintf(stream: *mut File, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __vfprintf_chk(stream: *mut File, flag: c_int, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn vprintf(format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __vprintf_chk(flag: c_int, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn vdprintf(descriptor: c_int, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __vdprintf_chk(descriptor: c_int, flag: c_int, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn vfscanf(stream: *mut File, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __isoc99_vfscanf(stream: *mut File, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __isoc23_vfscanf(stream: *mut File, format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn vscanf(format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __isoc99_vscanf(format: *const c_char, list: *mut c_void) -> c_int, else -1;
        fn __isoc23_vscanf(format: *const c_char, list: *mut c_void) -> c_int, else -1;
    }
}

/// Ends formatted output of `done` bytes.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn printed(call: Call, stream: *mut File, done: c_int) {
    let bytes = u64::try_from(done).ok();
    let bytes = bytes.filter(|&bytes| bytes > 0);
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<true>(call, stream, bytes.unwrap_or(0), bytes) };
}

/// Ends formatted output to a descriptor: one write.
fn printed_to(call: Call, descriptor: c_int, done: c_int) {
    let asked = usize::try_from(done).unwrap_or(0);
    let transfer = Transfer { descriptor, at: None, asked, aligned: true };
    // A count of bytes, or −1.
    call.moved::<true>(transfer, done as isize);
}

/// Ends formatted input of `done` fields; its bytes are the way of the position.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn scanned(call: Call, stream: *mut File, before: Option<u64>, done: c_int) {
    // SAFETY: the caller vouches.
    let bytes = (done > 0).then(|| unsafe { stream::bytes_since(stream, before) });
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<false>(call, stream, bytes.unwrap_or(0), bytes) };
}

/// Hooks of output: the name, its code, the real list form, and the arguments before the list.
macro_rules! print {
    ($($name:ident = $function:ident, $real:ident($($arg:ident: $kind:ty),*) to $stream:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, with its arguments as a list.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name($($arg: $kind,)* list: *mut c_void, site: usize) -> c_int {
            let call = Call::begin(Function::$function, site);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$real($($arg,)* list) };
            // SAFETY: an open stream, by the caller's contract.
            unsafe { printed(call, $stream, done) };
            done
        }
    )*};
}
print! {
    fprintf = Fprintf, vfprintf(stream: *mut File, format: *const c_char) to stream;
    vfprintf = Vfprintf, vfprintf(stream: *mut File, format: *const c_char) to stream;
    printf = Printf, vprintf(format: *const c_char) to stream::standard_output();
    vprintf = Vprintf, vprintf(format: *const c_char) to stream::standard_output();
    __fprintf_chk = Fprintf, __vfprintf_chk(stream: *mut File, flag: c_int, format: *const c_char) to stream;
    __vfprintf_chk = Vfprintf, __vfprintf_chk(stream: *mut File, flag: c_int, format: *const c_char) to stream;
    __printf_chk = Printf, __vprintf_chk(flag: c_int, format: *const c_char) to stream::standard_output();
    __vprintf_chk = Vprintf, __vprintf_chk(flag: c_int, format: *const c_char) to stream::standard_output();
}

/// The same for descriptors.
macro_rules! print_to {
    ($($name:ident = $function:ident, $real:ident($($arg:ident: $kind:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, with its arguments as a list.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name(descriptor: c_int, $($arg: $kind,)* list: *mut c_void, site: usize) -> c_int {
            let call = Call::begin(Function::$function, site);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$real(descriptor, $($arg,)* list) };
            printed_to(call, descriptor, done);
            done
        }
    )*};
}
print_to! {
    dprintf = Dprintf, vdprintf(format: *const c_char);
    vdprintf = Vdprintf, vdprintf(format: *const c_char);
    __dprintf_chk = Dprintf, __vdprintf_chk(flag: c_int, format: *const c_char);
    __vdprintf_chk = Vdprintf, __vdprintf_chk(flag: c_int, format: *const c_char);
}

/// Hooks of input.
macro_rules! scan {
    ($($name:ident = $function:ident, $real:ident($($arg:ident: $kind:ty),*) from $stream:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, with its arguments as a list.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name($($arg: $kind,)* list: *mut c_void, site: usize) -> c_int {
            // SAFETY: an open stream, by the caller's contract.
            let before = unsafe { stream::position_before($stream) };
            let call = Call::begin(Function::$function, site);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$real($($arg,)* list) };
            // SAFETY: an open stream, by the caller's contract.
            unsafe { scanned(call, $stream, before, done) };
            done
        }
    )*};
}
scan! {
    fscanf = Fscanf, vfscanf(stream: *mut File, format: *const c_char) from stream;
    vfscanf = Vfscanf, vfscanf(stream: *mut File, format: *const c_char) from stream;
    scanf = Scanf, vscanf(format: *const c_char) from stream::standard_input();
    vscanf = Vscanf, vscanf(format: *const c_char) from stream::standard_input();
    __isoc99_fscanf = Fscanf, __isoc99_vfscanf(stream: *mut File, format: *const c_char) from stream;
    __isoc99_vfscanf = Vfscanf, __isoc99_vfscanf(stream: *mut File, format: *const c_char) from stream;
    __isoc99_scanf = Scanf, __isoc99_vscanf(format: *const c_char) from stream::standard_input();
    __isoc99_vscanf = Vscanf, __isoc99_vscanf(format: *const c_char) from stream::standard_input();
    __isoc23_fscanf = Fscanf, __isoc23_vfscanf(stream: *mut File, format: *const c_char) from stream;
    __isoc23_vfscanf = Vfscanf, __isoc23_vfscanf(stream: *mut File, format: *const c_char) from stream;
    __isoc23_scanf = Scanf, __isoc23_vscanf(format: *const c_char) from stream::standard_input();
    __isoc23_vscanf = Vscanf, __isoc23_vscanf(format: *const c_char) from stream::standard_input();
}
