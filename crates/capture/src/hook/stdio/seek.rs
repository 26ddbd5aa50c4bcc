//! Moving the position of a stream, emptying its buffer, and choosing it.

use core::ffi::{c_char, c_int, c_long, c_void};

use libc::off_t;
use netra_event::segment::shard::stdio;
use netra_event::{Function, NO_OFFSET};

use super::stream::{self, File};
use crate::call::Call;
use crate::hook::posix::named;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn fseek(stream: *mut File, offset: c_long, whence: c_int) -> c_int, else -1;
        fn fseeko(stream: *mut File, offset: off_t, whence: c_int) -> c_int, else -1;
        fn fsetpos(stream: *mut File, place: *const c_void) -> c_int, else -1;
        fn rewind(stream: *mut File) -> (), else ();
        fn fflush(stream: *mut File) -> c_int, else -1;
        fn fflush_unlocked(stream: *mut File) -> c_int, else -1;
        fn setvbuf(stream: *mut File, buffer: *mut c_char, mode: c_int, size: usize) -> c_int, else -1;
    }
}

/// Ends a seek: from the beginning we know where it led, otherwise the stream does.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn moved(
    call: Call,
    stream: *mut File,
    pending: Option<stream::Pending>,
    (offset, whence): (off_t, c_int),
    done: c_int,
) {
    let to = match u64::try_from(offset) {
        Ok(offset) if whence == libc::SEEK_SET => Some(offset),
        // SAFETY: the caller vouches.
        _ if done == 0 => unsafe { stream::position(stream) },
        _ => None,
    };
    // SAFETY: the caller vouches.
    unsafe { stream::sought(call, stream, pending, done == 0, to) };
}

named! {
    /// `fseek(3)`.
    fn [fseek](stream: *mut File, offset: c_long, whence: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fseek, site);
        // SAFETY: an open stream, by the caller's contract.
        let pending = unsafe { stream::pending(stream) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream, offset, whence) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { moved(call, stream, pending, (offset, whence), done) };
        done
    }
}
named! {
    /// `fseeko(3)`.
    fn [fseeko](stream: *mut File, offset: off_t, whence: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fseeko, site);
        // SAFETY: an open stream, by the caller's contract.
        let pending = unsafe { stream::pending(stream) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream, offset, whence) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { moved(call, stream, pending, (offset, whence), done) };
        done
    }
}
named! {
    /// `fsetpos(3)`.
    fn [fsetpos](stream: *mut File, place: *const c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fsetpos, site);
        // SAFETY: an open stream, by the caller's contract.
        let pending = unsafe { stream::pending(stream) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream, place) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { moved(call, stream, pending, (0, libc::SEEK_CUR), done) };
        done
    }
}
named! {
    /// `rewind(3)`.
    fn [rewind](stream: *mut File, site: usize) -> (), real => {
        let call = Call::begin(Function::Rewind, site);
        // SAFETY: an open stream, by the caller's contract.
        let pending = unsafe { stream::pending(stream) };
        // SAFETY: the caller's contract is the real function's.
        unsafe { real(stream) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::sought(call, stream, pending, true, Some(0)) };
    }
}
named! {
    /// `fflush(3)`: as Darshan counts it, a flush and time spent writing. Of all streams (null) only
    /// the call is counted.
    fn [fflush fflush_unlocked](stream: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fflush, site);
        // SAFETY: null or an open stream, by the caller's contract.
        let pending = unsafe { stream::pending(stream) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream) };
        if stream.is_null() {
            if let Some(ended) = call.end_quietly() {
                ended.alone(NO_OFFSET, 0);
            }
            return done;
        }
        // SAFETY: an open stream, by the caller's contract.
        unsafe {
            stream::touched(call, stream, pending, done == 0, |shard, ended| {
                const START: usize = stdio::WRITE + stdio::START;
                const END: usize = stdio::WRITE + stdio::END;
                const TIME: usize = stdio::WRITE + stdio::TIME;
                shard.add::<{ stdio::FLUSHES }>(1);
                shard.span::<START, END, TIME>(ended.start(), ended.end);
            });
        }
        done
    }
}
named! {
    /// `setvbuf(3)`: counted as a call; how an application buffers explains its system calls.
    fn [setvbuf](stream: *mut File, buffer: *mut c_char, mode: c_int, size: usize, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Setvbuf, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(stream, buffer, mode, size) };
        // SAFETY: an open stream, by the caller's contract.
        unsafe { stream::touched(call, stream, None, done == 0, |_, _| ()) };
        done
    }
}
