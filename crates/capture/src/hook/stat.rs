//! `stat` and its family, as programs built before and after glibc 2.33 call it.

use core::ffi::{c_char, c_int};

use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use super::posix::{meta, named};
use crate::call::{Call, Ended};
use crate::shard::Shard;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn stat(path: *const c_char, into: *mut libc::stat) -> c_int, else -1;
        fn lstat(path: *const c_char, into: *mut libc::stat) -> c_int, else -1;
        fn fstat(descriptor: c_int, into: *mut libc::stat) -> c_int, else -1;
        fn fstatat(directory: c_int, path: *const c_char, into: *mut libc::stat, flags: c_int) -> c_int, else -1;
        fn __xstat(version: c_int, path: *const c_char, into: *mut libc::stat) -> c_int, else -1;
        fn __lxstat(version: c_int, path: *const c_char, into: *mut libc::stat) -> c_int, else -1;
        fn __fxstat(version: c_int, descriptor: c_int, into: *mut libc::stat) -> c_int, else -1;
        fn __fxstatat(version: c_int, directory: c_int, path: *const c_char, into: *mut libc::stat, flags: c_int) -> c_int, else -1;
    }
}

/// Counts a stat, of regular files only, as Darshan does.
///
/// # Safety
/// `found` is the buffer of a call that succeeded.
unsafe fn looked_up(shard: &Shard, ended: &Ended, found: *const libc::stat) {
    // SAFETY: the caller vouches.
    let mode = unsafe { (*found).st_mode };
    if mode & libc::S_IFMT == libc::S_IFREG {
        meta::<{ posix::STATS }>(shard, ended);
    }
}

/// Ends a stat of a path.
///
/// # Safety
/// `path` and `into` are those of the real call.
pub(super) unsafe fn stat_of(
    call: Call,
    directory: c_int,
    path: *const c_char,
    into: *const libc::stat,
    done: c_int,
) {
    // SAFETY: the real call took both; after success the buffer is filled.
    unsafe {
        call.on_path(directory, path, i64::from(done), (NO_OFFSET, 0), |shard, ended| {
            looked_up(shard, ended, into);
        });
    }
}

/// Ends a stat of a descriptor.
pub(super) fn stat_at(call: Call, descriptor: c_int, into: *const libc::stat, done: c_int) {
    call.on_descriptor(descriptor, i64::from(done), (NO_OFFSET, 0), |shard, ended| {
        // SAFETY: the call succeeded, so the buffer is filled.
        unsafe { looked_up(shard, ended, into) };
    });
}

named! {
    /// `stat(2)`.
    fn [stat](path: *const c_char, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Stat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(path, into) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_of(call, libc::AT_FDCWD, path, into, done) };
        done
    }
}
named! {
    /// `lstat(2)`.
    fn [lstat](path: *const c_char, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Lstat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(path, into) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_of(call, libc::AT_FDCWD, path, into, done) };
        done
    }
}
named! {
    /// `fstat(2)`.
    fn [fstat](descriptor: c_int, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fstat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, into) };
        stat_at(call, descriptor, into, done);
        done
    }
}

/// Ends an `fstatat`, which without a path is about its descriptor.
///
/// # Safety
/// `path` and `into` are those of the real call.
pub(super) unsafe fn stat_from(
    call: Call,
    directory: c_int,
    path: *const c_char,
    into: *const libc::stat,
    flags: c_int,
    done: c_int,
) {
    // SAFETY: the path is null or a C string of at least its NUL.
    let empty = path.is_null() || unsafe { path.read() } == 0;
    if empty && flags & libc::AT_EMPTY_PATH != 0 {
        stat_at(call, directory, into, done);
    } else {
        // SAFETY: the caller vouches.
        unsafe { stat_of(call, directory, path, into, done) };
    }
}

named! {
    /// `fstatat(2)`.
    fn [fstatat](directory: c_int, path: *const c_char, into: *mut libc::stat, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fstatat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(directory, path, into, flags) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_from(call, directory, path, into, flags, done) };
        done
    }
}
named! {
    /// `stat(2)` as programs built before glibc 2.33 call it.
    fn [__xstat](version: c_int, path: *const c_char, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Stat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(version, path, into) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_of(call, libc::AT_FDCWD, path, into, done) };
        done
    }
}
named! {
    /// `lstat(2)` as programs built before glibc 2.33 call it.
    fn [__lxstat](version: c_int, path: *const c_char, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Lstat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(version, path, into) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_of(call, libc::AT_FDCWD, path, into, done) };
        done
    }
}
named! {
    /// `fstat(2)` as programs built before glibc 2.33 call it.
    fn [__fxstat](version: c_int, descriptor: c_int, into: *mut libc::stat, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fstat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(version, descriptor, into) };
        stat_at(call, descriptor, into, done);
        done
    }
}
named! {
    /// `fstatat(2)` as programs built before glibc 2.33 call it.
    fn [__fxstatat](version: c_int, directory: c_int, path: *const c_char, into: *mut libc::stat, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fstatat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(version, directory, path, into, flags) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { stat_from(call, directory, path, into, flags, done) };
        done
    }
}
