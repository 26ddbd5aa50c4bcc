//! Processes: leaving, replacing the image, starting others, changing the root. `vfork` is
//! `arch::vfork`; fork needs no hook.

use core::ffi::{c_char, c_int, c_long, c_void};

use netra_event::roll::Absence;
use netra_event::{Function, NO_FILE, NO_OFFSET};

use super::posix::named;
use crate::call::Call;
use crate::jail;
use crate::life;
use crate::real as libc_real;
use crate::roll;
use crate::target::{Environment, Named, Program};

mod real {
    use super::*;

    crate::real! {
        fn _exit(status: c_int) -> (), else ();
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
        fn setuid(user: u32) -> c_int, else -1;
        fn seteuid(user: u32) -> c_int, else -1;
        fn setreuid(user: u32, effective: u32) -> c_int, else -1;
        fn setresuid(user: u32, effective: u32, saved: u32) -> c_int, else -1;
    }
}

/// Counts the end of the process, and writes the log: destructors do not run.
fn leaving(site: usize) {
    if let Some(ended) = Call::begin(Function::Exit, site).end_quietly() {
        ended.alone(0, 0);
    }
    life::finish();
}

/// `_exit(2)`, also as `_Exit(3)`.
///
/// # Safety
/// The caller keeps the contract of `_exit(2)`. The last argument is the caller's return address.
pub unsafe extern "C" fn _exit(status: c_int, site: usize) {
    leaving(site);
    // SAFETY: the caller's contract is the real function's.
    unsafe { real::_exit(status) };
}

/// Marks the segment, makes the call, and takes the mark back if the call came back. Who will not be recorded is called
/// out before; who would not start with us gets an environment without us, or with us in another place.
///
/// # Safety
/// The call was given this path and this environment, as C has them.
pub(super) unsafe fn replacing<T>(
    site: usize,
    named: Named,
    call: impl Fn(*const *const c_char) -> T,
) -> T {
    if let Some(ended) = Call::begin(Function::Exec, site).end_quietly() {
        ended.alone(0, 0);
    }
    // SAFETY: the caller vouches.
    let passed = unsafe { pass(named) };
    let farewell = life::before_exec(passed != Pass::Unknown);
    let done = match passed {
        Pass::WithOther(_) => {
            // SAFETY: the caller vouches.
            unsafe { with_other_environment(named, &call) }
        }
        Pass::Unknown | Pass::Recorded | Pass::Passed => call(named.environment),
    };
    life::after_exec(farewell);
    if matches!(passed, Pass::Passed | Pass::WithOther(true)) {
        roll::undone();
    }
    done
}

/// What is done about a program that is to be started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Nothing: it cannot be read.
    Unknown,
    /// Nothing.
    Recorded,
    /// It was called out.
    Passed,
    /// It needs another environment, and may have been called out.
    WithOther(bool),
}

/// Looks at a program and calls it out, if it is not recorded.
///
/// # Safety
/// As for [`replacing`].
#[inline(never)]
unsafe fn pass(named: Named) -> Pass {
    // SAFETY: the caller vouches.
    let Some(program) = (unsafe { Program::find(named) }) else { return Pass::Unknown };
    if let Some(why) = program.absence {
        roll::passing(why, program.path.bytes());
    }
    match program.absence {
        why if program.needs_other_environment() => Pass::WithOther(why.is_some()),
        Some(_) => Pass::Passed,
        None => Pass::Recorded,
    }
}

/// Makes the call with the environment in which the program can start.
///
/// # Safety
/// As for [`replacing`].
#[inline(never)]
unsafe fn with_other_environment<R>(named: Named, call: &dyn Fn(*const *const c_char) -> R) -> R {
    // SAFETY: the caller vouches.
    let program = unsafe { Program::find(named) };
    let mut other = Environment::new();
    // SAFETY: the caller vouches.
    call(unsafe { other.of(program.as_ref(), named.environment) })
}

/// A program by its path; for the functions that look where `PATH` says, by its name.
fn by_path(path: *const c_char, search: bool, environment: *const *const c_char) -> Named {
    Named { directory: libc::AT_FDCWD, path, search, environment }
}

/// The process's own environment.
fn own() -> *const *const c_char {
    // SAFETY: whoever changes it while another thread execs has lost anyway.
    unsafe { life::environment() }
}

macro_rules! exec {
    ($($name:ident($($arg:ident: $kind:ty),*) as $named:expr, $call:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function. The last argument is the caller's
        /// return address.
        pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> c_int {
            // SAFETY: the caller's contract is the real function's.
            unsafe { replacing(site, $named, $call) }
        }
    )*};
}
exec! {
    execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char)
        as by_path(path, false, environment), |given| real::execve(path, arguments, given);
    execv(path: *const c_char, arguments: *const *const c_char)
        as by_path(path, false, own()), |given| execv_with(path, arguments, given);
    execvp(path: *const c_char, arguments: *const *const c_char)
        as by_path(path, true, own()), |given| execvp_with(path, arguments, given);
    execvpe(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char)
        as by_path(path, true, environment), |given| real::execvpe(path, arguments, given);
    fexecve(descriptor: c_int, arguments: *const *const c_char, environment: *const *const c_char)
        as Named { directory: descriptor, path: c"".as_ptr(), search: false, environment },
        |given| real::fexecve(descriptor, arguments, given);
    execveat(directory: c_int, path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char, flags: c_int)
        as Named { directory, path, search: false, environment },
        |given| real::execveat(directory, path, arguments, given, flags);
}

/// `execve` through `syscall()`: `made` is the call as it came.
///
/// # Safety
/// As for `execve`.
pub(super) unsafe fn execve_by_number(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    made: &dyn Fn() -> c_long,
) -> c_long {
    let call = |given| {
        if given == environment {
            return made();
        }
        // SAFETY: the caller vouches.
        c_long::from(unsafe { real::execve(path, arguments, given) })
    };
    // SAFETY: the caller vouches.
    unsafe { replacing(0, by_path(path, false, environment), call) }
}

/// `execveat` through `syscall()`: `made` is the call as it came.
///
/// # Safety
/// As for `execveat`.
pub(super) unsafe fn execveat_by_number(
    (directory, path, flags): (c_int, *const c_char, c_int),
    arguments: *const *const c_char,
    environment: *const *const c_char,
    made: &dyn Fn() -> c_long,
) -> c_long {
    let call = |given| {
        if given == environment {
            return made();
        }
        // SAFETY: the caller vouches.
        c_long::from(unsafe { real::execveat(directory, path, arguments, given, flags) })
    };
    // SAFETY: the caller vouches.
    unsafe { replacing(0, Named { directory, path, search: false, environment }, call) }
}

/// The variadic ones: `variadic.c` has put the arguments in a row. A row cannot be taken apart
/// again, so they go on as the function that libc itself makes of them.
macro_rules! exec_list {
    ($($name:ident($($arg:ident: $kind:ty),*) = $named:expr, $call:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`, with its arguments in a row.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function. The last argument is the caller's
        /// return address.
        pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> c_int {
            // SAFETY: the caller's contract is the real function's.
            unsafe { replacing(site, $named, $call) }
        }
    )*};
}
exec_list! {
    execl(path: *const c_char, arguments: *const *const c_char, _environment: *const *const c_char)
        = by_path(path, false, own()), |given| execv_with(path, arguments, given);
    execlp(path: *const c_char, arguments: *const *const c_char, _environment: *const *const c_char)
        = by_path(path, true, own()), |given| execvp_with(path, arguments, given);
    execle(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char)
        = by_path(path, false, environment), |given| real::execve(path, arguments, given);
}

/// `execv`, with another environment where one is needed.
///
/// # Safety
/// As for `execve`.
unsafe fn execv_with(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    // SAFETY: the caller vouches.
    unsafe {
        if environment == own() {
            real::execv(path, arguments)
        } else {
            real::execve(path, arguments, environment)
        }
    }
}

/// `execvp`, with another environment where one is needed.
///
/// # Safety
/// As for `execvpe`.
unsafe fn execvp_with(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    // SAFETY: the caller vouches.
    unsafe {
        if environment == own() {
            real::execvp(path, arguments)
        } else {
            real::execvpe(path, arguments, environment)
        }
    }
}

macro_rules! spawn {
    ($($name:ident, $search:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`: libc makes the child by inner calls of its own. All registers")]
        /// are taken, so there is no call site.
        ///
        /// # Safety
        /// The caller keeps the contract of the C function.
        pub unsafe extern "C" fn $name(
            child: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *const c_char,
            environment: *const *const c_char,
        ) -> c_int {
            let call = Call::begin(Function::Spawn, 0);
            // SAFETY: the caller's contract is the real function's.
            unsafe {
                spawning(call, child, by_path(path, $search, environment), |child, given| {
                    real::$name(child, path, actions, attributes, arguments, given)
                })
            }
        }
    )*};
}
spawn! {
    posix_spawn, false;
    posix_spawnp, true;
}

/// # Safety
/// The call was given this place for the child's number, this path and this environment, as C has them.
unsafe fn spawning(
    call: Call,
    child: *mut c_int,
    named: Named,
    spawn: impl Fn(*mut c_int, *const *const c_char) -> c_int,
) -> c_int {
    let mut number = 0;
    // The caller need not want to know it.
    let place = if child.is_null() { &raw mut number } else { child };
    // SAFETY: the caller vouches.
    let program = unsafe { wanting(named) };
    let error = match program {
        // SAFETY: the caller vouches.
        Some((_, true)) => unsafe { with_other_environment(named, &|given| spawn(place, given)) },
        _ => spawn(place, named.environment),
    };
    if error == 0
        && let Some((Some(why), _)) = program
    {
        // SAFETY: the call has filled it.
        let pid = unsafe { place.read() }.cast_unsigned();
        // SAFETY: the caller vouches.
        unsafe { call_out_child(named, why, pid) };
    }
    if let Some(ended) = call.end_unless_child() {
        match error {
            0 => ended.alone(NO_OFFSET, 0),
            error => ended.failed(NO_FILE, NO_OFFSET, 0, error),
        }
    }
    error
}

/// Why a program is not recorded, and whether it needs another environment.
///
/// # Safety
/// As for [`replacing`].
#[inline(never)]
unsafe fn wanting(named: Named) -> Option<(Option<Absence>, bool)> {
    // SAFETY: the caller vouches.
    let program = unsafe { Program::find(named) }?;
    Some((program.absence, program.needs_other_environment()))
}

/// # Safety
/// As for [`replacing`].
#[inline(never)]
unsafe fn call_out_child(named: Named, why: Absence, pid: u32) {
    // SAFETY: the caller vouches.
    if let Some(program) = unsafe { Program::find(named) } {
        roll::started_child(why, pid, program.path.bytes());
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

/// Functions by which a process becomes another user: what its children need is held before.
macro_rules! users {
    ($($name:ident($($arg:ident),*) as $user:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(2)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function. The last argument is the caller's
        /// return address.
        pub unsafe extern "C" fn $name($($arg: u32,)* _site: usize) -> c_int {
            jail::before_user($user);
            // SAFETY: the caller's contract is the real function's.
            unsafe { real::$name($($arg),*) }
        }
    )*};
}
users! {
    setuid(user) as user;
    seteuid(user) as user;
    setreuid(user, effective) as effective;
    setresuid(user, effective, saved) as effective;
}

/// The same through `syscall()`, for one thread; other calls pass.
pub(super) fn before_user_by_number(number: c_long, [user, effective]: [usize; 2]) {
    match number {
        libc::SYS_setuid => jail::before_user(user as u32),
        libc::SYS_setreuid | libc::SYS_setresuid => jail::before_user(effective as u32),
        _ => {}
    }
}
