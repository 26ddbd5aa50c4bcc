//! Diagnosing logs: processor time beside Drishti and PyDarshan on the same logs, and traces of ten and of
//! a hundred million calls.
//!
//! What each is asked is what its users ask: facts and findings as JSON from us, the issues as CSV from
//! Drishti, the summary as HTML from PyDarshan.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::contest::{Contestant, contest, measure};
use super::measured::{self, Row, Target};
use crate::install;
use crate::place::{cargo, root, run as start, target};

const ROUNDS: usize = 7;
/// Calls of a trace, and the seconds and MiB that its report may take.
const TRACES: [(&str, f64, f64); 2] = [("10000000", 8.0, 1024.0), ("100000000", 60.0, 2048.0)];
/// Drishti's processor time over ours.
const TIMES: f64 = 50.0;

/// `cargo xtask bench report`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    super::light_program("release")?;
    start(&mut cargo(&["build", "--release", "--package", "netra-darshan", "--examples"]))?;
    let netra = target().join("release/netra");
    let python = install::all().python.context("the Python environment is missing")?;
    let folder = target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut rows = Vec::new();
    for log in logs(&python)? {
        rows.extend(beside(&netra, &python, &folder, &log)?);
    }
    for limits in TRACES {
        rows.extend(trace(&netra, &folder, limits)?);
    }
    measured::keep("report", &rows)
}

/// The largest real log with a trace, and the largest without.
fn logs(python: &Path) -> Result<Vec<PathBuf>> {
    let ask = "import darshan, os; print(os.path.dirname(darshan.__file__))";
    let said = Command::new(python).args(["-c", ask]).output().context("asking Python")?;
    let examples = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    let shared = root().join("../shared/logs/openpmd");
    let traced = fs::read_dir(&shared).ok().into_iter().flatten().filter_map(Result::ok);
    let traced = traced
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "darshan"));
    if traced.is_none() {
        println!("skipped, not on this machine: {}", shared.display());
    }
    let plain = examples.join("examples/example_logs/sample-badost.darshan");
    Ok(traced.into_iter().chain(plain.exists().then_some(plain)).collect())
}

/// One log, all three.
fn beside(netra: &Path, python: &Path, folder: &Path, log: &Path) -> Result<Vec<Row>> {
    let name = log.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    println!("{name}");
    let (ours, theirs, html) =
        (netra.to_owned(), python.with_file_name("drishti"), python.to_owned());
    let made = folder.join("pydarshan.html");
    let (one, two, three) = (log.to_owned(), log.to_owned(), log.to_owned());
    let mut contestants = vec![Contestant::new("netra report --json", move || {
        let mut command = Command::new(&ours);
        command.args(["report", "--json"]).arg(&one);
        command
    })];
    contestants.push(Contestant::new("python -m darshan summary", move || {
        let mut command = Command::new(&html);
        command.args(["-m", "darshan", "summary"]).arg(&three).arg("--output").arg(&made);
        command
    }));
    if theirs.exists() {
        let place = folder.to_owned();
        contestants.push(Contestant::new("drishti --csv", move || {
            let mut command = Command::new(&theirs);
            command.args(["--csv", "--export_dir"]).arg(&place).arg(&two);
            command
        }));
    }
    contest(ROUNDS, &mut contestants)?;
    let own = contestants[0].median()?;
    let mut rows = Vec::new();
    for (at, least) in [(2, TIMES), (1, 1.0)] {
        let peer = contestants
            .get(at)
            .map(|peer| Ok::<_, anyhow::Error>((peer.name.clone(), peer.median()?.cpu_seconds)))
            .transpose()?;
        rows.push(Row {
            name: format!("facts and findings of {name}, processor time"),
            unit: "s",
            command: "netra report --json".into(),
            value: own.cpu_seconds,
            peer,
            target: Target::RatioAtLeast(least),
        });
    }
    Ok(rows)
}

/// A trace of so many calls.
fn trace(
    netra: &Path,
    folder: &Path,
    (calls, seconds, memory): (&str, f64, f64),
) -> Result<Vec<Row>> {
    let path = folder.join(format!("segments-{calls}.darshan"));
    if !path.exists() {
        let make = target().join("release/examples/make_log");
        let half = folder.join("unfinished.darshan");
        start(Command::new(make).args(["segments", calls]).arg(&half))?;
        fs::rename(&half, &path).with_context(|| format!("naming {}", path.display()))?;
    }
    let used = measure(Command::new(netra).args(["report", "--json"]).arg(&path), &[0])?;
    if used.cpu_seconds <= 0.0 {
        bail!("the kernel counted no processor time");
    }
    let row = |name: &str, unit, value, limit| Row {
        name: format!("report on a trace of {calls} calls, {name}"),
        unit,
        command: "netra report --json".into(),
        value,
        peer: None,
        target: Target::Below(limit),
    };
    Ok(vec![
        row("wall time", "s", used.wall_seconds, seconds),
        row("memory", "MiB", (used.peak_bytes >> 20) as f64, memory),
    ])
}
