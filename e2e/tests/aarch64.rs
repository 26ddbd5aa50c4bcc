//! The library for aarch64, with the same programs and the same exact expectations, run by an emulator.
//!
//! `E2E_AARCH64_LIBRARY` names the library; `cargo xtask test` builds it where the target is installed. Programs
//! that start others are left out: those would not be emulated. So are those that fork: the emulator does not
//! wipe the memory that a child is to find empty (`MADV_WIPEONFORK`), which is how it knows that it is one.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Program, Tool};

const PROGRAMS: &[&str] = &[
    "atexit",
    "dup2",
    "dup_offset",
    "fdopen_fclose",
    "freopen",
    "longjmp",
    "metadata",
    "names",
    "o_append",
    "pipes",
    "plain",
    "printf_family",
    "scanf_family",
    "short_threads",
    "signal_io",
    "signal_pipe",
    "stat_family",
    "temporary",
    "thread_exit",
    "underscore_exit",
    "unlocked_inline",
    "variadic",
    "vector",
    "wide_stdio",
];

#[test]
fn programs_on_aarch64() {
    let Some(library) = std::env::var_os("E2E_AARCH64_LIBRARY") else {
        println!("aarch64                  skipped: E2E_AARCH64_LIBRARY is not set");
        return;
    };
    if !Program::is_aarch64_there() {
        println!("aarch64                  skipped: no compiler or emulator for it is installed");
        return;
    }
    let tool = Tool::other(library.into());
    for name in PROGRAMS {
        let program = Program::c(name).on_aarch64().named(&format!("{name}_aarch64"));
        Case::of(program).check(&tool).expect("it runs").assert();
    }
}
