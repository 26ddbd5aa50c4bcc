//! Descriptors: open, seek, duplicate, sync, close. Each exported name forwards
//! to the real function of the same name, so that other preloaded libraries keep working.
//!
//! `open`, `openat` and `fcntl` are variadic in C; on our ABIs the optional argument lies in the same
//! register as a fixed one would, and is looked at only where the call has it.

use core::ffi::{c_char, c_int, c_uint};

use libc::off_t;
use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use crate::call::{Call, Ended, Opening};
use crate::files::{self, Behind};
use crate::shard::Shard;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int, else -1;
        fn __open_2(path: *const c_char, flags: c_int) -> c_int, else -1;
        fn __open64_2(path: *const c_char, flags: c_int) -> c_int, else -1;
        fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int, else -1;
        fn __openat_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int, else -1;
        fn __openat64_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int, else -1;
        fn creat(path: *const c_char, mode: c_uint) -> c_int, else -1;
        fn close(descriptor: c_int) -> c_int, else -1;
        fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int, else -1;
        fn closefrom(first: c_int) -> (), else ();
        fn lseek(descriptor: c_int, offset: off_t, whence: c_int) -> off_t, else -1;
        fn dup(descriptor: c_int) -> c_int, else -1;
        fn dup2(descriptor: c_int, to: c_int) -> c_int, else -1;
        fn dup3(descriptor: c_int, to: c_int, flags: c_int) -> c_int, else -1;
        fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int, else -1;
        fn fsync(descriptor: c_int) -> c_int, else -1;
        fn fdatasync(descriptor: c_int) -> c_int, else -1;
    }
}

/// Hooks that differ in their name only: one body, the real function of the same name as `real`.
macro_rules! named {
    ($(#[$doc:meta])* fn [$name:ident $($more:ident)*]($($arg:ident: $kind:ty),*) -> $result:ty, $real:ident => $body:block) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched. The
        /// last argument is the caller's return address.
        pub unsafe extern "C" fn $name($($arg: $kind),*) -> $result {
            use real::$name as $real;
            $body
        }
        named! { $(#[$doc])* fn [$($more)*]($($arg: $kind),*) -> $result, $real => $body }
    };
    ($(#[$doc:meta])* fn []($($arg:ident: $kind:ty),*) -> $result:ty, $real:ident => $body:block) => {};
}
pub(super) use named;

/// The flags that `creat` stands for.
pub(super) const CREAT: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

/// Whether an open looks at its mode.
pub(super) fn given_mode(flags: c_int, mode: c_uint) -> c_uint {
    if flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE { mode } else { 0 }
}

named! {
    /// `open(2)`.
    fn [open](path: *const c_char, flags: c_int, mode: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Open, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(path, flags, mode) };
        let mode = given_mode(flags, mode);
        call.opened(&Opening { directory: libc::AT_FDCWD, path, flags, mode }, done);
        done
    }
}
named! {
    /// `open(2)` as fortified programs call it, without a mode.
    fn [__open_2 __open64_2](path: *const c_char, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Open, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(path, flags) };
        call.opened(&Opening { directory: libc::AT_FDCWD, path, flags, mode: 0 }, done);
        done
    }
}
named! {
    /// `openat(2)`.
    fn [openat](directory: c_int, path: *const c_char, flags: c_int, mode: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Openat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(directory, path, flags, mode) };
        let mode = given_mode(flags, mode);
        call.opened(&Opening { directory, path, flags, mode }, done);
        done
    }
}
named! {
    /// `openat(2)` as fortified programs call it, without a mode.
    fn [__openat_2 __openat64_2](directory: c_int, path: *const c_char, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Openat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(directory, path, flags) };
        call.opened(&Opening { directory, path, flags, mode: 0 }, done);
        done
    }
}
named! {
    /// `creat(2)`.
    fn [creat](path: *const c_char, mode: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Creat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(path, mode) };
        call.opened(&Opening { directory: libc::AT_FDCWD, path, flags: CREAT, mode }, done);
        done
    }
}
named! {
    /// `close(2)`.
    fn [close](descriptor: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Close, site);
        let was = Call::detach(descriptor);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor) };
        call.closed(descriptor, was, done);
        done
    }
}
named! {
    /// `close_range(2)`.
    fn [close_range](first: c_uint, last: c_uint, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::CloseRange, site);
        before_range(first, last, flags);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(first, last, flags) };
        closed_range(call, first, last);
        done
    }
}

/// What a `close_range` is about to close is no longer followed.
pub(super) fn before_range(first: c_uint, last: c_uint, flags: c_int) {
    const CLOEXEC: c_int = 4;
    if flags & CLOEXEC == 0 {
        Call::detach_range(first, last);
    }
}

/// Ends a `close_range`.
pub(super) fn closed_range(call: Call, first: c_uint, last: c_uint) {
    if let Some(ended) = call.end_quietly() {
        ended.alone(i64::from(first), u64::from(last));
    }
}

named! {
    /// `closefrom(3)`.
    fn [closefrom](first: c_int, site: usize) -> (), real => {
        let call = Call::begin(Function::Closefrom, site);
        Call::detach_range(first.max(0).cast_unsigned(), c_uint::MAX);
        // SAFETY: the caller's contract is the real function's.
        unsafe { real(first) };
        if let Some(ended) = call.end_quietly() {
            ended.alone(i64::from(first), 0);
        }
    }
}
named! {
    /// `lseek(2)`.
    fn [lseek](descriptor: c_int, offset: off_t, whence: c_int, site: usize) -> off_t, real => {
        let call = Call::begin(Function::Lseek, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, offset, whence) };
        sought(call, descriptor, (offset, whence), done);
        done
    }
}

/// Ends a seek.
pub(super) fn sought(call: Call, descriptor: c_int, (offset, whence): (off_t, c_int), done: off_t) {
    let whence = u64::from(whence.cast_unsigned());
    let at = if done < 0 { offset } else { done };
    call.on_descriptor(descriptor, done, (at, whence), |shard, ended| {
        if let Some(open) = files::tracked(descriptor) {
            open.seek(done.cast_unsigned());
        }
        meta::<{ posix::SEEKS }>(shard, ended);
    });
}

/// Counts a call and its time among those that move no data.
pub(super) fn meta<const AT: usize>(shard: &Shard, ended: &Ended) {
    shard.add::<AT>(1);
    shard.add::<{ posix::META_TIME }>(ended.took());
}

/// Ends a call that made `to` from `from`.
pub(super) fn duplicated(call: Call, from: c_int, to: c_int, same: bool) {
    if to >= 0 && !same {
        Call::duplicate(from, to);
    }
    let length = u64::from(to.max(0).cast_unsigned());
    call.on_descriptor(from, i64::from(to), (i64::from(from), length), |shard, ended| {
        shard.add::<{ posix::OPENS }>(1);
        meta::<{ posix::DUPS }>(shard, ended);
    });
}

named! {
    /// `dup(2)`.
    fn [dup](descriptor: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Dup, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor) };
        duplicated(call, descriptor, done, false);
        done
    }
}
named! {
    /// `dup2(2)`.
    fn [dup2](descriptor: c_int, to: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Dup2, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, to) };
        duplicated(call, descriptor, done, descriptor == to);
        done
    }
}
named! {
    /// `dup3(2)`.
    fn [dup3](descriptor: c_int, to: c_int, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Dup3, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, to, flags) };
        duplicated(call, descriptor, done, false);
        done
    }
}
named! {
    /// `fcntl(2)`: duplicates and status flags matter here.
    fn [fcntl](descriptor: c_int, command: c_int, argument: usize, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fcntl, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor, command, argument) };
        controlled(call, descriptor, (command, argument), done);
        done
    }
}

/// Ends an `fcntl`.
pub(super) fn controlled(
    call: Call,
    descriptor: c_int,
    (command, argument): (c_int, usize),
    done: c_int,
) {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        return duplicated(call, descriptor, done, false);
    }
    let about = (i64::from(command), 0);
    call.on_descriptor(descriptor, i64::from(done), about, |_, _| {
        if command == libc::F_SETFL
            && let Some(open) = files::tracked(descriptor)
        {
            // The flags are an int in the low half of the argument.
            open.set_flags(descriptor, argument as c_int);
        }
    });
}

/// Counts a sync as Darshan does: its time belongs to writing.
pub(super) fn synced<const AT: usize>(call: Call, descriptor: c_int, done: c_int) {
    call.on_descriptor(descriptor, i64::from(done), (NO_OFFSET, 0), flushed::<AT>);
}

/// Adds a sync to a record.
pub(super) fn flushed<const AT: usize>(shard: &Shard, ended: &Ended) {
    const TIME: usize = posix::WRITE + netra_event::segment::shard::direction::TIME;
    shard.add::<AT>(1);
    shard.add::<TIME>(ended.took());
}

named! {
    /// `fsync(2)`.
    fn [fsync](descriptor: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fsync, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor) };
        synced::<{ posix::FSYNCS }>(call, descriptor, done);
        done
    }
}
named! {
    /// `fdatasync(2)`.
    fn [fdatasync](descriptor: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fdatasync, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(descriptor) };
        synced::<{ posix::FDSYNCS }>(call, descriptor, done);
        done
    }
}

impl Call {
    /// Stops following a descriptor that is about to be closed, unless this is a child of vfork.
    pub(super) fn detach(descriptor: c_int) -> Behind {
        if crate::tls::slot().borrowed.get() != 0 {
            Behind::Ignored
        } else {
            files::detach(descriptor)
        }
    }

    fn detach_range(first: c_uint, last: c_uint) {
        if crate::tls::slot().borrowed.get() == 0 {
            files::forget_range(first, last);
        }
    }

    fn duplicate(from: c_int, to: c_int) {
        let slot = crate::tls::slot();
        if slot.borrowed.get() == 0 && crate::life::is_ready() {
            files::duplicate(from, to);
        }
    }
}
