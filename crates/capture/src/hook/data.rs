//! Reading and writing a descriptor: the calls that move data. What they do is `crate::transfer`;
//! each exported name forwards to the real function of the same name.

use core::ffi::{c_int, c_void};

use libc::{iovec, off_t, ssize_t};
use netra_event::Function;

use super::posix::named;
use crate::call::{Call, Transfer};

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn read(descriptor: c_int, buffer: *mut c_void, bytes: usize) -> ssize_t, else -1;
        fn __read_chk(descriptor: c_int, buffer: *mut c_void, bytes: usize, room: usize) -> ssize_t, else -1;
        fn pread(descriptor: c_int, buffer: *mut c_void, bytes: usize, offset: off_t) -> ssize_t, else -1;
        fn __pread_chk(descriptor: c_int, buffer: *mut c_void, bytes: usize, offset: off_t, room: usize) -> ssize_t, else -1;
        fn __pread64_chk(descriptor: c_int, buffer: *mut c_void, bytes: usize, offset: off_t, room: usize) -> ssize_t, else -1;
        fn write(descriptor: c_int, buffer: *const c_void, bytes: usize) -> ssize_t, else -1;
        fn pwrite(descriptor: c_int, buffer: *const c_void, bytes: usize, offset: off_t) -> ssize_t, else -1;
        fn readv(descriptor: c_int, parts: *const iovec, count: c_int) -> ssize_t, else -1;
        fn writev(descriptor: c_int, parts: *const iovec, count: c_int) -> ssize_t, else -1;
        fn preadv(descriptor: c_int, parts: *const iovec, count: c_int, offset: off_t) -> ssize_t, else -1;
        fn pwritev(descriptor: c_int, parts: *const iovec, count: c_int, offset: off_t) -> ssize_t, else -1;
        fn preadv2(descriptor: c_int, parts: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t, else -1;
        fn pwritev2(descriptor: c_int, parts: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t, else -1;
    }
}

pub(super) fn aligned<T>(buffer: *const T) -> bool {
    buffer.addr().is_multiple_of(8)
}

named! {
    /// `read(2)`.
    fn [read](descriptor: c_int, buffer: *mut c_void, asked: usize, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Read, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked) };
        let aligned = aligned(buffer);
        call.moved::<false>(Transfer { descriptor, at: None, asked, aligned }, done);
        done
    }
}
named! {
    /// `read(2)` as fortified programs call it.
    fn [__read_chk](descriptor: c_int, buffer: *mut c_void, asked: usize, room: usize, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Read, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked, room) };
        let aligned = aligned(buffer);
        call.moved::<false>(Transfer { descriptor, at: None, asked, aligned }, done);
        done
    }
}
named! {
    /// `pread(2)`.
    fn [pread](descriptor: c_int, buffer: *mut c_void, asked: usize, offset: off_t, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Pread, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked, offset) };
        let aligned = aligned(buffer);
        call.moved::<false>(Transfer { descriptor, at: Some(offset), asked, aligned }, done);
        done
    }
}
named! {
    /// `pread(2)` as fortified programs call it.
    fn [__pread_chk __pread64_chk](descriptor: c_int, buffer: *mut c_void, asked: usize, offset: off_t, room: usize, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Pread, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked, offset, room) };
        let aligned = aligned(buffer);
        call.moved::<false>(Transfer { descriptor, at: Some(offset), asked, aligned }, done);
        done
    }
}
named! {
    /// `write(2)`.
    fn [write](descriptor: c_int, buffer: *const c_void, asked: usize, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Write, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked) };
        let aligned = aligned(buffer);
        call.moved::<true>(Transfer { descriptor, at: None, asked, aligned }, done);
        done
    }
}
named! {
    /// `pwrite(2)`.
    fn [pwrite](descriptor: c_int, buffer: *const c_void, asked: usize, offset: off_t, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Pwrite, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, buffer, asked, offset) };
        let aligned = aligned(buffer);
        call.moved::<true>(Transfer { descriptor, at: Some(offset), asked, aligned }, done);
        done
    }
}

/// Bytes a vectored call asks for, and whether all its parts are aligned. Looked at after the real
/// call has accepted them; of a call that failed nothing is looked at.
pub(super) fn parts(parts: *const iovec, count: c_int, done: ssize_t) -> (usize, bool) {
    let count = usize::try_from(count).unwrap_or(0);
    if done < 0 || parts.is_null() || count > 1024 {
        return (0, true);
    }
    // SAFETY: the kernel has just read `count` parts from here.
    let parts = unsafe { core::slice::from_raw_parts(parts, count) };
    parts.iter().fold((0, true), |(sum, whole), part| {
        (sum.wrapping_add(part.iov_len), whole && aligned(part.iov_base))
    })
}

/// Where a call began that takes −1 for the descriptor's position.
pub(super) fn explicit(offset: off_t) -> Option<off_t> {
    (offset != -1).then_some(offset)
}

/// Ends a vectored call; −1 as an offset means the descriptor's position.
#[inline(never)]
pub(super) fn vectored<const WRITE: bool>(
    call: Call,
    descriptor: c_int,
    list: *const iovec,
    count: c_int,
    at: Option<off_t>,
    done: ssize_t,
) {
    let (asked, aligned) = parts(list, count, done);
    call.moved::<WRITE>(Transfer { descriptor, at, asked, aligned }, done);
}

named! {
    /// `readv(2)`.
    fn [readv](descriptor: c_int, list: *const iovec, count: c_int, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Readv, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count) };
        vectored::<false>(call, descriptor, list, count, None, done);
        done
    }
}
named! {
    /// `writev(2)`.
    fn [writev](descriptor: c_int, list: *const iovec, count: c_int, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Writev, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count) };
        vectored::<true>(call, descriptor, list, count, None, done);
        done
    }
}
named! {
    /// `preadv(2)`.
    fn [preadv](descriptor: c_int, list: *const iovec, count: c_int, offset: off_t, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Preadv, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count, offset) };
        vectored::<false>(call, descriptor, list, count, Some(offset), done);
        done
    }
}
named! {
    /// `pwritev(2)`.
    fn [pwritev](descriptor: c_int, list: *const iovec, count: c_int, offset: off_t, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Pwritev, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count, offset) };
        vectored::<true>(call, descriptor, list, count, Some(offset), done);
        done
    }
}
named! {
    /// `preadv2(2)`; an offset of −1 means the descriptor's position.
    fn [preadv2](descriptor: c_int, list: *const iovec, count: c_int, offset: off_t, flags: c_int, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Preadv2, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count, offset, flags) };
        vectored::<false>(call, descriptor, list, count, explicit(offset), done);
        done
    }
}
named! {
    /// `pwritev2(2)`; an offset of −1 means the descriptor's position.
    fn [pwritev2](descriptor: c_int, list: *const iovec, count: c_int, offset: off_t, flags: c_int, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Pwritev2, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, list, count, offset, flags) };
        vectored::<true>(call, descriptor, list, count, explicit(offset), done);
        done
    }
}
