//! Everything of one stored job, as a page that follows a running one is told it.

use std::collections::BTreeMap;

use netra_analyse::is_of_mpi;
use netra_store::ask::{Error, Session};
use serde_json::{Value, json};

use super::Stored;
use super::list::{jobs, lines};
use super::report::diagnosed;
use super::row::{quoted, rows};
use super::series::{Durations, Span, durations, hosts, steps, way};
use crate::live::{Cell, Host, LAYERS, Series, Standing, Step, Way, related};
use crate::serve::update::{FILES, RANKS, cells_of, host_metrics, relation, standing};

/// Calls of a job whose single durations are still looked at.
const LARGE: u64 = 5_000_000;

/// All of a job; nothing where there is none that the session sees.
pub(in crate::serve) async fn of(
    stored: Stored,
    session: Session,
    key: String,
    now: f64,
) -> Result<Option<Value>, String> {
    let found = job(&stored, &session, &key, now).await;
    found.map_err(|error| error.to_string())
}

async fn job(
    stored: &Stored,
    session: &Session,
    key: &str,
    now: f64,
) -> Result<Option<Value>, Error> {
    let found = jobs(session, &[format!("job = {}", quoted(key))], 1).await?;
    let mut told = lines(stored, session, &found).await?;
    let Some(mut value) = told.pop() else { return Ok(None) };
    let number = |name: &str| value[name].as_f64().unwrap_or(0.0);
    let (start, end) = (number("start"), value["end"].as_f64().unwrap_or(now));
    let span = Span { from: start.max(0.0) as u64, to: end.max(0.0).ceil() as u64 };
    let series = steps(session, key, span).await?;
    let calls = series.iter().flat_map(|(_, step)| step.cells.used()).map(|used| used.2.calls);
    let durations = match calls.sum::<u64>() {
        0 => Durations::new(),
        calls if calls > LARGE => Durations::new(),
        _ => durations(session, key, span).await?,
    };
    let nodes: Vec<String> = texts(&value["hosts"]);
    let hosts = hosts(session, &nodes, span).await?;
    let ranks = ranks(session, key).await?;
    let (files, file_count) = files(session, key).await?;
    let standings = match diagnosed(stored, session, key).await {
        Ok(Some(looked)) => {
            let since = (end.max(0.0) * 1e9) as u64;
            Ok(looked.1.findings.iter().map(|one| Standing::new(one, since)).collect())
        }
        Ok(None) => Ok(Vec::new()),
        Err(says) => Err(says),
    };
    for (name, part) in [
        ("now", json!(now)),
        ("since", json!(0)),
        ("newest", json!(end)),
        ("layers", json!(LAYERS.map(|layer| layer.name()))),
        ("ways", json!(Way::ALL.map(Way::name))),
        ("width", json!(span.width())),
        ("steps", told_steps(&series, &durations)),
        ("latency", json!([])),
        ("ranks_list", ranks),
        ("files", files),
        ("file_count", json!(file_count)),
        ("metrics", metrics(&hosts, span)),
        ("diagnosis", diagnosis(&standings, &series, &hosts, end)),
    ] {
        value[name] = part;
    }
    Ok(Some(value))
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

fn told_steps(series: &Series<Step>, durations: &Durations) -> Value {
    let steps = series.iter().map(|(at, step)| {
        let latency = [Way::Read, Way::Write].map(|way| durations.get(&(at, way as usize)));
        json!({ "at": at, "cells": cells_of(step), "latency": latency })
    });
    steps.collect()
}

/// Ranks with their time in calls, those with most.
async fn ranks(session: &Session, key: &str) -> Result<Value, Error> {
    let sql = format!(
        "SELECT rank, node, op, sum(calls) AS calls, sum(bytes) AS bytes, sum(time) AS time, \
         max(slowest) AS slowest FROM activity WHERE job = {} AND layer IN ('POSIX', 'STDIO') \
         GROUP BY rank, node, op",
        quoted(key)
    );
    let mut all: BTreeMap<(i64, String), ([Cell; 4], u64)> = BTreeMap::new();
    for row in rows(session, &sql).await? {
        let Some(way) = way(&row) else { continue };
        let rank = (row.whole("rank").unwrap_or(-1), row.text("node"));
        let (cells, longest) = all.entry(rank).or_default();
        let (calls, bytes, nanos) = (row.count("calls"), row.count("bytes"), row.count("time"));
        cells[way as usize].fold(&Cell { calls, bytes, nanos });
        *longest = (*longest).max(row.count("slowest"));
    }
    let mut all: Vec<_> = all.into_iter().collect();
    if all.len() > RANKS {
        let nanos = |cells: &[Cell; 4]| cells.iter().map(|cell| cell.nanos).sum::<u64>();
        all.sort_by_key(|(_, (cells, _))| std::cmp::Reverse(nanos(cells)));
        all.truncate(RANKS);
    }
    let told = all.iter().map(|((rank, host), (cells, longest))| {
        json!({
            "rank": (*rank >= 0).then_some(rank), "pid": 0, "host": host,
            "calls": cells.iter().map(|cell| cell.calls).sum::<u64>(),
            "bytes_read": cells[0].bytes, "bytes_written": cells[1].bytes,
            "nanos": cells.map(|cell| cell.nanos), "longest": longest, "over": true,
        })
    });
    Ok(told.collect())
}

/// Files with most time in calls, and how many there are in all.
async fn files(session: &Session, key: &str) -> Result<(Value, u64), Error> {
    let mut lowest = format!(
        "FROM functions WHERE job = {} AND layer IN ('POSIX', 'STDIO') AND file IS NOT NULL",
        quoted(key)
    );
    // Files that MPI makes for itself are nobody's business.
    let sql = format!(
        "SELECT DISTINCT file {lowest} AND (file LIKE '/dev/shm/%' OR file LIKE '/tmp/%' \
         OR file LIKE '/var/tmp/%' OR file LIKE '%.sm')"
    );
    let own = rows(session, &sql).await?.into_iter().map(|row| row.text("file"));
    let own: Vec<String> = own.filter(|file| is_of_mpi(file)).map(|file| quoted(&file)).collect();
    if !own.is_empty() {
        lowest = format!("{lowest} AND file NOT IN ({})", own.join(", "));
    }
    let count = rows(session, &format!("SELECT count(DISTINCT file) AS files {lowest}")).await?;
    let count = count.first().map_or(0, |row| row.count("files"));
    let sql = format!(
        "SELECT file, op, sum(calls) AS calls, sum(bytes) AS bytes, sum(time) AS time, \
         count(DISTINCT rank) AS ranks {lowest} AND file IN (SELECT file {lowest} GROUP BY file \
         ORDER BY sum(time) DESC, file LIMIT {FILES}) GROUP BY file, op"
    );
    let mut all: BTreeMap<String, ([Cell; 4], u64)> = BTreeMap::new();
    for row in rows(session, &sql).await? {
        let Some(way) = way(&row) else { continue };
        let (cells, ranks) = all.entry(row.text("file")).or_default();
        let (calls, bytes, nanos) = (row.count("calls"), row.count("bytes"), row.count("time"));
        cells[way as usize].fold(&Cell { calls, bytes, nanos });
        *ranks = (*ranks).max(row.count("ranks"));
    }
    let nanos = |cells: &[Cell; 4]| cells.iter().map(|cell| cell.nanos).sum::<u64>();
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, (cells, _))| std::cmp::Reverse(nanos(cells)));
    let told = all.iter().map(|(path, (cells, ranks))| {
        json!({
            "path": path, "processes": ranks, "reads": cells[0].calls, "writes": cells[1].calls,
            "bytes_read": cells[0].bytes, "bytes_written": cells[1].bytes,
            "nanos": cells.map(|cell| cell.nanos),
        })
    });
    Ok((told.collect(), count))
}

fn metrics(hosts: &BTreeMap<String, Host>, span: Span) -> Value {
    hosts.iter().flat_map(|(name, host)| host_metrics(name, host, span.from, 0)).collect()
}

fn diagnosis(
    standings: &Result<Vec<Standing>, String>,
    series: &Series<Step>,
    hosts: &BTreeMap<String, Host>,
    at: f64,
) -> Value {
    let found = standings.as_deref().unwrap_or_default();
    let named = hosts.iter().map(|(name, host)| (name.as_str(), host)).collect::<Vec<_>>();
    json!({
        "number": 1, "at": at, "took": 0.0,
        "failed": standings.as_ref().err(),
        "standings": found.iter().map(standing).collect::<Vec<_>>(),
        "related": related(series, &named).iter().map(relation).collect::<Vec<_>>(),
    })
}
