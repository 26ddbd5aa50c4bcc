//! `syscall(2)`, libc's entry for calls without a wrapper: I/O that goes through it is counted as the
//! call it is. Inline system calls pass by, unseen.

use core::ffi::{c_char, c_int, c_long};

use netra_event::{Function, NO_FILE, NO_OFFSET};

use super::{sandbox, uring};
use crate::call::{Call, Opening, Transfer};
use crate::files;
use crate::real as libc_real;
use crate::tls;

/// The function behind the hook.
mod real {
    use super::*;

    crate::real! {
        fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long, else -1;
    }
}

/// io_uring's numbers are the same on every architecture.
const URING_SETUP: c_long = 425;
const URING_ENTER: c_long = 426;

/// What a call is for us.
enum Kind {
    Move { function: Function, write: bool, at: Option<i64> },
    Open { function: Function, directory: c_int, path: usize, flags: usize, mode: usize },
    Close,
    Note(Function),
}

/// Sorts a call by its number; most are none of ours.
fn kind(number: c_long, [a, b, c, d]: [usize; 4]) -> Option<Kind> {
    let at = Some(d.cast_signed() as i64);
    Some(match number {
        libc::SYS_read => Kind::Move { function: Function::Read, write: false, at: None },
        libc::SYS_write => Kind::Move { function: Function::Write, write: true, at: None },
        libc::SYS_pread64 => Kind::Move { function: Function::Pread, write: false, at },
        libc::SYS_pwrite64 => Kind::Move { function: Function::Pwrite, write: true, at },
        libc::SYS_openat => Kind::Open {
            function: Function::Openat,
            // The kernel takes an int from the low half of the register.
            directory: a as c_int,
            path: b,
            flags: c,
            mode: d,
        },
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => Kind::Open {
            function: Function::Open,
            directory: libc::AT_FDCWD,
            path: a,
            flags: b,
            mode: c,
        },
        libc::SYS_close => Kind::Close,
        URING_SETUP => Kind::Note(Function::UringSetup),
        URING_ENTER => Kind::Note(Function::UringSubmit),
        _ => return None,
    })
}

/// `syscall(2)`. It has seven arguments, so there is no call site.
///
/// # Safety
/// The caller keeps the contract of the call it makes; every argument goes on untouched.
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let Some(kind) = kind(number, [a, b, c, d]) else {
        if let Some(request) = sandbox::by_number(number, [a, b, c]) {
            // SAFETY: the caller's contract is the real function's.
            let call = || unsafe { real::syscall(number, a, b, c, d, e, f) };
            return sandbox::enter(request, number, b, call);
        }
        // SAFETY: the caller's contract is the real function's.
        return unsafe { real::syscall(number, a, b, c, d, e, f) };
    };
    match kind {
        Kind::Move { function, write, at } => {
            let call = Call::begin(function, 0);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::syscall(number, a, b, c, d, e, f) };
            let aligned = b.is_multiple_of(8);
            let transfer = Transfer { descriptor: a as c_int, at, asked: c, aligned };
            if write {
                call.moved::<true>(transfer, done as isize);
            } else {
                call.moved::<false>(transfer, done as isize);
            }
            done
        }
        Kind::Open { function, directory, path, flags, mode } => {
            let call = Call::begin(function, 0);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::syscall(number, a, b, c, d, e, f) };
            let path = core::ptr::with_exposed_provenance::<c_char>(path);
            let flags = flags as c_int;
            let mode = if flags & libc::O_CREAT != 0 { mode as u32 } else { 0 };
            call.opened(&Opening { directory, path, flags, mode }, done as c_int);
            done
        }
        Kind::Close => {
            let call = Call::begin(Function::Close, 0);
            let descriptor = a as c_int;
            let was = if tls::slot().borrowed.get() == 0 {
                files::detach(descriptor)
            } else {
                files::Behind::Ignored
            };
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::syscall(number, a, b, c, d, e, f) };
            call.closed(descriptor, was, done as c_int);
            done
        }
        Kind::Note(function) => {
            let call = Call::begin(function, 0);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::syscall(number, a, b, c, d, e, f) };
            let errno = libc_real::errno();
            if let Some(ended) = call.end() {
                match u64::try_from(done) {
                    Ok(count) => ended.alone(NO_OFFSET, count),
                    Err(_) => ended.failed(NO_FILE, NO_OFFSET, 0, errno),
                }
                if done >= 0 && number == URING_SETUP {
                    uring::say();
                }
            }
            done
        }
    }
}
