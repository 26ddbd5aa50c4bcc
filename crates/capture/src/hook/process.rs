//! Processes: leaving, replacing the image. `vfork` is `arch::vfork`; fork needs no hook.

use core::ffi::{c_char, c_int};

use netra_event::Function;

use crate::call::Call;
use crate::life;

#[expect(non_snake_case, reason = "they are C's names")]
mod real {
    use super::*;

    crate::real! {
        fn _exit(status: c_int) -> (), else ();
        fn _Exit(status: c_int) -> (), else ();
        fn execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else -1;
        fn execv(path: *const c_char, arguments: *const *const c_char) -> c_int, else -1;
        fn execvp(path: *const c_char, arguments: *const *const c_char) -> c_int, else -1;
        fn execvpe(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else -1;
        fn fexecve(descriptor: c_int, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else -1;
    }
}

/// Counts the end of the process, and writes the log: destructors do not run.
fn leaving(site: usize) {
    if let Some(ended) = Call::begin(Function::Exit, site).end_quietly() {
        ended.alone(0, 0);
    }
    life::finish();
}

/// `_exit(2)`.
///
/// # Safety
/// The caller keeps the contract of `_exit(2)`. The last argument is the caller's return address.
pub unsafe extern "C" fn _exit(status: c_int, site: usize) {
    leaving(site);
    // SAFETY: the caller's contract is the real function's.
    unsafe { real::_exit(status) };
}

/// `_Exit(3)`.
///
/// # Safety
/// As for [`_exit`].
#[expect(non_snake_case, reason = "it is C's name")]
pub unsafe extern "C" fn _Exit(status: c_int, site: usize) {
    leaving(site);
    // SAFETY: the caller's contract is the real function's.
    unsafe { real::_Exit(status) };
}

/// Marks the segment, makes the call, and takes the mark back if the call came back.
fn replacing(site: usize, call: impl FnOnce() -> c_int) -> c_int {
    if let Some(ended) = Call::begin(Function::Exec, site).end_quietly() {
        ended.alone(0, 0);
    }
    life::before_exec();
    let done = call();
    life::after_exec();
    done
}

macro_rules! exec {
    ($($name:ident($($arg:ident: $kind:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function. The last argument is the caller's
        /// return address.
        pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> c_int {
            // SAFETY: the caller's contract is the real function's.
            replacing(site, || unsafe { real::$name($($arg),*) })
        }
    )*};
}
exec! {
    execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char);
    execv(path: *const c_char, arguments: *const *const c_char);
    execvp(path: *const c_char, arguments: *const *const c_char);
    execvpe(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char);
    fexecve(descriptor: c_int, arguments: *const *const c_char, environment: *const *const c_char);
}
