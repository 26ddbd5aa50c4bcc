//! A second library ends the process when netra allocates: it never does.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Program, Scene, Tool};

#[test]
fn netra_never_allocates() {
    let tripwire = Program::beside("tripwire/tripwire.c").library().unwrap();
    let tool = Tool::netra().unwrap().before(tripwire);
    let scene = Scene::new("tripwire").unwrap();
    let said = Case::of(Program::c("plain")).env("TRIPWIRE_SAYS", "1").run_with(&tool, &scene);
    assert_eq!(said.unwrap().stderr, b"tripwire: watching netra\n");
    for name in [
        "plain",
        "fork",
        "exec",
        "dup2",
        "fdopen_fclose",
        "freopen",
        "signal_io",
        "short_threads",
        "shared_fd",
        "many_files",
        "stat_family",
        "vector",
        "errno",
        "names",
        "atexit",
        "every_hook",
    ] {
        let program = Program::c(name).named(&format!("{name}_tripwire"));
        Case::of(program).without_evidence().check(&tool).unwrap().assert();
    }
}
