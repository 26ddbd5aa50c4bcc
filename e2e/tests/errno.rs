//! errno and result of every exported function, failing and succeeding, are libc's.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::process::Command;

use netra_e2e::{Case, Program, Scene, Tool};

/// The functions that a library defines.
fn exports(tool: &Tool) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    let done = nm.args(["-D", "--defined-only"]).arg(tool.library()).output().expect("nm runs");
    assert!(done.status.success(), "nm: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("nm writes text");
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()
}

#[test]
fn errno_survives_every_hook() {
    let tool = Tool::netra().unwrap();
    let scene = Scene::new("every_hook").unwrap();
    let case = Case::of(Program::c("every_hook")).without_evidence();
    let lines = String::from_utf8(case.run_bare(&scene).unwrap().stdout).unwrap();
    let rows: BTreeSet<&str> =
        lines.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let exported = exports(&tool);
    assert!(exported.contains("write"), "{exported:?}");
    let missing: Vec<&String> =
        exported.iter().filter(|name| !rows.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "e2e/programs/every_hook.c has no row for {missing:?}");
    scene.clear().unwrap();
    case.check_in(&scene, &tool).unwrap().assert();
    println!("{:24} {} functions", "every_hook", exported.len());
}
