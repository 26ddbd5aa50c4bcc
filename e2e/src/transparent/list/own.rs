//! The programs of `e2e/programs`, each named for a hazard.

use crate::transparent::guest::{Guest, Line, PLAIN};

const fn own(name: &'static str) -> Guest {
    Guest { name, command: Line::Own(name), long: true, ..PLAIN }
}

macro_rules! own {
    ($($name:ident)*) => { &[$(own(stringify!($name))),*] };
}

pub(super) static ALL: &[Guest] = own! {
    fork fork_deep raw_clone vfork vfork_failed_exec posix_spawn exec_failed exec_family
    close_range closefrom dup2 dup_offset o_append fdopen_fclose freopen fcloseall
    signal_io signal_storm signal_pipe longjmp malloc_io
    pthread_cancel short_threads many_threads thread_exit main_pthread_exit shared_fd
    open_close_race atexit constructor closed_stdio
    rlimit_nofile huge_fd small_stack rlimit_fsize rlimit_as drop_privileges chroot
    lfs64 vector names many_files stat_family errno variadic pipes plain fortify every_hook
    underscore_exit quick_exit kill9 segfault abort sys_exit_group
    stdio standard_streams wide_stdio printf_family scanf_family popen unlocked_inline
    syscall_every users no_counter clone_vm empty_tls copy_time sandbox sandbox_exec
    temporary rename metadata movers reserve mapping aio syscall io_uring getrandom
};

/// Those that need more than to be run, and what looks at them.
#[cfg(test)]
pub(super) const APART: &[(&str, &str)] = &[
    ("deepbind", "it takes a library; the tests of hazards give it one"),
    ("dlopen", "it takes a library; the tests of hazards give it one"),
    ("plugin", "it is that library"),
    ("exec", "it takes another program; the tests of hazards give it one"),
    ("setuid", "it says what it sees of LD_PRELOAD"),
    ("stack", "it needs flags; its own tests give them"),
    ("static", "the list builds static programs of its own"),
    ("liburing", "it needs a library; the tests of hazards link it"),
    ("hdf5", "it needs a library; its own tests link it"),
    ("hdf5_new", "it needs a library; its own tests link it"),
    ("pnetcdf", "it needs a library; its own tests link it"),
    ("mpi_io", "a row for each transport"),
    ("mpi_end", "the tests of jobs end it in each way"),
    ("mpi_job", "the tests of jobs give its situations"),
    ("mpi_killed", "the tests of jobs kill it"),
    ("mpi_session", "the tests of jobs run it"),
    ("mpi_spawn", "the tests of jobs run it"),
    ("mpi_wrapped", "the tests of MPI run it"),
    ("patch_mmap", "its own tests give it what it needs"),
    ("patch_exports", "its own tests give it what it needs"),
    ("mpi_told", "its own tests give it what it needs"),
    ("mpi_far", "a row for each MPI"),
    ("dlopen_name", "its own tests give it what it needs"),
    ("fork_late", "its own tests give it what it needs"),
    ("limits", "its own tests give it what it needs"),
    ("libaio", "its own tests give it what it needs"),
    ("extra_write", "a bad guest"),
    ("pass_through", "a library"),
    ("wrong_bytes", "a bad guest"),
    ("wrong_descriptor", "a bad guest"),
    ("wrong_errno", "a bad guest"),
    ("wrong_exit", "a bad guest"),
    ("wrong_malloc", "a bad guest"),
    ("wrong_output", "a bad guest"),
];
