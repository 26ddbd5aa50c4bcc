//! Processes: leaving, replacing the image, starting others, changing the root. `vfork` is
//! `arch::vfork`; fork needs no hook.

use core::ffi::{c_char, c_int, c_void};

use netra_event::{Function, NO_FILE, NO_OFFSET};

use super::posix::named;
use crate::call::Call;
use crate::jail;
use crate::life;
use crate::real as libc_real;

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
        fn execveat(directory: c_int, path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char, flags: c_int) -> c_int, else -1;
        fn posix_spawn(child: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else libc::ENOSYS;
        fn posix_spawnp(child: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else libc::ENOSYS;
        fn system(command: *const c_char) -> c_int, else -1;
        fn chroot(path: *const c_char) -> c_int, else -1;
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
pub(super) fn replacing<T>(site: usize, call: impl FnOnce() -> T) -> T {
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
    execveat(directory: c_int, path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char, flags: c_int);
}

/// The variadic ones: `variadic.c` has put the arguments in a row. A row cannot be taken apart
/// again, so they go on as the function that libc itself makes of them.
macro_rules! exec_list {
    ($($name:ident($($arg:ident: $kind:ty),*) = $real:ident($($given:ident),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`, with its arguments in a row.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function. The last argument is the caller's
        /// return address.
        pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> c_int {
            // SAFETY: the caller's contract is the real function's.
            replacing(site, || unsafe { real::$real($($given),*) })
        }
    )*};
}
exec_list! {
    execl(path: *const c_char, arguments: *const *const c_char, _environment: *const *const c_char) = execv(path, arguments);
    execlp(path: *const c_char, arguments: *const *const c_char, _environment: *const *const c_char) = execvp(path, arguments);
    execle(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) = execve(path, arguments, environment);
}

named! {
    /// `posix_spawn(3)`: libc makes the child by inner calls of its own. All registers are taken, so
    /// there is no call site.
    fn [posix_spawn posix_spawnp](child: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, real => {
        let call = Call::begin(Function::Spawn, 0);
        // SAFETY: the caller's contract is the real function's.
        let error = unsafe { real(child, path, actions, attributes, arguments, environment) };
        if let Some(ended) = call.end_unless_child() {
            match error {
                0 => ended.alone(NO_OFFSET, 0),
                error => ended.failed(NO_FILE, NO_OFFSET, 0, error),
            }
        }
        error
    }
}
named! {
    /// `system(3)`: the time the command took is the call's.
    fn [system](command: *const c_char, site: usize) -> c_int, real => {
        let call = Call::begin(Function::System, site);
        // SAFETY: the caller's contract is the real function's.
        let status = unsafe { real(command) };
        if let Some(ended) = call.end_unless_child() {
            ended.alone(NO_OFFSET, 0);
        }
        status
    }
}
named! {
    /// `chroot(2)`: what of ours lies outside is held before it is out of sight.
    fn [chroot](path: *const c_char, site: usize) -> c_int, real => {
        // SAFETY: the caller's contract is the real function's.
        confined(Call::begin(Function::Chroot, site), || unsafe { real(path) })
    }
}

/// Records a `chroot` around the real one.
pub(super) fn confined<T: Into<i64> + Copy>(call: Call, made: impl FnOnce() -> T) -> T {
    jail::before();
    let done = made();
    let errno = libc_real::errno();
    if let Some(ended) = call.end() {
        match done.into() {
            0 => ended.alone(NO_OFFSET, 0),
            _ => ended.failed(NO_FILE, NO_OFFSET, 0, errno),
        }
    }
    done
}
