//! Files whose name is made, or is none: `mkstemp` and its relations write it into their argument,
//! `memfd_create` and `open_by_handle_at` leave it to the kernel.

use core::ffi::{c_char, c_int, c_uint, c_void};

use netra_event::Function;

use super::posix::named;
use crate::call::{Call, Opening};

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn mkstemp(template: *mut c_char) -> c_int, else -1;
        fn mkostemp(template: *mut c_char, flags: c_int) -> c_int, else -1;
        fn mkstemps(template: *mut c_char, suffix: c_int) -> c_int, else -1;
        fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int, else -1;
        fn memfd_create(name: *const c_char, flags: c_uint) -> c_int, else -1;
        fn open_by_handle_at(mount: c_int, handle: *mut c_void, flags: c_int) -> c_int, else -1;
        fn shm_open(name: *const c_char, flags: c_int, mode: c_uint) -> c_int, else -1;
    }
}

/// Ends an open of the file whose name now stands in `path`; null where only the kernel knows it.
pub(super) fn made(call: Call, path: *const c_char, flags: c_int, descriptor: c_int) {
    call.opened(&Opening { directory: libc::AT_FDCWD, path, flags, mode: 0 }, descriptor);
}

named! {
    /// `mkstemp(3)`.
    fn [mkstemp](template: *mut c_char, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Mkstemp, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(template) };
        made(call, template, libc::O_RDWR | libc::O_CREAT, done);
        done
    }
}
named! {
    /// `mkostemp(3)`.
    fn [mkostemp](template: *mut c_char, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Mkostemp, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(template, flags) };
        made(call, template, libc::O_RDWR | libc::O_CREAT | flags, done);
        done
    }
}
named! {
    /// `mkstemps(3)`.
    fn [mkstemps](template: *mut c_char, suffix: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Mkstemps, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(template, suffix) };
        made(call, template, libc::O_RDWR | libc::O_CREAT, done);
        done
    }
}
named! {
    /// `mkostemps(3)`.
    fn [mkostemps](template: *mut c_char, suffix: c_int, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Mkostemps, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(template, suffix, flags) };
        made(call, template, libc::O_RDWR | libc::O_CREAT | flags, done);
        done
    }
}
named! {
    /// `memfd_create(2)`: the kernel names it `/memfd:…`.
    fn [memfd_create](name: *const c_char, flags: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::MemfdCreate, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(name, flags) };
        made(call, core::ptr::null(), libc::O_RDWR, done);
        done
    }
}
named! {
    /// `open_by_handle_at(2)`: the kernel knows the name.
    fn [open_by_handle_at](mount: c_int, handle: *mut c_void, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::OpenByHandleAt, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(mount, handle, flags) };
        made(call, core::ptr::null(), flags, done);
        done
    }
}
named! {
    /// `shm_open(3)`: a file of `/dev/shm`, which the kernel names.
    fn [shm_open](name: *const c_char, flags: c_int, mode: c_uint, site: usize) -> c_int, real => {
        let call = Call::begin(Function::ShmOpen, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(name, flags, mode) };
        made(call, core::ptr::null(), flags, done);
        done
    }
}
