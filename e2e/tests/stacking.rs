//! Other libraries in LD_PRELOAD, before and after netra: both do their work.
#![forbid(unsafe_code)]

use netra_e2e::{Case, Program, Tool};

#[test]
fn a_library_in_front_and_behind() {
    let library = Program::c("pass_through").library().unwrap();
    let netra = || Tool::netra().unwrap();
    for tool in [netra().behind(library.clone()), netra().before(library)] {
        for name in ["plain", "fork", "dup2", "shared_fd"] {
            let program = Program::c(name).named(&format!("{name}_stacked"));
            Case::of(program).check(&tool).unwrap().assert();
        }
    }
}

/// Named twice by a wrapper script and a module file: it is loaded once.
#[test]
fn netra_twice() {
    let tool = Tool::netra().unwrap();
    let twice = tool.clone().before(tool.library().to_path_buf());
    Case::of(Program::c("plain").named("plain_twice")).check(&twice).unwrap().assert();
}
