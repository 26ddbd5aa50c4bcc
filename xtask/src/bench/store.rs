//! The store: frames to committed rows, bytes an event, and questions, beside DuckDB over the same files, SQLite, and SOS where
//! `SOS_PREFIX=` names an installation of it.
//!
//! `crates/store/examples/measure.rs` generates a hundred jobs of 64 ranks and says numbers; `--events N` makes them fewer, `--dev` builds it
//! without optimisation, to see whether the benchmark works: its numbers are not kept then.

mod http;
mod sos;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::measured::{self, Row, Target};
use crate::install;
use crate::place::{cargo, output, run as start, target};

const EVENTS: u64 = 100_000_000;

/// Asks DuckDB the same questions over the same files, and SQLite for the cost of keeping a million of the rows.
const PEERS: &str = r#"
import json, os, sqlite3, sys, tempfile, time
import duckdb
place, start = sys.argv[1], int(sys.argv[2])
events = f"read_parquet('{place}/events/*/*.parquet', hive_partitioning = true)"
activity = f"read_parquet('{place}/activity/*/*.parquet', hive_partitioning = true)"
base = duckdb.connect()
base.execute(f"create view events as select * from {events}; create view activity as select * from {activity}")
begin = start + 50 * 2_000_000
def moment(micros): return f"make_timestamptz({micros})"
window = f"t >= {moment(begin)} and t < {moment(begin + 1_600_000)}"
questions = {
    "job_rank": "select * from events where job = 'slurm.1050.0' and rank = 17",
    "job_rank_window": f"select * from events where job = 'slurm.1050.0' and rank = 17 and {window}",
    "job_window": f"select * from events where job = 'slurm.1050.0' and {window}",
    "five_seconds_of_all": f"select op, count(*), sum(bytes) from events where t >= {moment(begin)} and t < {moment(begin + 5_000_000)} group by op",
    "panel": "select t, op, sum(calls), sum(bytes) from activity where job = 'slurm.1050.0' group by t, op order by t",
    "all_by_op": "select op, count(*), sum(bytes), max(duration) from events group by op",
    "all_by_rank": "select job, rank, count(*), sum(duration) from events group by job, rank",
    "job_to_arrow": 'select job, rank, t, t_ns, duration, op, function, file, "offset", length, bytes, sequence, node from events where job = \'slurm.1050.0\'',
}
for name, question in questions.items():
    times = []
    for _ in range(4):
        before = time.perf_counter()
        rows = base.execute(question).to_arrow_table().num_rows
        times.append((time.perf_counter() - before) * 1000)
    print(json.dumps({"name": f"{name}_ms", "value": min(times[1:])}))
    print(json.dumps({"name": f"{name}_rows", "value": rows}))
wanted = 'job, rank, epoch_us(t), t_ns, duration, op, function, file, "offset", length, bytes, sequence, node'
rows = base.execute(f"select {wanted} from events limit 1000000").fetchall()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "events.db")
    kept = sqlite3.connect(path)
    before = time.process_time()
    kept.execute("create table events (job, rank, t, t_ns, duration, op, function, file, o, length, bytes, sequence, node)")
    kept.executemany("insert into events values (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows)
    kept.execute("create index job_rank_time on events (job, rank, t)")
    kept.commit()
    took = time.process_time() - before
    kept.close()
    print(json.dumps({"name": "sqlite_us_per_event", "value": took * 1e6 / len(rows)}))
    print(json.dumps({"name": "sqlite_bytes_per_event", "value": os.path.getsize(path) / len(rows)}))
"#;

/// The first microsecond of the generated jobs.
const START: u64 = 1_794_807_600_000_000;

/// `cargo xtask bench store [--events N] [--dev]`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let (mut events, mut dev) = (EVENTS, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--dev" => dev = true,
            "--events" => {
                let number = words.next().context("--events needs a number")?;
                events = number.parse().with_context(|| format!("{number} is no number"))?;
            }
            other => bail!("{other}: usage: cargo xtask bench store [--events N] [--dev]"),
        }
    }
    let profile = if dev { "dev" } else { "release" };
    // Together with the program, so that the dependencies are those it has.
    start(&mut cargo(&[
        "build",
        "--profile",
        profile,
        "-p",
        "netra-store",
        "-p",
        "netra-cli",
        "--example",
        "measure",
        // The server of /api/sql.
        "--bin",
        "netra",
    ]))?;
    let built = target().join(if dev { "debug" } else { "release" }).join("examples/measure");
    let tenth = measure(&built, "store-tenth", events / 10)?.0;
    let (mut ours, place) = measure(&built, "store", events)?;
    let python = install::all().python.context("there is no Python here")?;
    let mut peer = Command::new(&python);
    peer.args(["-c", PEERS]).arg(&place).arg(START.to_string());
    let mut theirs = numbers(&output(&mut peer)?)?;
    if let Some(said) = sos::measure()? {
        theirs.extend(numbers(&said)?);
    }
    let netra = target().join(if dev { "debug" } else { "release" }).join("netra");
    ours.extend(numbers(&http::measure(&netra, &place, &python)?)?);
    let rows = rows(&ours, &theirs, &tenth)?;
    std::fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
    if dev || events != EVENTS {
        for (name, value) in &ours {
            println!("{name}: {value:.3}");
        }
        println!("not kept: {events} events, profile {profile}; {} rows would be", rows.len());
        return Ok(());
    }
    measured::keep("store", &rows)
}

/// What our program says, and where the store is.
fn measure(
    program: &Path,
    name: &str,
    events: u64,
) -> Result<(BTreeMap<String, f64>, std::path::PathBuf)> {
    let place = target().join(name);
    if place.exists() {
        std::fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
    }
    let said = output(Command::new(program).arg(&place).arg(events.to_string()))?;
    Ok((numbers(&said)?, place))
}

fn numbers(said: &[u8]) -> Result<BTreeMap<String, f64>> {
    let mut all = BTreeMap::new();
    for line in String::from_utf8_lossy(said).lines() {
        let told: Value =
            serde_json::from_str(line).with_context(|| format!("reading {line:?}"))?;
        let name = told["name"].as_str().context("a number without a name")?;
        all.insert(name.to_owned(), told["value"].as_f64().context("no number")?);
    }
    Ok(all)
}

/// The questions, in words, and what they must stay below, in milliseconds.
const QUESTIONS: &[(&str, &str, Target)] = &[
    ("job_rank", "one rank of one job", Target::Below(10.0)),
    ("job_rank_window", "a window of one rank of one job", Target::Below(10.0)),
    ("job_window", "a window of one job, 100,000 rows", Target::Below(100.0)),
    ("five_seconds_of_all", "five seconds of everybody, by operation", Target::Below(50.0)),
    ("panel", "a panel: a job's second by second, from roll-ups", Target::Below(20.0)),
    ("all_by_op", "everything by operation", Target::RatioAtLeast(1.0)),
    ("all_by_rank", "everything by job and rank", Target::RatioAtLeast(1.0)),
];

fn rows(
    ours: &BTreeMap<String, f64>,
    theirs: &BTreeMap<String, f64>,
    tenth: &BTreeMap<String, f64>,
) -> Result<Vec<Row>> {
    let command = "cargo xtask bench store".to_owned();
    let get = |of: &BTreeMap<String, f64>, name: &str| {
        of.get(name).copied().with_context(|| format!("nobody said {name}"))
    };
    let row = |name: String, unit, value, peer, target| Row {
        name,
        unit,
        command: command.clone(),
        value,
        peer,
        target,
    };
    let mut rows = vec![
        row(
            "frames to committed rows".to_owned(),
            "µs of one core an event",
            1e6 / get(ours, "ingest_per_core")?,
            Some(("SQLite, one index".to_owned(), get(theirs, "sqlite_us_per_event")?)),
            Target::Below(1.0 / 1.5),
        ),
        row(
            "all tables with their roll-ups".to_owned(),
            "bytes an event",
            get(ours, "bytes_per_event")?,
            Some(("SQLite, one index".to_owned(), get(theirs, "sqlite_bytes_per_event")?)),
            Target::Below(10.0),
        ),
        row(
            "peak of memory while it takes events and answers".to_owned(),
            "MiB",
            get(ours, "peak_mib")?,
            None,
            Target::Below(512.0),
        ),
    ];
    for (name, unit, ours_is, key) in [
        ("frames to committed rows", "µs of one core an event", 0, "sos_us_per_event"),
        ("all tables with their roll-ups", "bytes an event", 1, "sos_bytes_per_event"),
    ] {
        let peer = theirs.get(key).map(|&value| ("SOS, three joint indices".to_owned(), value));
        let value = rows[ours_is].value;
        rows.push(row(format!("{name}: SOS"), unit, value, peer, Target::Shown));
    }
    for (name, says, target) in QUESTIONS {
        let key = format!("{name}_ms");
        if get(ours, &format!("{name}_rows"))? != get(theirs, &format!("{name}_rows"))? {
            bail!("{name}: DuckDB gives another number of rows");
        }
        let peer = Some(("DuckDB, the same files".to_owned(), get(theirs, &key)?));
        rows.push(row((*says).to_owned(), "ms", get(ours, &key)?, peer, *target));
        let small = Some(("a tenth of the events".to_owned(), get(tenth, &key)?));
        rows.push(row(format!("{says}: growth"), "ms", get(ours, &key)?, small, Target::Shown));
        let (read, given) =
            (get(ours, &format!("{name}_read"))?, get(ours, &format!("{name}_rows"))?);
        let given = Some(("rows of the answer".to_owned(), given));
        rows.push(row(format!("{says}: read"), "rows", read, given, Target::Shown));
    }
    let (key, count) = ("job_to_arrow_ms", get(ours, "job_to_arrow_rows")?);
    rows.push(row(
        "a whole job into Arrow".to_owned(),
        "µs a row",
        get(ours, key)? * 1000.0 / count,
        Some(("DuckDB, the same files".to_owned(), get(theirs, key)? * 1000.0 / count)),
        Target::Below(0.2),
    ));
    rows.push(row(
        "one rank of one job, a row".to_owned(),
        "µs a row",
        get(ours, "job_rank_ms")? * 1000.0 / get(ours, "job_rank_rows")?,
        theirs.get("sos_rank_us_per_row").map(|&value| ("SOS, its index".to_owned(), value)),
        Target::Shown,
    ));
    for (name, key, limit) in [
        ("a whole job over HTTP into Arrow", "http_arrow", 0.2),
        ("a whole job over HTTP into pandas", "http_pandas", 1.0),
    ] {
        let value = get(ours, key)?;
        rows.push(row(name.to_owned(), "µs a row", value, None, Target::Below(limit)));
    }
    Ok(rows)
}
