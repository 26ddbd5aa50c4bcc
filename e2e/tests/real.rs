//! Real applications: netra's counts equal strace's, call for call, file by file.
//!
//! The rule for what is compared. A call is the application's own when it is on a file below the
//! working directory (the loader and libc read elsewhere), that is no directory (libc opens those
//! itself, in `opendir`), and that is not used through a stdio stream: what stdio does inside libc is no call of the application, so strace sees it and the
//! POSIX counters do not. Such files are left to the STDIO counters and listed as streams; where an
//! application uses little else, ltrace is asked about those.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use netra_e2e::{Case, Counters, Log, Program, Scene, Tool, streams, trace};

/// What is compared.
const COUNTERS: &[&str] = &[
    "POSIX_OPENS",
    "POSIX_READS",
    "POSIX_WRITES",
    "POSIX_SEEKS",
    "POSIX_STATS",
    "POSIX_FSYNCS",
    "POSIX_FDSYNCS",
    "POSIX_BYTES_READ",
    "POSIX_BYTES_WRITTEN",
];

/// Files that hold a date or a duration.
const TIMED: &[&str] = &["hmmer.log ", "hits ", "family.hmm "];

/// Inputs that the applications read.
fn prepare(work: &Path) {
    let line = |number: u32| format!("line {number} of the input\n");
    let text: String = (0..20_000).map(line).collect();
    fs::write(work.join("in.dat"), text).expect("write the input");
    fs::create_dir_all(work.join("tree/below")).expect("make the tree");
    for number in 0..20_u8 {
        let name = work.join(format!("tree/below/{number}.dat"));
        fs::write(name, vec![number; 1000 * usize::from(number)]).expect("write the tree");
    }
    let row = "ACDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWY";
    let alignment: String = (0..4).fold(String::new(), |mut all, number| {
        writeln!(all, "seq{number} {row}").expect("a string grows");
        all
    });
    let alignment = format!("# STOCKHOLM 1.0\n\n{alignment}//\n");
    fs::write(work.join("family.sto"), alignment).expect("write the alignment");
    let proteins: String = (0..200).map(|number| format!(">p{number}\n{row}{row}\n")).collect();
    fs::write(work.join("proteins.fa"), proteins).expect("write the proteins");
}

/// Traces a program, runs it again under netra, and compares.
#[track_caller]
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn check(program: &Program, before: &[&Program]) {
    let name = program.name();
    if !program.is_there() || before.iter().any(|step| !step.is_there()) {
        println!("{name:24} skipped: it is not installed");
        return;
    }
    let scene = Scene::new(name).expect("a fresh directory");
    let set_up = || {
        prepare(&scene.work());
        for step in before {
            Case::of((*step).clone()).run_bare(&scene).expect("a step before it runs");
        }
    };
    set_up();
    let traced = trace(program, &scene).expect("strace runs");
    scene.clear().expect("an empty directory");
    set_up();
    let case = Case::of(program.clone());
    let outcome = case.run_with(&Tool::netra().expect("the library"), &scene).expect("it runs");
    let mut seen = traced.outcome.differences(&outcome);
    // Files in which an application writes how long it took.
    seen.retain(|line| !TIMED.iter().any(|file| line.starts_with(file)));
    assert!(seen.is_empty(), "{name}: {seen:?}");
    let logs = Log::read_all(&scene.logs()).expect("logs are read");
    let (counted, streams) = sums(&logs, &scene.work());
    let mut wrong = Vec::new();
    let (mut theirs, mut ours, mut files) = (0, 0, 0);
    let paths: BTreeSet<&String> = traced.files.keys().chain(counted.keys()).collect();
    let compared = |path: &&String| !streams.contains(*path) && !Path::new(path).is_dir();
    for path in paths.into_iter().filter(compared) {
        files += 1;
        let none = Counters::default();
        let strace = traced.files.get(path).unwrap_or(&none);
        let netra = counted.get(path).unwrap_or(&none);
        for counter in COUNTERS {
            let (want, got) = (strace.get(counter), netra.get(counter));
            if !counter.contains("BYTES") {
                theirs += want;
                ours += got;
            }
            if want != got {
                wrong.push(format!("{path}: {counter}: strace {want}, netra {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{name}:\n  {}", wrong.join("\n  "));
    assert!(files > 0 || !streams.is_empty(), "{name} touched no file");
    println!(
        "{name:24} strace {theirs} calls, netra {ours}, on {files} files; {} streams apart",
        streams.len()
    );
}

/// What a program does through C's streams, beside ltrace's account of the same calls.
#[track_caller]
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn check_streams(program: &Program, before: &Program) {
    const COUNTED: [&str; 5] =
        ["STDIO_OPENS", "STDIO_READS", "STDIO_WRITES", "STDIO_FLUSHES", "STDIO_SEEKS"];
    let name = format!("{} (streams)", program.name());
    let ltrace = Program::system("ltrace", &["ltrace"]);
    if !program.is_there() || !ltrace.is_there() {
        println!("{name:24} skipped: it, or ltrace, is not installed");
        return;
    }
    let scene = Scene::new(&format!("{}_streams", program.name())).expect("a fresh directory");
    let set_up = || {
        prepare(&scene.work());
        Case::of(before.clone()).run_bare(&scene).expect("the step before it runs");
    };
    set_up();
    let traced = streams(program, &scene).expect("ltrace runs");
    scene.clear().expect("an empty directory");
    set_up();
    let case = Case::of(program.clone());
    case.run_with(&Tool::netra().expect("the library"), &scene).expect("it runs");
    let logs = Log::read_all(&scene.logs()).expect("logs are read");
    let mut counted: BTreeMap<String, Counters> = BTreeMap::new();
    for log in logs.values() {
        for (file, counters) in log.records("STDIO").filter(|row| !row.0.starts_with('<')) {
            let sum = counted.entry(file.to_owned()).or_default();
            counters.iter().for_each(|(counter, value)| sum.add(counter, value));
        }
    }
    let (mut theirs, mut ours, mut wrong) = (0, 0, Vec::new());
    for path in traced.keys().chain(counted.keys()).collect::<BTreeSet<_>>() {
        let none = Counters::default();
        let (ltrace, netra) = (traced.get(path), counted.get(path));
        for counter in COUNTED {
            let want = ltrace.unwrap_or(&none).get(counter);
            let got = netra.unwrap_or(&none).get(counter);
            theirs += want;
            ours += got;
            if want != got {
                wrong.push(format!("{path}: {counter}: ltrace {want}, netra {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{name}:\n  {}", wrong.join("\n  "));
    assert!(theirs > 100, "{name}: ltrace saw {theirs} calls only");
    println!("{name:24} ltrace {theirs} calls, netra {ours}, on {} files", counted.len());
}

/// Counters of all processes by file, and the files that are streams.
fn sums(
    logs: &BTreeMap<netra_e2e::Origin, Log>,
    work: &Path,
) -> (BTreeMap<String, Counters>, BTreeSet<String>) {
    let mut files: BTreeMap<String, Counters> = BTreeMap::new();
    let mut streams = BTreeSet::new();
    for log in logs.values() {
        for (name, counters) in
            log.records("POSIX").filter(|row| Path::new(row.0).starts_with(work))
        {
            let sum = files.entry(name.to_owned()).or_default();
            for (counter, value) in counters.iter() {
                sum.add(counter, value);
            }
        }
        streams.extend(log.records("STDIO").map(|(name, _)| name.to_owned()));
    }
    (files, streams)
}

#[test]
fn dd() {
    let words = ["dd", "if=in.dat", "of=out.dat", "bs=4000", "conv=fsync", "status=none"];
    check(&Program::system("dd", &words), &[]);
}

#[test]
fn cp_and_cat() {
    check(&Program::system("cp", &["cp", "in.dat", "copy.dat"]), &[]);
    check(&Program::system("cp-r", &["cp", "-r", "tree", "copy"]), &[]);
    check(&Program::system("cat", &["cat", "in.dat", "tree/below/7.dat"]), &[]);
}

#[test]
fn tar() {
    let make = Program::system("tar-c", &["tar", "--mtime=@0", "-cf", "out.tar", "tree", "in.dat"]);
    check(&make, &[]);
    check(&Program::system("tar-x", &["tar", "xf", "out.tar", "-C", "tree"]), &[&make]);
}

/// Runtimes bring wrappers of their own for calls, around libc's `syscall()`.
#[test]
fn calls_by_number() {
    check(&Program::c("syscall_every").named("syscall_strace"), &[]);
    let copy = "const fs = require('fs'); fs.copyFileSync('in.dat', 'out.dat');
        fs.copyFile('in.dat', 'two.dat', () => fs.writeFileSync('end.dat', 'done'));";
    check(&Program::system("node", &["node", "-e", copy]), &[]);
}

#[test]
fn python_and_perl() {
    let python =
        if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    check(&Program::script(python, "python.py"), &[]);
    check(&Program::script("perl", "perl.pl"), &[]);
}

#[test]
fn sqlite3() {
    let sql = "create table t(a integer primary key, b text); begin;
        insert into t(b) with recursive n(x) as (values(1) union all select x+1 from n where x<2000)
        select 'row ' || x from n; commit; update t set b = b || '!' where a % 3 = 0;
        select count(*), sum(length(b)) from t; vacuum;";
    check(&Program::system("sqlite3", &["sqlite3", "-batch", "data.db", sql]), &[]);
}

#[test]
fn fio() {
    let words = [
        "fio",
        "--name=job",
        "--filename=fio.dat",
        "--size=1m",
        "--bs=4k",
        "--rw=randrw",
        "--ioengine=psync",
        "--randseed=7",
        "--allrandrepeat=1",
        "--fsync=32",
        "--thread",
        "--zero_buffers",
        "--output=/dev/null",
    ];
    check(&Program::system("fio", &words), &[]);
}

#[test]
fn hmmsearch() {
    let build =
        Program::system("hmmbuild", &["hmmbuild", "-o", "hmmer.log", "family.hmm", "family.sto"]);
    let words = [
        "hmmsearch",
        "--cpu",
        "0",
        "-o",
        "hmmer.log",
        "--tblout",
        "hits",
        "family.hmm",
        "proteins.fa",
    ];
    let search = Program::system("hmmsearch", &words);
    check(&search, &[&build]);
    check_streams(&search, &build);
}
