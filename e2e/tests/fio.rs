//! Asynchronous I/O of a real application: calls and bytes are those that fio itself reports, for every depth of
//! its queue.
#![forbid(unsafe_code)]

use std::fs;

use netra_e2e::{Case, Log, Program, Scene, Tool};
use serde_json::Value;

/// Calls and bytes, read and written.
type Moved = [(i64, i64); 2];

/// What fio says it did, summed over its jobs.
fn said(report: &Value) -> Moved {
    let jobs = report["jobs"].as_array().expect("a list of jobs");
    ["read", "write"].map(|way| {
        let sum = |field: &str| jobs.iter().map(|job| job[way][field].as_i64().expect(field)).sum();
        (sum("total_ios"), sum("io_bytes"))
    })
}

/// What netra counted of the file, summed over processes; and what it says it could not see.
fn counted(scene: &Scene) -> (Moved, Vec<String>) {
    let logs = Log::read_all(&scene.logs()).expect("logs are read");
    let name = scene.work().join("fio.dat").display().to_string();
    let of = |counter: &str| {
        logs.values().filter_map(|log| log.record("POSIX", &name)).map(|one| one.get(counter)).sum()
    };
    let moved = [
        (of("POSIX_READS"), of("POSIX_BYTES_READ")),
        (of("POSIX_WRITES"), of("POSIX_BYTES_WRITTEN")),
    ];
    (moved, logs.values().flat_map(Log::notes).collect())
}

/// Runs fio under netra over a file that is there; none if it is not installed, which is said.
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn run(name: &str, options: &[&str]) -> Option<(Moved, Moved, Vec<String>)> {
    let usual = [
        "fio",
        "--name=job",
        "--filename=fio.dat",
        "--size=2m",
        "--invalidate=0",
        "--randseed=7",
        "--output-format=json",
        "--output=fio.json",
    ];
    let program = Program::system(name, &[&usual, options].concat());
    if !program.is_there() {
        println!("{name:24} skipped: it is not installed");
        return None;
    }
    let scene = Scene::new(name).expect("a fresh directory");
    fs::write(scene.work().join("fio.dat"), vec![1; 2 << 20]).expect("write the file");
    let outcome = Case::of(program).run_with(&Tool::netra().expect("the library"), &scene);
    drop(outcome.expect("it runs"));
    let report = fs::read(scene.work().join("fio.json")).expect("fio reports");
    let report: Value = serde_json::from_slice(&report).expect("fio reports in JSON");
    let (counted, notes) = counted(&scene);
    Some((said(&report), counted, notes))
}

#[track_caller]
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn check(name: &str, options: &[&str]) {
    let Some((said, counted, notes)) = run(name, options) else { return };
    assert!(said.iter().any(|(calls, _)| *calls > 0), "{name}: fio did something");
    assert_eq!(counted, said, "{name}: reads and writes, calls and bytes");
    assert_eq!(notes, Vec::<String>::new(), "{name}");
    println!("{name:24} {} reads, {} writes as fio says", said[0].0, said[1].0);
}

#[test]
fn libaio_at_every_depth() {
    for way in ["read", "write", "randrw", "randread", "rw"] {
        for depth in [1, 4, 32, 1024] {
            let options = [
                "--ioengine=libaio".to_owned(),
                format!("--rw={way}"),
                format!("--iodepth={depth}"),
                format!("--iodepth_batch={}", depth.min(8)),
                format!(
                    "--bs={}",
                    match depth {
                        4 => "3000",
                        1024 => "512",
                        _ => "4k",
                    }
                ),
            ];
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            check(&format!("fio_libaio_{way}_{depth}"), &options);
        }
    }
}

/// Several jobs as threads, with syncs between, past the page cache.
#[test]
fn libaio_in_threads() {
    let options =
        ["--ioengine=libaio", "--rw=randrw", "--iodepth=16", "--numjobs=4", "--thread", "--bs=4k"];
    check("fio_libaio_threads", &options);
    check("fio_libaio_direct", &[&options[..], &["--direct=1"]].concat());
    check("fio_libaio_jobs", &["--ioengine=libaio", "--rw=randrw", "--iodepth=16", "--numjobs=3"]);
}

#[test]
fn posix_aio() {
    for depth in ["1", "16"] {
        let depth = format!("--iodepth={depth}");
        check(
            &format!("fio_posixaio{depth}"),
            &["--ioengine=posixaio", "--rw=randrw", &depth, "--bs=4k"],
        );
    }
}

/// fio reads the kernel's ring by itself where it is told to: no call takes those results, and that is said.
#[test]
fn results_that_no_call_takes_are_said() {
    let options = [
        "--ioengine=libaio",
        "--rw=write",
        "--iodepth=8",
        "--userspace_reap",
        "--iodepth_batch_complete_min=0",
    ];
    let Some((said, counted, notes)) = run("fio_userspace_reap", &options) else { return };
    let [(_, _), (calls, bytes)] = counted;
    println!("fio_userspace_reap       {calls} of {} writes seen", said[1].0);
    assert!(calls <= said[1].0 && bytes <= said[1].1);
    let left = "asynchronous transfers were asked for whose results were never taken: they are not in the counters of files";
    let expected: &[&str] = if calls < said[1].0 { &[left] } else { &[] };
    assert_eq!(notes, expected, "{calls} of {} were seen", said[1].0);
}
