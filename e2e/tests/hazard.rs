//! One test per hazard: the program runs without and with netra, looks the same from outside, and
//! its counters are exactly what it says it did. `docs/hazards.md` lists them with reasons.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Program, Tool};

#[track_caller]
fn check(case: &Case) {
    case.check(&Tool::netra().expect("the library")).expect("it runs").assert();
}

/// A test for each program that needs nothing but to be run.
macro_rules! plain {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(&Case::of(Program::c(stringify!($name))));
        }
    )*};
}

plain! {
    fork fork_deep raw_clone vfork vfork_failed_exec posix_spawn exec_failed exec_family chroot
    close_range closefrom dup2 dup_offset o_append fdopen_fclose freopen fcloseall
    signal_io signal_storm signal_pipe longjmp malloc_io
    pthread_cancel short_threads many_threads thread_exit main_pthread_exit shared_fd
    open_close_race atexit constructor closed_stdio
    rlimit_nofile huge_fd small_stack
    lfs64 vector names many_files stat_family errno variadic pipes plain
    underscore_exit quick_exit kill9 segfault abort sys_exit_group
    wide_stdio printf_family scanf_family popen unlocked_inline
    temporary rename metadata movers reserve mapping aio syscall io_uring getrandom
}

#[test]
fn fortify() {
    for (name, level) in [("fortify", "2"), ("fortify", "3"), ("printf_family", "2")] {
        let program = Program::c(name).named(&format!("{name}{level}"));
        check(&Case::of(program.flag("-O2").flag(&format!("-D_FORTIFY_SOURCE={level}"))));
    }
}

/// Without optimisation every name is a call; with it headers inline some, which then count by their
/// bytes only.
#[test]
fn stdio_calls() {
    for name in ["stdio", "standard_streams"] {
        check(&Case::of(Program::c(name).flag("-O0")));
    }
    check(&Case::of(Program::c("stdio").named("stdio_inlined").flag("-O2")));
}

/// Two builds of one source: the images have different names.
#[test]
fn exec() {
    let second = Program::c("exec").named("exec_second").words().expect("it compiles");
    check(&Case::of(Program::c("exec")).arg(&second[0]));
}

#[test]
fn dlopen_and_deepbind() {
    let plugin = Program::c("plugin").library().unwrap().display().to_string();
    check(&Case::of(Program::c("dlopen")).arg(&plugin));
    check(&Case::of(Program::c("deepbind")).arg(&plugin));
    check(&Case::of(Program::c("dlopen_name")).arg(&plugin));
}

#[test]
fn iostreams() {
    check(&Case::of(Program::cpp("iostreams")));
}

/// liburing is reached through its callers' slots, whether they are bound lazily or at once.
#[test]
fn liburing() {
    if !std::path::Path::new("/usr/include/liburing.h").exists() {
        println!("liburing                 skipped: it is not installed");
        return;
    }
    for binding in ["lazy", "now"] {
        let program = Program::c("liburing").named(&format!("liburing_{binding}"));
        let program = program.flag(&format!("-Wl,-z,{binding},--no-as-needed")).flag("-luring");
        check(&Case::of(program));
    }
}

/// Its callers reach it through slots of every kind.
#[test]
fn mapping_by_every_kind_of_slot() {
    for flags in ["-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt", "-no-pie", "-no-pie -fno-pie -fno-plt"] {
        let name = format!("mapping{}", flags.replace([' ', ','], ""));
        let program = flags.split(' ').fold(Program::c("mapping").named(&name), Program::flag);
        check(&Case::of(program));
    }
}

/// What netra maps is what the application lacks: a ladder of limits, from where the program just fits.
#[test]
fn limits_on_memory() {
    for resource in ["as", "data"] {
        let program = Program::c("limits").named(&format!("limits_{resource}"));
        check(&Case::of(program.clone()).arg(resource).arg("tight").without_evidence());
        check(&Case::of(program).arg(resource).arg("wide"));
    }
}

/// Limits and rights under which a log may be impossible: the application does not notice.
#[test]
fn limits_and_rights() {
    for name in ["rlimit_fsize", "rlimit_as", "drop_privileges"] {
        check(&Case::of(Program::c(name)).without_evidence());
    }
}
