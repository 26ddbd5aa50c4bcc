//! `statx(2)`, whose answer has a shape of its own.

use core::ffi::{c_char, c_int, c_uint};

use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use super::posix::named;
use crate::call::{Call, Ended};
use crate::shard::Shard;

/// The function behind the hook.
mod real {
    use super::*;

    crate::real! {
        fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, into: *mut libc::statx) -> c_int, else -1;
    }
}

named! {
    /// `statx(2)`; only regular files count, as for `stat`. Without a path it is about its descriptor.
    fn [statx](directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, into: *mut libc::statx, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Statx, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(directory, path, flags, mask, into) };
        // SAFETY: the arguments of the call that was just made.
        unsafe { looked_up(call, (directory, path, flags), into, done) };
        done
    }
}

/// Ends a `statx`.
///
/// # Safety
/// `path` and `into` are those of the real call.
pub(super) unsafe fn looked_up(
    call: Call,
    (directory, path, flags): (c_int, *const c_char, c_int),
    into: *const libc::statx,
    done: c_int,
) {
    let count = |shard: &Shard, ended: &Ended| {
        // SAFETY: the call succeeded, so the buffer is filled.
        let mode = u32::from(unsafe { (*into).stx_mode });
        if mode & libc::S_IFMT == libc::S_IFREG {
            shard.add::<{ posix::STATS }>(1);
            shard.add::<{ posix::META_TIME }>(ended.took());
        }
    };
    // SAFETY: after success the path is null or a C string of at least its NUL.
    let empty = done == 0 && (path.is_null() || unsafe { path.read() } == 0);
    if empty && flags & libc::AT_EMPTY_PATH != 0 {
        call.on_descriptor(directory, i64::from(done), (NO_OFFSET, 0), count);
    } else {
        // SAFETY: the real call took the path.
        unsafe { call.on_path(directory, path, i64::from(done), (NO_OFFSET, 0), count) };
    }
}
