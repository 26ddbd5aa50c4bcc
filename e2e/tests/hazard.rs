//! One test per hazard: the program runs without and with netra, looks the same from outside, and
//! its counters are exactly what it says it did. `docs/hazards.md` lists them with reasons.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Program, Scene, Tool};

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
    fork fork_deep raw_clone vfork vfork_failed_exec posix_spawn exec_failed exec_family chroot users
    close_range closefrom dup2 dup_offset o_append fdopen_fclose freopen fcloseall
    signal_io signal_storm signal_pipe longjmp malloc_io
    pthread_cancel short_threads many_threads thread_exit main_pthread_exit shared_fd
    open_close_race atexit constructor closed_stdio
    rlimit_nofile huge_fd small_stack
    lfs64 vector names many_files stat_family errno variadic pipes plain
    underscore_exit quick_exit kill9 segfault abort sys_exit_group
    wide_stdio printf_family scanf_family popen unlocked_inline
    temporary rename metadata movers copy_time reserve mapping aio syscall syscall_every io_uring getrandom
    sandbox no_counter empty_tls clone_vm
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

/// libaio is reached in the same way; a program that leaves results where they are says so in its log.
#[test]
fn libaio() {
    if !std::path::Path::new("/usr/include/libaio.h").exists() {
        println!("libaio                   skipped: it is not installed");
        return;
    }
    for binding in ["lazy", "now"] {
        let program = Program::c("libaio").named(&format!("libaio_{binding}"));
        let program = program.flag(&format!("-Wl,-z,{binding},--no-as-needed")).flag("-laio");
        check(&Case::of(program.clone()));
        check(&Case::of(program).arg("left"));
    }
}

/// A program of another C library starts with ours preloaded, alone and from a script, and is left alone.
#[test]
fn musl() {
    let specs = format!("/usr/lib/{}-linux-musl/musl-gcc.specs", std::env::consts::ARCH);
    if !std::path::Path::new(&specs).exists() {
        println!("musl                     skipped: musl-tools is not installed");
        return;
    }
    let program = Program::c("musl").flag(&format!("-specs={specs}"));
    check(&Case::of(program.clone()).without_evidence());
    let words = program.words().expect("it compiles");
    let script = format!("{}; echo code $?", words[0]);
    let shell = Program::system("musl_in_a_script", &["sh", "-c", &script]);
    check(&Case::of(shell).without_evidence());
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

/// A new image under a filter that its process installed: left alone where it could be killed, recorded where
/// the filter is harmless and the environment says so, as `netra run` has it.
#[test]
fn sandbox_exec() {
    let program = Program::c("sandbox_exec");
    check(&Case::of(program.clone()));
    check(&Case::of(program.clone().named("sandbox_exec_told")).env("NETRA_FILTERS", "00"));
    let harmless = Case::of(program.named("sandbox_exec_harmless")).arg("harmless");
    check(&harmless.env("NETRA_FILTERS", "00"));
}

/// Limits and rights under which a log may be impossible: the application does not notice.
#[test]
fn limits_and_rights() {
    for name in ["rlimit_fsize", "rlimit_as", "drop_privileges"] {
        check(&Case::of(Program::c(name)).without_evidence());
    }
}

/// What a process writes when a roll is called, and what it asks of the programs that it starts, is as little noticed: its
/// descriptors, errno, limits and children are what they were.
#[test]
fn with_a_roll() {
    for name in [
        "plain",
        "fork",
        "fork_deep",
        "raw_clone",
        "vfork",
        "vfork_failed_exec",
        "posix_spawn",
        "exec_failed",
        "exec_family",
        "closed_stdio",
        "closefrom",
        "close_range",
        "rlimit_nofile",
        "small_stack",
        "chroot",
        "users",
        "underscore_exit",
        "kill9",
        "popen",
    ] {
        let scene = Scene::new(&format!("{name}_with_a_roll")).unwrap();
        let folder = scene.output("roll");
        std::fs::create_dir(&folder).unwrap();
        let case = Case::of(Program::c(name)).env("NETRA_ROLL", &folder);
        case.check_in(&scene, &Tool::netra().unwrap()).unwrap().assert();
        let rolls = std::fs::read_dir(folder).unwrap().flatten();
        let mut rolls = rolls.filter(|e| e.file_name().to_string_lossy().starts_with("roll."));
        let bytes = rolls.next().map_or(0, |roll| roll.metadata().unwrap().len());
        assert!(bytes > 0 && bytes % 256 == 0, "{name}: {bytes} bytes");
    }
}
