//! Writing to streams: blocks, characters, lines. Formatted output is in `format.rs`.

use core::ffi::{CStr, c_char, c_int, c_void};

use netra_event::{Function, NO_OFFSET};

use super::stream::{self, File};
use crate::call::Call;
use crate::hook::posix::named;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn fwrite(from: *const c_void, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn fwrite_unlocked(from: *const c_void, size: usize, count: usize, stream: *mut File) -> usize, else 0;
        fn fputc(c: c_int, stream: *mut File) -> c_int, else -1;
        fn putc(c: c_int, stream: *mut File) -> c_int, else -1;
        fn fputc_unlocked(c: c_int, stream: *mut File) -> c_int, else -1;
        fn putc_unlocked(c: c_int, stream: *mut File) -> c_int, else -1;
        fn putchar(c: c_int) -> c_int, else -1;
        fn putchar_unlocked(c: c_int) -> c_int, else -1;
        fn fputs(text: *const c_char, stream: *mut File) -> c_int, else -1;
        fn fputs_unlocked(text: *const c_char, stream: *mut File) -> c_int, else -1;
        fn puts(text: *const c_char) -> c_int, else -1;
        fn putw(word: c_int, stream: *mut File) -> c_int, else -1;
        fn perror(text: *const c_char) -> (), else ();
        fn __overflow(stream: *mut File, c: c_int) -> c_int, else -1;
    }
}

/// Ends a write of one character; `c` is the character, or EOF.
///
/// # Safety
/// `stream` is an open stream.
#[inline(always)]
unsafe fn character(call: Call, stream: *mut File, c: c_int) {
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<true>(call, stream, 1, (c != libc::EOF).then_some(1)) };
}

/// Ends a write of a text and `more` bytes behind it.
///
/// # Safety
/// `stream` is an open stream, `text` a C string that the real call took.
unsafe fn text_of(call: Call, stream: *mut File, text: *const c_char, more: u64, done: c_int) {
    // SAFETY: the caller vouches.
    let bytes = (unsafe { CStr::from_ptr(text) }.count_bytes() as u64).wrapping_add(more);
    // SAFETY: the caller vouches.
    unsafe { stream::moved::<true>(call, stream, bytes, (done >= 0).then_some(bytes)) };
}

named! {
    /// `fwrite(3)`.
    fn [fwrite fwrite_unlocked](from: *const c_void, size: usize, count: usize, stream: *mut File, site: usize) -> usize, real => {
        let call = Call::begin(Function::Fwrite, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(from, size, count, stream) };
        let (asked, bytes) = (size.wrapping_mul(count) as u64, size.wrapping_mul(done) as u64);
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::moved::<true>(call, stream, asked, (done > 0 && bytes > 0).then_some(bytes)) };
        done
    }
}
named! {
    /// `fputc(3)`.
    fn [fputc putc fputc_unlocked putc_unlocked](c: c_int, stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fputc, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(c, stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { character(call, stream, done) };
        done
    }
}
named! {
    /// `putchar(3)`.
    fn [putchar putchar_unlocked](c: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Putchar, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(c) };
        // SAFETY: the standard output is an open stream.
        unsafe { character(call, stream::standard_output(), done) };
        done
    }
}
named! {
    /// `fputs(3)`.
    fn [fputs fputs_unlocked](text: *const c_char, stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fputs, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(text, stream) };
        // SAFETY: an open stream, and the text that it took.
        unsafe { text_of(call, stream, text, 0, done) };
        done
    }
}
named! {
    /// `puts(3)`: the text and the end of the line.
    fn [puts](text: *const c_char, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Puts, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(text) };
        // SAFETY: the standard output, and the text that it took.
        unsafe { text_of(call, stream::standard_output(), text, 1, done) };
        done
    }
}
named! {
    /// `putw(3)`.
    fn [putw](word: c_int, stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Putw, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(word, stream) };
        let bytes = size_of::<c_int>() as u64;
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::moved::<true>(call, stream, bytes, (done == 0).then_some(bytes)) };
        done
    }
}
named! {
    /// `perror(3)`: counted as a call; how long its line is only libc knows.
    fn [perror](text: *const c_char, site: usize) -> (), real => {
        let call = Call::begin(Function::Perror, site);
        // SAFETY: the caller's contract is the real function's.
        unsafe { real(text) };
        if let Some(ended) = call.end() {
            ended.alone(NO_OFFSET, 0);
        }
    }
}
named! {
    /// What an inlined `putc_unlocked` calls when its buffer is full.
    fn [__overflow](stream: *mut File, c: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Overflow, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream, c) };
        if done == libc::EOF {
            // SAFETY: an open stream, by the caller's contract.
            unsafe { stream::touched(call, stream, None, false, |_, _| ()) };
        } else {
            // SAFETY: an open stream, by the caller's contract.
            unsafe { stream::inlined::<true>(call, stream) };
        }
        done
    }
}
