//! `rename` in its forms: the old name is a source, the new one a target, as Darshan counts them.
//! Darshan does so only for files it has seen before; we do for all.

use core::ffi::{c_char, c_int, c_uint};

use netra_event::segment::shard::posix;
use netra_event::{Function, Loss, NO_OFFSET};

use super::posix::named;
use crate::call::Call;
use crate::module::POSIX;
use crate::name;
use crate::real as libc_real;
use crate::settings::SETTINGS;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn rename(old: *const c_char, new: *const c_char) -> c_int, else -1;
        fn renameat(from: c_int, old: *const c_char, to: c_int, new: *const c_char) -> c_int, else -1;
        fn renameat2(from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_uint) -> c_int, else -1;
    }
}

/// A name and what it is relative to.
#[derive(Clone, Copy)]
pub(super) struct At(pub(super) c_int, pub(super) *const c_char);

/// Ends a rename.
///
/// # Safety
/// The names are those of the real call.
pub(super) unsafe fn renamed(call: Call, old: At, new: At, done: c_int) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    let number = |At(directory, path): At| {
        if done < 0 && errno == libc::EFAULT {
            return None;
        }
        // SAFETY: the caller vouches; both names use the same buffer, one after the other.
        let path = unsafe { name::clean(ended.thread, directory, path) };
        let path = path.filter(|path| SETTINGS.records(&POSIX) && !name::excluded(path))?;
        Some((name::of(path, name::PATH).0, netra_event::RecordId::of(path).0))
    };
    let source = number(old);
    if done < 0 {
        return match source {
            Some((file, _)) => ended.failed(file, NO_OFFSET, 0, errno),
            None => ended.skip(Loss::Excluded),
        };
    }
    let target = number(new);
    if let Some((file, _)) = source {
        ended.with(&POSIX, file, |shard, ended| {
            shard.add::<{ posix::RENAME_SOURCES }>(1);
            shard.add::<{ posix::META_TIME }>(ended.took());
        });
    }
    if let Some((file, _)) = target {
        ended.with(&POSIX, file, |shard, _| {
            shard.add::<{ posix::RENAME_TARGETS }>(1);
            if let Some((_, id)) = source
                && shard.get::<{ posix::RENAMED_FROM }>() == 0
            {
                shard.set::<{ posix::RENAMED_FROM }>(id);
            }
        });
    }
    match source.or(target) {
        Some((file, _)) => ended.event(file, NO_OFFSET, 0),
        None => ended.skip(Loss::Excluded),
    }
}

named! {
    /// `rename(2)`.
    fn [rename](old: *const c_char, new: *const c_char, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Rename, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(old, new) };
        // SAFETY: the names of the call that was just made.
        unsafe { renamed(call, At(libc::AT_FDCWD, old), At(libc::AT_FDCWD, new), done) };
        done
    }
}
named! {
    /// `renameat(2)`.
    fn [renameat](from: c_int, old: *const c_char, to: c_int, new: *const c_char, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Renameat, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(from, old, to, new) };
        // SAFETY: the names of the call that was just made.
        unsafe { renamed(call, At(from, old), At(to, new), done) };
        done
    }
}
named! {
    /// `renameat2(2)`.
    fn [renameat2](from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Renameat2, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(from, old, to, new, flags) };
        // SAFETY: the names of the call that was just made.
        unsafe { renamed(call, At(from, old), At(to, new), done) };
        done
    }
}
