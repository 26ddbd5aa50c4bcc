//! Directories: opened by path, closed inside libc. Their descriptor is libc's until `dirfd` gives it
//! out; what had its number before is forgotten when it is opened and closed.

use core::ffi::{c_char, c_int, c_void};

use netra_event::{Function, NO_OFFSET};

use super::metadata::meta;
use super::posix::named;
use crate::call::Call;
use crate::files;
use crate::tls;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn opendir(path: *const c_char) -> *mut c_void, else core::ptr::null_mut();
        fn closedir(folder: *mut c_void) -> c_int, else -1;
        fn dirfd(folder: *mut c_void) -> c_int, else -1;
    }
}

/// A number that libc has just taken or is about to give back is nobody's.
///
/// # Safety
/// `folder` is null or an open directory.
unsafe fn forget(folder: *mut c_void) {
    if folder.is_null() || tls::slot().borrowed.get() != 0 {
        return;
    }
    // SAFETY: the caller vouches.
    files::forget(unsafe { real::dirfd(folder) });
}

named! {
    /// `opendir(3)`.
    fn [opendir](path: *const c_char, site: usize) -> *mut c_void, real => {
        let call = Call::begin(Function::Opendir, site);
        // SAFETY: the caller's contract is the real function's.
        let made = unsafe { real(path) };
        let done = if made.is_null() { -1 } else { 0 };
        // SAFETY: an open directory or null, and the path that the real call took.
        unsafe {
            forget(made);
            call.on_path(libc::AT_FDCWD, path, done, (NO_OFFSET, 0), meta);
        }
        made
    }
}
named! {
    /// `closedir(3)`.
    fn [closedir](folder: *mut c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Closedir, site);
        // SAFETY: an open directory, by the caller's contract.
        unsafe { forget(folder) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(folder) };
        if let Some(ended) = call.end_quietly() {
            ended.alone(NO_OFFSET, 0);
        }
        done
    }
}
