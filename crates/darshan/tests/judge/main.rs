//! What others make of the logs that we write: PyDarshan, and `darshan-parser` where it is installed.
//!
//! `NETRA_TEST_PYTHON` names a Python that has the package `darshan`; `cargo xtask test` sets it.

#[path = "../generate/mod.rs"]
mod generate;

use generate::{ORDERS, Order, Spec};
use netra_darshan::convert::{self, convert};
use netra_darshan::counter::{self, lustre};
use netra_darshan::merge::{self, merge};
use netra_darshan::read::{Direction, Dxt};
use netra_darshan::record::header::Compression;
use netra_darshan::write::Writer;
use netra_darshan::{Log, Record, text};
use netra_event::Module;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of one test, empty at its beginning.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("our own folder");
    }
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The modules that PyDarshan can read; it knows nothing about the others.
const PYTHON: [Module; 13] = [
    Module::Posix,
    Module::Mpiio,
    Module::H5f,
    Module::H5d,
    Module::PnetcdfFile,
    Module::PnetcdfVar,
    Module::Lustre,
    Module::Stdio,
    Module::DxtPosix,
    Module::DxtMpiio,
    Module::Heatmap,
    Module::Dfs,
    Module::Daos,
];

/// Generated logs of the current versions, written again by us, with a netra section behind them.
fn written(test: &str, modules: &[Module], compression: Compression) -> Vec<PathBuf> {
    let folder = folder(test);
    let log = |module: Module| {
        let order = ORDERS[usize::from(module.code() % 2)];
        let spec = Spec::new(order, 0).with(module, counter::version(module));
        let log = Log::from_bytes(spec.build()).expect("a log");
        let path = folder.join(format!("{}.darshan", module.code()));
        let file = File::create(&path).expect("a file");
        let names = log.names().iter();
        let mut writer = Writer::new(file, compression, log.job(), names).expect("a disk");
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            writer.record(module, record).expect("a disk");
        }
        writer.block(1, &[7; 100_000]).expect("a disk");
        writer.block(9, b"short").expect("a disk");
        writer.finish().expect("a disk");
        path
    };
    modules.iter().map(|&module| log(module)).collect()
}

/// A log with a job and nothing else: no names, no mounts, no records.
fn bare(test: &str) -> PathBuf {
    let path = folder(test).join("bare.darshan");
    let job = netra_darshan::read::Job::default();
    let file = File::create(&path).expect("a file");
    let mut writer = Writer::new(file, Compression::Zlib, &job, []).expect("a disk");
    writer.block(1, b"behind").expect("a disk");
    writer.finish().expect("a disk");
    let log = Log::open(&path).expect("our own log");
    assert_eq!(log.damage(), []);
    assert_eq!(log.job(), &job);
    path
}

/// What we find ourselves, in the words of `read.py`.
fn ours(log: &Log) -> Vec<String> {
    let job = &log.job().numbers;
    let mut lines = vec![
        format!("job\tuid\t{}", job.uid),
        format!("job\tjobid\t{}", job.jobid),
        format!("job\tnprocs\t{}", job.nprocs),
        format!("job\tstart_time_sec\t{}", job.start_sec),
        format!("job\tend_time_sec\t{}", job.end_sec),
        format!("exe\t{}", String::from_utf8_lossy(&log.job().exe)),
    ];
    let mut names: Vec<_> = log.names().iter().collect();
    names.sort();
    for (id, name) in names {
        lines.push(format!("name\t{id}\t{}", String::from_utf8_lossy(name)));
    }
    for module in log.modules().filter(|module| PYTHON.contains(module)) {
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            let begin = format!("{module}\t{}\t{}", record.id(), record.rank());
            lines.extend(
                values(module, record)
                    .into_iter()
                    .map(|(name, value)| format!("{begin}\t{name}\t{value}")),
            );
        }
        assert_eq!(records.damage(), []);
    }
    lines
}

fn values(module: Module, record: Record<'_>) -> Vec<(String, String)> {
    match record {
        Record::Counters(record) => {
            let table = counter::current(module).expect("has counters");
            let ints = table.int.iter().zip(record.ints);
            let ints = ints.map(|(name, value)| ((*name).to_owned(), value.to_string()));
            let floats = table.float.iter().zip(record.floats);
            let floats = floats.map(|(name, value)| ((*name).to_owned(), format!("{value:?}")));
            ints.chain(floats).collect()
        }
        Record::Lustre(record) => {
            let mut values = Vec::new();
            for (number, (component, targets)) in record.parts().enumerate() {
                for (name, value) in lustre::TABLE.int.iter().zip(component.numbers) {
                    values.push((format!("{number}.{name}"), value.to_string()));
                }
                for (at, target) in targets.iter().enumerate() {
                    values.push((format!("{number}.ost{at}"), target.to_string()));
                }
            }
            values
        }
        Record::Heatmap(record) => {
            let mut values = vec![("width".to_owned(), format!("{:?}", record.width.0))];
            for (kind, bins) in [("read", record.reads), ("write", record.writes)] {
                let bins = bins.iter().enumerate();
                values.extend(bins.map(|(at, bytes)| (format!("{kind}{at}"), bytes.to_string())));
            }
            values
        }
        Record::Dxt(dxt) => segments(dxt),
        record => panic!("PyDarshan does not know {record:?}"),
    }
}

fn segments(mut dxt: Dxt<'_>) -> Vec<(String, String)> {
    let mut values = Vec::new();
    let mut counts = [0, 0];
    while let Some((direction, piece)) = dxt.segments.next_piece() {
        let (kind, at) = match direction {
            Direction::Write => ("write", 0),
            Direction::Read => ("read", 1),
        };
        for segment in piece {
            let number = counts[at];
            values.push((format!("{kind}{number}.offset"), segment.offset.to_string()));
            values.push((format!("{kind}{number}.length"), segment.length.to_string()));
            values.push((format!("{kind}{number}.start_time"), format!("{:?}", segment.start)));
            values.push((format!("{kind}{number}.end_time"), format!("{:?}", segment.end)));
            counts[at] += 1;
        }
    }
    values
}

/// Equal, or the same number written differently.
fn same(ours: &str, theirs: &str) -> bool {
    let number = |line: &str| line.rsplit('\t').next().and_then(|n| n.parse::<f64>().ok());
    let rest = |line: &str| line.rsplit_once('\t').map(|(rest, _)| rest.to_owned());
    ours == theirs || (rest(ours) == rest(theirs) && number(ours) == number(theirs))
}

fn python() -> Option<OsString> {
    let python = std::env::var_os("NETRA_TEST_PYTHON");
    if python.is_none() {
        eprintln!("skipped: NETRA_TEST_PYTHON names no Python with the package darshan");
    }
    python
}

/// PyDarshan finds in logs what we find. One interpreter for all: it takes seconds to start.
fn python_agrees(python: &OsString, paths: &[PathBuf]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge/read.py");
    let said = Command::new(python).arg(script).args(paths).output().expect("Python runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let theirs = String::from_utf8_lossy(&said.stdout);
    let theirs: Vec<&str> = theirs.lines().collect();
    let ours: Vec<String> = paths
        .iter()
        .flat_map(|path| {
            let lines = ours(&Log::open(path).expect("our own log"));
            std::iter::once(format!("log\t{}", path.display())).chain(lines)
        })
        .collect();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(same(ours, theirs), "\n ours: {ours}\ntheir: {theirs}");
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn pydarshan_reads_what_we_write_and_merge() {
    let Some(python) = python() else { return };
    let mut paths = written("pydarshan", &PYTHON, Compression::Zlib);
    paths.extend(merged("pydarshan-merge"));
    paths.push(bare("pydarshan-bare"));
    python_agrees(&python, &paths);
}

/// Logs of four processes merged in two ways: as they are, and with what they share as one record.
fn merged(test: &str) -> Vec<PathBuf> {
    let folder = folder(test);
    let one = |shared: bool| {
        let inputs = (0..4).map(process).collect();
        let path = folder.join(format!("shared-{shared}.darshan"));
        let options = merge::Options { shared, drop_threads: true, ..merge::Options::default() };
        let file = File::create(&path).expect("a file");
        let (_, merged) = merge(inputs, options, file).expect("a disk");
        assert_eq!(merged.damage, []);
        assert_eq!(merged.reduced > 0, shared);
        path
    };
    vec![one(false), one(true)]
}

/// The log of one process of four: every module's records moved to its rank.
fn process(rank: i64) -> Log {
    let mut spec = Spec::new(Order::Little, 0);
    for module in PYTHON {
        let version = counter::version(module);
        let mut bytes = generate::records(module, version, Order::Little);
        // Each record's rank stands behind its id.
        for (id, old) in generate::IDS.iter().zip(generate::RANKS) {
            let base = [id.to_le_bytes(), old.to_le_bytes()].concat();
            let at = bytes.windows(16).position(|window| window == base).expect("the record");
            bytes[at + 8..at + 16].copy_from_slice(&rank.to_le_bytes());
        }
        spec.modules.push((usize::from(module.code()), version, bytes));
    }
    Log::from_bytes(spec.build()).expect("a log")
}

/// The real tool, if it is there.
fn parser(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|p| p.is_file());
    if found.is_none() {
        eprintln!("skipped: {tool} is not on PATH");
    }
    found
}

/// The lines that tools print, without comments unless they tell values.
fn tool_says(tool: &Path, arguments: &[&str], path: &Path) -> Vec<String> {
    let said = Command::new(tool).args(arguments).arg(path).output().expect("the tool runs");
    let stderr = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{}: {stderr}", path.display());
    lines(&said.stdout)
}

fn lines(text: &[u8]) -> Vec<String> {
    let told =
        ["# DXT,", "#\t[", "# exe", "# uid", "# jobid", "# start_time:", "# end_time:", "# nprocs"];
    String::from_utf8_lossy(text)
        .lines()
        .filter(|line| !line.is_empty())
        .filter(|line| !line.starts_with('#') || told.iter().any(|start| line.starts_with(start)))
        .map(str::to_owned)
        .collect()
}

fn tools_agree(parser: &Path, traces: &Path, path: &Path) {
    let log = Log::open(path).expect("our own log");
    let mut out = Vec::new();
    let options =
        text::Options { base: true, total: false, file: false, perf: false, zone: &|_| 0 };
    text::parse(&log, &options, &mut out).expect("memory");
    assert_eq!(lines(&out), tool_says(parser, &["--base"], path), "{}", path.display());
    let mut out = Vec::new();
    text::traces(&log, &|_| 0, &mut out).expect("memory");
    assert_eq!(lines(&out), tool_says(traces, &[], path), "{}", path.display());
}

#[test]
fn the_real_tools_read_what_we_write_and_merge() {
    let (Some(parser), Some(traces)) = (parser("darshan-parser"), parser("darshan-dxt-parser"))
    else {
        return;
    };
    // The tools print nothing about router counters.
    let modules: Vec<Module> =
        Module::ALL.iter().copied().filter(|&m| m != Module::Null && m != Module::Apxc).collect();
    for compression in [Compression::Zlib, Compression::Bzip2, Compression::None] {
        for path in written(&format!("tools-{}", compression.name()), &modules, compression) {
            tools_agree(&parser, &traces, &path);
        }
    }
    for path in merged("tools-merge").into_iter().chain([bare("tools-bare")]) {
        tools_agree(&parser, &traces, &path);
    }
}

#[test]
fn the_section_stays_through_convert_and_merge() {
    let paths = written("section", &PYTHON[..2], Compression::Zlib);
    let logs: Vec<Log> = paths.iter().map(|path| Log::open(path).expect("a log")).collect();
    let blocks = |log: &Log| -> Vec<(u16, Vec<u8>)> {
        let section = log.section();
        assert_eq!(section.damage(), []);
        section.blocks().iter().map(|b| (b.head.kind, b.bytes().expect("whole"))).collect()
    };
    let want = vec![(1, vec![7; 100_000]), (9, b"short".to_vec())];
    assert_eq!(blocks(&logs[0]), want);
    let out = Cursor::new(Vec::new());
    let (out, _) = convert(&logs[0], &convert::Options::default(), out).expect("memory");
    assert_eq!(blocks(&Log::from_bytes(out.into_inner()).expect("a log")), want);
    let hidden = convert::Options {
        anonymise: convert::Anonymise { exe: true, ..convert::Anonymise::default() },
        ..convert::Options::default()
    };
    let (out, done) = convert(&logs[0], &hidden, Cursor::new(Vec::new())).expect("memory");
    assert!(done.section_left_out);
    assert_eq!(blocks(&Log::from_bytes(out.into_inner()).expect("a log")), []);
    let (out, _) = merge(logs, merge::Options::default(), Cursor::new(Vec::new())).expect("memory");
    let merged = Log::from_bytes(out.into_inner()).expect("a log");
    assert_eq!(blocks(&merged), [want.clone(), want].concat());
}
