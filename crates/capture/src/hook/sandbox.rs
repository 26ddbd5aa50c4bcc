//! `prctl`, and `syscall` for what has no function in libc: the ways in which a process forbids itself calls
//! of the kernel, or the processor's counter. They are no I/O: no event, no count.

use core::ffi::{c_int, c_long};

use crate::sandbox::{self, Request};

/// The function behind the hook.
mod real {
    use super::*;

    crate::real! {
        fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int, else -1;
    }
}

/// `SECCOMP_SET_MODE_FILTER`, and its flags: for all threads, and by which the call gives a descriptor.
const SET_FILTER: usize = 1;
const ALL_THREADS: usize = 1;
const NEW_LISTENER: usize = 8;

/// `prctl(2)`. Variadic in C; on our ABIs the arguments lie in the registers of fixed ones.
///
/// # Safety
/// The caller keeps the contract of `prctl(2)`. The last argument is the caller's return address.
pub unsafe extern "C" fn prctl(
    option: c_int,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    _site: usize,
) -> c_int {
    // SAFETY: the caller's contract is the real function's.
    let call = || unsafe { real::prctl(option, a, b, c, d) };
    match by_prctl(option, a, b) {
        // The call gives an int.
        Some(request) => sandbox::enter(request, || i64::from(call()), |done| done == 0) as c_int,
        None => call(),
    }
}

/// What a `prctl` means for us.
fn by_prctl(option: c_int, a: usize, b: usize) -> Option<Request> {
    match (option, a as u32) {
        (libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) => Some(Request::Strict),
        (libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER) => {
            Some(Request::Filter { described: b, all: false })
        }
        // Only PR_TSC_ENABLE gives the counter back; what is no value at all fails.
        (libc::PR_SET_TSC, 1) => Some(Request::CounterBack),
        (libc::PR_SET_TSC, _) => Some(Request::Counter),
        _ => None,
    }
}

/// What a call through `syscall()` means for us.
#[must_use]
pub fn by_number(number: c_long, [a, b, c]: [usize; 3]) -> Option<Request> {
    match number {
        // An int, from the low half of the register.
        libc::SYS_prctl => by_prctl(a as c_int, b, c),
        // SECCOMP_SET_MODE_STRICT.
        libc::SYS_seccomp if a == 0 => Some(Request::Strict),
        libc::SYS_seccomp if a == SET_FILTER => {
            Some(Request::Filter { described: c, all: b & ALL_THREADS != 0 })
        }
        _ => None,
    }
}

/// Makes such a call.
pub fn enter(
    request: Request,
    number: c_long,
    flags: usize,
    call: impl FnOnce() -> c_long,
) -> c_long {
    let gives_descriptor = number == libc::SYS_seccomp && flags & NEW_LISTENER != 0;
    // A number above 0 is else that of a thread which could not be brought along.
    sandbox::enter(request, call, |done| done == 0 || gives_descriptor && done > 0)
}
