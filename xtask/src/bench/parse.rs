//! Reading logs: processor time beside the C tools and PyDarshan, and memory on a large log.
//!
//! The inputs are the largest log at hand and two that our own writer makes: one with ten million
//! segments, one of a gibibyte. What PyDarshan does in the same job is load every segment into
//! data frames; ours is the example `columns` of `crates/darshan`, which loads them into columns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::contest::{Contestant, Usage, contest};
use super::measured::{self, Row, Target};
use crate::install;
use crate::place::{cargo, on_path, root, run as start, target};

const ROUNDS: usize = 5;
/// The tools that take minutes get fewer turns.
const LONG_ROUNDS: usize = 3;
const SEGMENTS: &str = "10000000";
const GIBIBYTE: &str = "1073741824";
/// Streaming commands stay below this, whatever the log's size.
const MEMORY_MIB: f64 = 100.0;

/// What PyDarshan is asked: every segment of both modules, in data frames.
const PYDARSHAN: &str = "
import sys, darshan
report = darshan.DarshanReport(sys.argv[1], read_all=False)
for module in ('DXT_POSIX', 'DXT_MPIIO'):
    if module in report.modules:
        report.mod_read_all_dxt_records(module, dtype='pandas')
";

/// Our programs, built as they are shipped.
pub(super) struct Programs {
    netra: PathBuf,
    columns: PathBuf,
    make: PathBuf,
}

/// `cargo xtask bench parse`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let programs = build()?;
    let segments = segments(&programs)?;
    let large = made(&programs, "gibibyte", GIBIBYTE)?;
    let largest = largest(|log| fs::metadata(log).map_or(0, |data| data.len()))?;
    let traced = largest_trace(&programs)?;

    let mut rows = vec![
        beside_c(&programs, "parse", "darshan-parser", &largest, ROUNDS)?,
        beside_c(&programs, "dxt", "darshan-dxt-parser", &largest, ROUNDS)?,
        beside_c(&programs, "dxt", "darshan-dxt-parser", &traced, ROUNDS)?,
        beside_c(&programs, "dxt", "darshan-dxt-parser", &segments, LONG_ROUNDS)?,
        beside_python(&programs, &segments)?,
    ];
    for command in ["parse", "dxt", "info"] {
        rows.push(memory(&programs, command, &large)?);
    }
    measured::keep("parse", &rows)
}

pub(super) fn build() -> Result<Programs> {
    super::light_program("release")?;
    start(&mut cargo(&["build", "--release", "--package", "netra-darshan", "--examples"]))?;
    let release = target().join("release");
    Ok(Programs {
        netra: release.join("netra"),
        columns: release.join("examples/columns"),
        make: release.join("examples/make_log"),
    })
}

/// A log with ten million segments.
pub(super) fn segments(programs: &Programs) -> Result<PathBuf> {
    made(programs, "segments", SEGMENTS)
}

/// A log made once and kept in the target directory.
pub(super) fn made(programs: &Programs, kind: &str, size: &str) -> Result<PathBuf> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(format!("{kind}-{size}.darshan"));
    if !path.exists() {
        println!("making {}", path.display());
        let half = folder.join("unfinished.darshan");
        start(Command::new(&programs.make).args([kind, size]).arg(&half))?;
        fs::rename(&half, &path).with_context(|| format!("naming {}", path.display()))?;
    }
    Ok(path)
}

/// The log with the largest trace; a log without one says nothing about `dxt`.
pub(super) fn largest_trace(programs: &Programs) -> Result<PathBuf> {
    largest(|log| {
        // Its exit code is 1 for a log that is incomplete, which is no obstacle here.
        let info =
            Command::new(&programs.netra).args(["info", "--format", "json"]).arg(log).output();
        let info = info.map(|done| done.stdout).unwrap_or_default();
        let info: Value = serde_json::from_slice(&info).unwrap_or_default();
        let modules = info["modules"].as_array().into_iter().flatten();
        let traces = modules
            .filter(|module| module["name"].as_str().is_some_and(|name| name.starts_with("DXT_")));
        traces.filter_map(|module| module["stored_bytes"].as_u64()).sum()
    })
}

/// The largest log by some measure: of those beside the repository, or else of PyDarshan's examples.
fn largest(size: impl Fn(&Path) -> u64) -> Result<PathBuf> {
    let mut logs = Vec::new();
    for folder in [root().join("../shared/logs"), target().join("test-python/lib")] {
        find_logs(&folder, &mut logs);
        if !logs.is_empty() {
            break;
        }
    }
    let largest = logs.into_iter().max_by_key(|log| size(log));
    largest.context("no log to read; `cargo xtask install` brings some")
}

fn find_logs(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_logs(&path, logs);
        } else if path.extension().is_some_and(|end| end == "darshan") {
            logs.push(path);
        }
    }
}

/// One of our commands and the C tool for the same job, in turns.
fn beside_c(
    programs: &Programs,
    word: &'static str,
    tool: &'static str,
    log: &Path,
    rounds: usize,
) -> Result<Row> {
    let name = named(log);
    println!("netra {word} {name}");
    let (netra, ours) = (programs.netra.clone(), log.to_owned());
    let mut contestants = vec![
        Contestant::new(format!("netra {word}"), move || {
            let mut command = Command::new(&netra);
            command.arg(word).arg(&ours).stderr(Stdio::null());
            command
        })
        // The largest logs at hand are incomplete, which netra says.
        .ending_with(&[0, 1]),
    ];
    if on_path(tool) {
        let theirs = log.to_owned();
        contestants.push(Contestant::new(tool, move || {
            let mut command = Command::new(tool);
            // Without it the tool stops at the first incomplete module.
            command.arg("--show-incomplete").arg(&theirs);
            command
        }));
    }
    row(format!("netra {word} on {name}"), 5.0, rounds, contestants)
}

/// Every segment into columns, beside PyDarshan's data frames.
fn beside_python(programs: &Programs, log: &Path) -> Result<Row> {
    println!("all segments of {} into columns", named(log));
    let (columns, ours, theirs) = (programs.columns.clone(), log.to_owned(), log.to_owned());
    let mut contestants = vec![Contestant::new("example columns", move || {
        let mut command = Command::new(&columns);
        command.arg(&ours);
        command
    })];
    if let Some(python) = install::all().python {
        contestants.push(Contestant::new("PyDarshan data frames", move || {
            let mut command = Command::new(&python);
            command.args(["-c", PYDARSHAN]).arg(&theirs);
            command
        }));
    }
    row(format!("all segments of {} into columns", named(log)), 20.0, LONG_ROUNDS, contestants)
}

/// Runs the contest; the first contestant is ours, the second the peer.
fn row(
    name: String,
    at_least: f64,
    rounds: usize,
    mut contestants: Vec<Contestant>,
) -> Result<Row> {
    contest(rounds, &mut contestants)?;
    let mut medians = Vec::new();
    for contestant in &contestants {
        medians.push((contestant.name.clone(), contestant.median()?.cpu_seconds));
    }
    let mut medians = medians.into_iter();
    let (command, value) = medians.next().context("a contest without contestants")?;
    Ok(Row {
        name,
        unit: "s of processor time",
        command,
        value,
        peer: medians.next(),
        target: Target::RatioAtLeast(at_least),
    })
}

/// The largest resident set of one command on a large log.
fn memory(programs: &Programs, word: &'static str, log: &Path) -> Result<Row> {
    println!("memory of netra {word} {}", named(log));
    let (netra, path) = (programs.netra.clone(), log.to_owned());
    let mut contestants = [Contestant::new(format!("netra {word}"), move || {
        let mut command = Command::new(&netra);
        command.arg(word).arg(&path);
        command
    })];
    contest(1, &mut contestants)?;
    let Usage { peak_bytes, .. } = contestants[0].median()?;
    Ok(Row {
        name: format!("memory of netra {word} on {}", named(log)),
        unit: "MiB at the peak",
        command: contestants[0].name.clone(),
        value: peak_bytes as f64 / f64::from(1 << 20),
        peer: None,
        target: Target::Below(MEMORY_MIB),
    })
}

/// A log's name and size, for people; where it lies is of no interest to them.
fn named(log: &Path) -> String {
    let bytes = fs::metadata(log).map_or(0, |data| data.len());
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    format!("{name} ({:.1} MB)", bytes as f64 / 1e6)
}
