//! The Python package beside PyDarshan and what is published of SOS: segments and the rows of a store into a data frame, memory,
//! import.
//!
//! Times are taken inside the interpreter, around the reading alone, in a fresh process each: what a
//! person waits for in a notebook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::measured::{self, Row, Target};
use super::parse;
use crate::place::{cargo, output, run as start, target};
use crate::{install, python};

const ROUNDS: usize = 5;
/// Segments for which PyDarshan's time is known.
const PUBLISHED: &str = "277000";
/// Events of the store that is asked.
const EVENTS: &str = "10000000";
/// What a query of DSOS took for a row, as published: forty thousand a second.
const SOS_NANOS: f64 = 25_000.0;
const SECONDS: &str = "s of wall time";

/// Reads a trace into a data frame; prints how long it took, the rows, and the peak of memory in KiB.
const NETRA: &str = "
import resource, sys, time
import netra, pandas, pyarrow
start = time.perf_counter()
frame = netra.open(sys.argv[1]).dxt('POSIX').to_pandas()
took = time.perf_counter() - start
print(took, len(frame), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
/// The same with PyDarshan, as its documentation shows it: records, and from them a frame for each record and way.
const PYDARSHAN: &str = "
import resource, sys, time
import darshan, pandas
start = time.perf_counter()
report = darshan.DarshanReport(sys.argv[1], read_all=False)
report.mod_read_all_dxt_records('DXT_POSIX')
frames = report.records['DXT_POSIX'].to_df()
took = time.perf_counter() - start
rows = sum(len(one[way + '_segments']) for one in frames for way in ('read', 'write'))
print(took, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
/// Its quickest way, for those who know of it; what comes out becomes one frame that says whose each segment is.
const PYDARSHAN_QUICK: &str = "
import resource, sys, time
import darshan, pandas
start = time.perf_counter()
report = darshan.DarshanReport(sys.argv[1], read_all=False)
report.mod_read_all_dxt_records('DXT_POSIX', dtype='pandas')
frames = [
    one[way + '_segments'].assign(id=one['id'], rank=one['rank'], hostname=one['hostname'], op=way)
    for one in report.records['DXT_POSIX'] for way in ('read', 'write')
]
frame = pandas.concat(frames, ignore_index=True)
took = time.perf_counter() - start
print(took, len(frame), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
/// Both ways, with their names in the table.
const PEERS: [(&str, &str); 2] =
    [("PyDarshan, to_df()", PYDARSHAN), ("PyDarshan, dtype='pandas', one frame", PYDARSHAN_QUICK)];
/// Reads calls of a store into a data frame; the second argument is what is asked.
const STORE: &str = "
import resource, sys, time
import netra, pandas, pyarrow
store = netra.store(sys.argv[1])
start = time.perf_counter()
frame = store.sql(sys.argv[2]).to_pandas()
took = time.perf_counter() - start
print(took, len(frame), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
/// What calls are about in numbers; and whole calls, with texts, of one job of a hundred.
const QUESTIONS: [(&str, &str, Target); 2] = [
    (
        "a row of a store into a data frame",
        "SELECT rank, t, duration, \"offset\", bytes FROM events",
        // Five million a second.
        Target::Below(200.0),
    ),
    (
        "a row with all its columns, of one job",
        "SELECT * FROM events WHERE job = job('1050')",
        Target::Shown,
    ),
];
const IMPORT: &str = "
import time
start = time.perf_counter()
import netra
print(time.perf_counter() - start, 0, 0)
";

/// What one run printed.
struct Said {
    seconds: f64,
    rows: f64,
    peak_mib: f64,
}

/// `cargo xtask bench python`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if !words.is_empty() {
        bail!("usage: cargo xtask bench python");
    }
    let programs = parse::build()?;
    let many = parse::segments(&programs)?;
    // The size of the published comparison, and the largest trace that somebody else wrote.
    let published = parse::made(&programs, "segments", PUBLISHED)?;
    let traced = parse::largest_trace(&programs)?;
    let python = install::all().python.context("there is no Python here")?;
    python::install(&python, "release")?;

    let mut rows = beside(&python, &published)?;
    rows.extend(beside(&python, &traced)?);
    let large = median(|| say(&python, NETRA, &many))?;
    let name = format!("{} segments into a data frame", large.rows);
    rows.push(row(name, SECONDS, large.seconds, None, Target::Below(3.0)));
    let memory = large.peak_mib;
    rows.push(row("memory of the same".into(), "MiB", memory, None, Target::Below(1024.0)));
    let import = median(|| say(&python, IMPORT, &traced))?;
    rows.push(Row {
        command: "import netra".into(),
        ..row("import".into(), SECONDS, import.seconds, None, Target::Below(0.05))
    });
    rows.extend(from_store(&python)?);
    measured::keep("python", &rows)
}

/// A log beside PyDarshan, in turns.
fn beside(python: &Path, log: &Path) -> Result<Vec<Row>> {
    let mut ours = Vec::new();
    let mut theirs = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        ours.push(say(python, NETRA, log)?);
        for (said, (_, code)) in theirs.iter_mut().zip(PEERS) {
            said.push(say(python, code, log)?);
        }
    }
    let ours = middle(ours)?;
    let name = format!("{} segments into a data frame", ours.rows);
    let mut rows = Vec::new();
    for (said, (peer, _)) in theirs.into_iter().zip(PEERS) {
        let theirs = middle(said)?;
        if ours.rows.to_bits() != theirs.rows.to_bits() {
            bail!("{} segments here, {} with {peer}", ours.rows, theirs.rows);
        }
        let peer = Some((peer.to_owned(), theirs.seconds));
        rows.push(row(name.clone(), SECONDS, ours.seconds, peer, Target::RatioAtLeast(20.0)));
    }
    rows.push(row(name, SECONDS, ours.seconds, None, Target::Below(0.1)));
    Ok(rows)
}

fn row(
    name: String,
    unit: &'static str,
    value: f64,
    peer: Option<(String, f64)>,
    target: Target,
) -> Row {
    let command = "netra.open(LOG).dxt('POSIX').to_pandas()".into();
    Row { name, unit, command, value, peer, target }
}

/// Rows of a store, which the program reads.
fn from_store(python: &Path) -> Result<Vec<Row>> {
    let (program, store) = store()?;
    let mut rows = Vec::new();
    for (name, question, target) in QUESTIONS {
        let said = median(|| {
            let mut ask = Command::new(python);
            ask.args(["-c", STORE]).arg(&store).arg(question).env("NETRA_PROGRAM", &program);
            read(&output(&mut ask)?)
        })?;
        rows.push(Row {
            name: format!("{name}, of {}", said.rows),
            unit: "ns",
            command: format!("netra.store(DIR).sql({question:?}).to_pandas()"),
            value: said.seconds * 1e9 / said.rows,
            peer: Some(("SOS, as published".to_owned(), SOS_NANOS)),
            target,
        });
    }
    Ok(rows)
}

/// The program with the store, and a store that was made once and kept in the target directory.
fn store() -> Result<(PathBuf, PathBuf)> {
    // Together, so that the example has the dependencies that the program has.
    let packages = ["--package", "netra-store", "--package", "netra-cli"];
    let both = ["--example", "measure", "--bin", "netra"];
    start(cargo(&["build", "--release"]).args(packages).args(both))?;
    let release = target().join("release");
    let store = target().join("bench").join(format!("store-{EVENTS}"));
    if !store.exists() {
        println!("making {}", store.display());
        let half = target().join("bench/unfinished-store");
        if half.exists() {
            fs::remove_dir_all(&half).with_context(|| format!("removing {}", half.display()))?;
        }
        output(Command::new(release.join("examples/measure")).arg(&half).arg(EVENTS))?;
        fs::rename(&half, &store).with_context(|| format!("naming {}", store.display()))?;
    }
    Ok((release.join("netra"), store))
}

fn say(python: &Path, code: &str, log: &Path) -> Result<Said> {
    read(&output(Command::new(python).args(["-c", code]).arg(log))?)
}

fn read(bytes: &[u8]) -> Result<Said> {
    let text = String::from_utf8_lossy(bytes);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [seconds, rows, peak] => Ok(Said { seconds, rows, peak_mib: peak / 1024.0 }),
        _ => bail!("expected three numbers, got {text:?}"),
    }
}

/// Several runs, of which the middle one counts.
fn median(mut run: impl FnMut() -> Result<Said>) -> Result<Said> {
    middle((0..ROUNDS).map(|_| run()).collect::<Result<_>>()?)
}

fn middle(mut runs: Vec<Said>) -> Result<Said> {
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle).context("nothing was run")
}
