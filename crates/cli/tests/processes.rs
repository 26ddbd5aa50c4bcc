//! Jobs of several processes of which nobody said that they are ranks: a script and what it calls, a shim that becomes
//! the program, workers of a pool. They are processes on every face, and no rule compares them.

use std::process::Command;

use netra_e2e::Tool;
use serde_json::Value;
use tempfile::TempDir;

/// Writes a file in pieces and flushes each to the device.
const WORKER: &str = "import os
f = open('out.dat', 'wb', buffering=0)
for turn in range(600):
    f.write(bytes(99_000))
    os.fsync(f.fileno())
";

/// Runs words under netra in a folder with the worker; gives what the report says.
fn report(words: &[&str], file: (&str, &str)) -> Value {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("worker.py"), WORKER).expect("it is written");
    std::fs::write(folder.path().join(file.0), file.1).expect("it is written");
    std::fs::create_dir(folder.path().join("segments")).expect("a folder");
    let netra = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        command.current_dir(folder.path());
        command
    };
    let library = Tool::netra().expect("the library is built");
    let mut run = netra();
    run.args(["run", "--log-file", "job.darshan", "--"]).args(words);
    run.env("NETRA_PRELOAD", library.library());
    run.env("NETRA_SEGMENT_DIR", folder.path().join("segments"));
    let done = run.output().expect("netra starts");
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("on the slowest process (python3"), "{said}");
    let told = netra().args(["report", "--json", "job.darshan"]).output().expect("netra starts");
    let info = netra().args(["info", "job.darshan"]).output().expect("netra starts");
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains(" processes\n") && !info.contains(" on rank "), "{info}");
    serde_json::from_slice(&told.stdout).expect("a document")
}

/// That the report is about the worker's flushes, and that no process is a rank.
#[track_caller]
fn is_about_flushes(report: &Value, least: u64) {
    let job = &report["job"];
    assert!(job["command"].as_str().is_some_and(|line| line.contains("python3")), "{job}");
    assert_eq!(job["ranks"], 0, "{job}");
    assert!(job["processes"].as_u64().is_some_and(|many| many >= least), "{job}");
    assert_eq!(report["io"]["rank"], Value::Null);
    let who = report["io"]["process"].as_str().unwrap_or_default();
    assert!(who.starts_with("python3"), "{who}");
    let findings = report["findings"].as_array().expect("a list");
    let slugs: Vec<&str> = findings.iter().filter_map(|one| one["slug"].as_str()).collect();
    assert!(slugs.contains(&"sync-storm"), "{slugs:?}");
    assert!(!slugs.contains(&"straggler") && !slugs.contains(&"awaited-rank"), "{slugs:?}");
    for finding in findings {
        assert_eq!(finding["ranks"], Value::Array(Vec::new()), "{finding}");
        let says = finding["says"].as_str().unwrap_or_default();
        assert!(!says.contains("rank ") && !says.contains("ranks "), "{says}");
    }
}

#[test]
fn a_script_is_about_the_program_that_does_the_work() {
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do date; done; python3 worker.py";
    is_about_flushes(&report(&["bash", "-c", script], ("empty", "")), 13);
}

#[test]
fn a_shim_that_becomes_the_program_is_not_the_program() {
    let shim = "#!/bin/bash
for i in 1 2 3 4 5 6 7 8; do dirname \"$(cat worker.py | head -c 10)\" >where; done
exec python3 \"$@\"
";
    is_about_flushes(&report(&["bash", "shim", "worker.py"], ("shim", shim)), 8);
}

#[test]
fn workers_of_a_pool_are_processes() {
    let pool = "import multiprocessing, os, sys

def work(number):
    if number == 3:
        exec(open('worker.py').read(), {})

if __name__ == '__main__':
    multiprocessing.set_start_method('forkserver')
    with multiprocessing.Pool(8) as pool:
        pool.map(work, range(8), chunksize=1)
";
    is_about_flushes(&report(&["python3", "pool.py"], ("pool.py", pool)), 2);
}
