//! The Python package beside PyDarshan: segments into a data frame, import, memory.
//!
//! Times are taken inside the interpreter, around the reading alone, in a fresh process each: what a
//! person waits for in a notebook.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::measured::{self, Row, Target};
use super::parse;
use crate::place::{output, run as start, target};
use crate::{install, python};

const ROUNDS: usize = 5;
/// Segments for which PyDarshan's time is known.
const PUBLISHED: &str = "277000";
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
const PYDARSHAN: &str = "
import resource, sys, time
import darshan, pandas
start = time.perf_counter()
report = darshan.DarshanReport(sys.argv[1], read_all=False)
report.mod_read_all_dxt_records('DXT_POSIX', dtype='pandas')
took = time.perf_counter() - start
rows = sum(len(one['read_segments']) + len(one['write_segments']) for one in report.records['DXT_POSIX'])
print(took, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
/// Reads calls of a store into a data frame.
const STORE: &str = "
import sys, time
import netra, pandas, pyarrow
store = netra.store(sys.argv[1])
start = time.perf_counter()
frame = store.sql('SELECT rank, t, duration, \"offset\", bytes FROM events').to_pandas()
print(time.perf_counter() - start, len(frame), 0)
";
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

/// `cargo xtask bench python [--program NETRA]`: with an optimised program that has the store, rows from one are
/// measured too.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let program = match words {
        [] => None,
        [name, program] if name == "--program" => Some(program),
        _ => bail!("usage: cargo xtask bench python [--program NETRA]"),
    };
    let programs = parse::build()?;
    let many = parse::segments(&programs)?;
    // The size of the published comparison, and the largest trace that somebody else wrote.
    let published = parse::made(&programs, "segments", PUBLISHED)?;
    let traced = parse::largest_trace(&programs)?;
    let python = install::all().python.context("there is no Python here")?;
    python::install(&python, "release")?;

    let mut rows = beside(&python, &published)?;
    rows.extend(beside(&python, &traced)?);
    let large = say(&python, NETRA, &many)?;
    let name = format!("{} segments into a data frame", large.rows);
    rows.push(row(name, SECONDS, large.seconds, None, Target::Below(3.0)));
    let memory = large.peak_mib;
    rows.push(row("memory of the same".into(), "MiB", memory, None, Target::Below(1024.0)));
    let imports = (0..ROUNDS).map(|_| say(&python, IMPORT, &traced)).collect::<Result<_>>()?;
    rows.push(Row {
        command: "import netra".into(),
        ..row("import".into(), SECONDS, median(imports)?.seconds, None, Target::Below(0.05))
    });
    if let Some(program) = program {
        let said = from_store(&python, program, &many)?;
        rows.push(Row {
            name: format!("a row from a store into a data frame, of {}", said.rows),
            unit: "ns",
            command: "netra.store(DIR).sql('SELECT rank, t, duration, \"offset\", bytes FROM events').to_pandas()".into(),
            value: said.seconds * 1e9 / said.rows,
            peer: Some(("SOS, as published".to_owned(), 25_000.0)),
            // Five million a second.
            target: Target::Below(200.0),
        });
    }
    if program.is_none() {
        println!(
            "rows from a store were not measured: --program names no optimised netra with one"
        );
    }
    measured::keep("python", &rows)
}

/// A log beside PyDarshan, in turns.
fn beside(python: &Path, log: &Path) -> Result<Vec<Row>> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(say(python, NETRA, log)?);
        theirs.push(say(python, PYDARSHAN, log)?);
    }
    let (ours, theirs) = (median(ours)?, median(theirs)?);
    if ours.rows.to_bits() != theirs.rows.to_bits() {
        bail!("{} segments here, {} there", ours.rows, theirs.rows);
    }
    let name = format!("{} segments into a data frame", ours.rows);
    let peer = Some(("PyDarshan, dtype='pandas'".to_owned(), theirs.seconds));
    Ok(vec![
        row(name.clone(), SECONDS, ours.seconds, peer, Target::RatioAtLeast(20.0)),
        row(name, SECONDS, ours.seconds, None, Target::Below(0.1)),
    ])
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

/// The same segments, kept in a store.
fn from_store(python: &Path, program: &str, log: &Path) -> Result<Said> {
    let store = target().join("bench/python-store");
    if !store.exists() {
        start(Command::new(program).args(["import", "--store"]).arg(&store).arg(log))?;
    }
    let mut ask = Command::new(python);
    ask.args(["-c", STORE]).arg(&store).env("NETRA_PROGRAM", program);
    read(&output(&mut ask)?)
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

fn median(mut runs: Vec<Said>) -> Result<Said> {
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle).context("nothing was run")
}
