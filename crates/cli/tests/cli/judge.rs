//! The JSON of `netra parse` and `netra dxt` against PyDarshan's own library: every job, counter,
//! name and segment of the logs that come with it. `judge/pydarshan.py` compares.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::netra::{EXAMPLE, Place, python};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/pydarshan.py");

/// The logs inside the installed package.
fn examples(python: &Path) -> Vec<PathBuf> {
    let folder = "import os, darshan; print(os.path.dirname(darshan.__file__))";
    let done = Command::new(python).args(["-c", folder]).output().expect("python starts");
    let folder = String::from_utf8(done.stdout).expect("a path");
    let pattern = format!("{}/**/*.darshan", folder.trim());
    let mut logs: Vec<PathBuf> =
        glob::glob(&pattern).expect("a pattern").map(|log| log.expect("a log")).collect();
    logs.sort();
    logs
}

#[test]
fn pydarshan_reads_the_same() {
    let Some(python) = python() else {
        eprintln!("skipped: no PyDarshan; `cargo xtask test` installs it");
        return;
    };
    let mut logs = examples(&python);
    assert!(logs.len() >= 18, "{logs:?}");
    logs.push(EXAMPLE.into());
    let place = Place::new();
    let done = Command::new(&python)
        .arg(SCRIPT)
        .arg(env!("CARGO_BIN_EXE_netra"))
        .args(&logs)
        .current_dir(place.path(""))
        .output()
        .expect("python starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{complaints}");
    // A judge that compared nothing has not judged.
    for line in said.lines() {
        let count = line.split(": ").nth(1).and_then(|rest| rest.split(' ').next());
        let count: u64 = count.and_then(|count| count.parse().ok()).expect("a number of values");
        assert!(count > 100, "{line}");
    }
    assert_eq!(said.lines().count(), logs.len());
}
