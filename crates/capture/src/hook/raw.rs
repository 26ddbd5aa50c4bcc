//! `syscall(2)`, libc's entry for calls without a wrapper: what has a hook as a function of libc has it here as
//! well, by its number (`row.rs`). System calls by instructions of the application's own pass by, unseen.

use core::ffi::c_long;

mod row;

use super::{process, sandbox};
use crate::call::Call;
use row::{Made, Way, Word};

/// The function behind the hook.
mod real {
    use super::*;

    crate::real! {
        fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long, else -1;
    }
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
    // SAFETY: the caller's contract is the real function's.
    let made = || unsafe { real::syscall(number, a, b, c, d, e, f) };
    let Some(row) = row::of(number) else {
        if let Some(request) = sandbox::by_number(number, [a, b, c]) {
            return sandbox::enter(request, number, b, made);
        }
        process::before_user_by_number(number, [a, b]);
        return made();
    };
    let call = Call::begin(row.function, 0);
    let words = [a, b, c, d, e, f].map(Word);
    match row.way {
        Way::After(end) => {
            let done = made();
            end(call, words, done);
            done
        }
        Way::Around(whole) => whole(call, words, Made(&made)),
    }
}
