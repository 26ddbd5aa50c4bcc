//! Reading from streams: blocks, characters, lines.

use core::ffi::{CStr, c_char, c_int, c_void};

use libc::ssize_t;
use netra_event::Function;

use super::stream::{self, File};
use crate::call::Call;
use crate::hook::posix::named;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn fread(into: *mut c_void, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn fread_unlocked(into: *mut c_void, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn __fread_chk(into: *mut c_void, room: usize, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn __fread_unlocked_chk(into: *mut c_void, room: usize, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn fgetc(stream: *mut File) -> c_int, else -1;
        fn fgetc_unlocked(stream: *mut File) -> c_int, else -1;
        fn getchar() -> c_int, else -1;
        fn getchar_unlocked() -> c_int, else -1;
        fn fgets(into: *mut c_char, size: c_int, stream: *mut File) -> *mut c_char, else core::ptr::null_mut();
        fn fgets_unlocked(into: *mut c_char, size: c_int, stream: *mut File) -> *mut c_char, else core::ptr::null_mut();
        fn __fgets_chk(into: *mut c_char, room: usize, size: c_int, stream: *mut File) -> *mut c_char, else core::ptr::null_mut();
        fn __fgets_unlocked_chk(into: *mut c_char, room: usize, size: c_int, stream: *mut File) -> *mut c_char, else core::ptr::null_mut();
        fn gets(into: *mut c_char) -> *mut c_char, else core::ptr::null_mut();
        fn __gets_chk(into: *mut c_char, room: usize) -> *mut c_char, else core::ptr::null_mut();
        fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut File) -> ssize_t, else -1;
        fn getdelim(line: *mut *mut c_char, room: *mut usize, until: c_int, stream: *mut File) -> ssize_t, else -1;
        fn getw(stream: *mut File) -> c_int, else -1;
        fn __uflow(stream: *mut File) -> c_int, else -1;
        fn __underflow(stream: *mut File) -> c_int, else -1;
        fn ungetc(c: c_int, stream: *mut File) -> c_int, else -1;
    }
}

/// Ends a read of one character; `c` is the character, or EOF.
///
/// # Safety
/// `stream` is an open stream.
#[inline(always)]
unsafe fn character(call: Call, stream: *mut File, c: c_int) {
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<false>(call, stream, 1, (c != libc::EOF).then_some(1)) };
}

/// Ends a read of a line into `got`, null if there was none.
///
/// # Safety
/// `stream` is an open stream, `got` null or a C string.
unsafe fn line(call: Call, stream: *mut File, asked: u64, got: *const c_char) {
    // SAFETY: the caller vouches.
    let bytes = (!got.is_null()).then(|| unsafe { CStr::from_ptr(got) }.count_bytes() as u64);
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<false>(call, stream, asked, bytes) };
}

/// Ends a read of whole elements.
///
/// # Safety
/// `stream` is an open stream.
#[inline(always)]
unsafe fn elements(call: Call, stream: *mut File, size: usize, count: usize, done: usize) {
    let (asked, bytes) = (size.wrapping_mul(count) as u64, size.wrapping_mul(done) as u64);
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<false>(call, stream, asked, (done > 0).then_some(bytes)) };
}

named! {
    /// `fread(3)`.
    fn [fread fread_unlocked](into: *mut c_void, size: usize, count: usize, stream: *mut File, site: usize) -> usize, real => {
        let call = Call::begin(Function::Fread, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, size, count, stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { elements(call, stream, size, count, done) };
        done
    }
}
named! {
    /// `fread(3)` as fortified programs call it.
    fn [__fread_chk __fread_unlocked_chk](into: *mut c_void, room: usize, size: usize, count: usize, stream: *mut File, site: usize) -> usize, real => {
        let call = Call::begin(Function::Fread, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, room, size, count, stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { elements(call, stream, size, count, done) };
        done
    }
}
named! {
    /// `fgetc(3)`.
    fn [fgetc fgetc_unlocked](stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fgetc, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { character(call, stream, done) };
        done
    }
}
named! {
    /// `getchar(3)`.
    fn [getchar getchar_unlocked](site: usize) -> c_int, real => {
        let call = Call::begin(Function::Getchar, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real() };
        // SAFETY: the standard input is an open stream.
        unsafe { character(call, stream::standard_input(), done) };
        done
    }
}
named! {
    /// `fgets(3)`.
    fn [fgets fgets_unlocked](into: *mut c_char, size: c_int, stream: *mut File, site: usize) -> *mut c_char, real => {
        let call = Call::begin(Function::Fgets, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, size, stream) };
        let asked = u64::from(size.max(1).cast_unsigned()).wrapping_sub(1);
        // SAFETY: an open stream and a line that was just read.
        unsafe { line(call, stream, asked, done) };
        done
    }
}
named! {
    /// `fgets(3)` as fortified programs call it.
    fn [__fgets_chk __fgets_unlocked_chk](into: *mut c_char, room: usize, size: c_int, stream: *mut File, site: usize) -> *mut c_char, real => {
        let call = Call::begin(Function::Fgets, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, room, size, stream) };
        let asked = u64::from(size.max(1).cast_unsigned()).wrapping_sub(1);
        // SAFETY: an open stream and a line that was just read.
        unsafe { line(call, stream, asked, done) };
        done
    }
}

/// Ends `gets`, which leaves the end of the line out.
///
/// # Safety
/// `got` is null or a C string.
unsafe fn got_line(call: Call, got: *const c_char) {
    // SAFETY: the caller vouches.
    let length = |got| unsafe { CStr::from_ptr(got) }.count_bytes() as u64;
    let bytes = (!got.is_null()).then(|| length(got).wrapping_add(1));
    // SAFETY: the standard input is an open stream.
    unsafe { stream::moved::<false>(call, stream::standard_input(), 0, bytes) };
}

named! {
    /// `gets(3)`, which old programs still have.
    fn [gets](into: *mut c_char, site: usize) -> *mut c_char, real => {
        let call = Call::begin(Function::Gets, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into) };
        // SAFETY: a line that was just read.
        unsafe { got_line(call, done) };
        done
    }
}
named! {
    /// `gets(3)` as fortified programs call it.
    fn [__gets_chk](into: *mut c_char, room: usize, site: usize) -> *mut c_char, real => {
        let call = Call::begin(Function::Gets, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, room) };
        // SAFETY: a line that was just read.
        unsafe { got_line(call, done) };
        done
    }
}
named! {
    /// `getline(3)`.
    fn [getline](line: *mut *mut c_char, room: *mut usize, stream: *mut File, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Getline, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(line, room, stream) };
        let bytes = u64::try_from(done).ok();
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::moved::<false>(call, stream, bytes.unwrap_or(0), bytes) };
        done
    }
}
named! {
    /// `getdelim(3)`.
    fn [getdelim](line: *mut *mut c_char, room: *mut usize, until: c_int, stream: *mut File, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Getdelim, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(line, room, until, stream) };
        let bytes = u64::try_from(done).ok();
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::moved::<false>(call, stream, bytes.unwrap_or(0), bytes) };
        done
    }
}
named! {
    /// `getw(3)`.
    fn [getw](stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Getw, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream) };
        // A word of all ones can not be told from the end of the file here; nor can the caller.
        let bytes = (done != libc::EOF).then_some(size_of::<c_int>() as u64);
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::moved::<false>(call, stream, size_of::<c_int>() as u64, bytes) };
        done
    }
}
named! {
    /// What an inlined `getc_unlocked` calls when its buffer is empty.
    fn [__uflow](stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Uflow, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream) };
        if done == libc::EOF {
            // SAFETY: an open stream, by the caller's contract.
            unsafe { stream::drained(call, stream) };
        } else {
            // SAFETY: an open stream, by the caller's contract.
            unsafe { stream::inlined::<false>(call, stream) };
        }
        done
    }
}
named! {
    /// Fills the buffer and takes nothing from it.
    fn [__underflow](stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Uflow, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::drained(call, stream) };
        done
    }
}
named! {
    /// `ungetc(3)`: takes a byte back; counted as a call only.
    fn [ungetc](c: c_int, stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Ungetc, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(c, stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::put_back(call, stream, done != libc::EOF) };
        done
    }
}
