//! Lines of the list for stored jobs: the same members as those of running ones.

use std::collections::{BTreeMap, BTreeSet};

use netra_store::ask::{Error, Session};
use serde_json::{Value, json};

use super::Stored;
use super::row::{Row, quoted, rows};
use super::total::{Total, totals};
use super::trust::{Account, accounts, told};
use crate::serve::job::Asked;

/// Jobs that are told at a time, unless fewer are asked for.
const MOST: usize = 200;
/// Hosts of one job that are named.
const HOSTS: usize = 64;

/// Stored jobs for the list.
#[derive(Debug, Default)]
pub(in crate::serve) struct Listed {
    /// Their lines, newest first.
    pub(in crate::serve) lines: Vec<Value>,
    /// Of the jobs that the server was unsure of, those that the store has from beginning to end; whether they were asked for or not.
    pub(in crate::serve) better: BTreeSet<String>,
}

/// The stored jobs that a session sees and that were asked for, and what the store knows of those that the server is unsure of.
pub(in crate::serve) async fn list(
    stored: Stored,
    session: Session,
    asked: Asked,
    unsure: Vec<String>,
) -> Result<Listed, Error> {
    let most = asked.get("limit").and_then(|text| text.parse().ok()).unwrap_or(MOST).min(MOST);
    let found = jobs(&session, &conditions(&asked), most).await?;
    let lines = lines(&stored, &session, &found).await?;
    let mut better = BTreeSet::new();
    if !unsure.is_empty() {
        let ended = [named(unsure.iter()), "ended IS NOT NULL".to_owned()];
        let ended = jobs(&session, &ended, unsure.len()).await?;
        better.extend(ended.iter().map(|row| row.text("job")));
    }
    let keys: Vec<String> = found.iter().map(|row| row.text("job")).collect();
    stored.look_at(session, keys);
    Ok(Listed { lines, better })
}

/// What was asked for, as conditions.
fn conditions(asked: &Asked) -> Vec<String> {
    let mut all = Vec::new();
    for (key, wanted) in asked.iter().filter(|(_, wanted)| !wanted.is_empty()) {
        let text = quoted(wanted);
        match key.as_str() {
            "user" => {
                let number = wanted.parse::<u32>().map(|uid| format!(" OR uid = {uid}"));
                all.push(format!("(\"user\" = {text}{})", number.unwrap_or_default()));
            }
            "exe" => all.push(format!("strpos(lower(exe), lower({text})) > 0")),
            "node" => all.push(format!("job IN (SELECT job FROM processes WHERE node = {text})")),
            "state" if wanted == "running" => all.push("ended IS NULL".to_owned()),
            "state" => all.push("ended IS NOT NULL".to_owned()),
            "from" | "to" => all.extend(bound(key, wanted)),
            "q" => all.extend(wanted.split_whitespace().map(word)),
            _ => {}
        }
    }
    all
}

/// Jobs that ran at or behind a moment, or at or before one; seconds since 1970.
fn bound(key: &str, wanted: &str) -> Option<String> {
    let micros = (wanted.parse::<f64>().ok()? * 1e6) as i64;
    Some(match key {
        "from" => format!("coalesce(ended, {micros}) >= {micros}"),
        _ => format!("began <= {micros}"),
    })
}

/// A word that something of the job must contain.
fn word(word: &str) -> String {
    let word = quoted(&word.to_lowercase());
    let own = "lower(concat_ws(' ', job, command, exe, \"user\"))";
    format!(
        "(strpos({own}, {word}) > 0 OR job IN (SELECT job FROM processes WHERE strpos(lower(node), {word}) > 0))"
    )
}

/// Rows of jobs, each put together from its parts, the newest first. Times are microseconds since 1970.
pub(super) async fn jobs(
    session: &Session,
    conditions: &[String],
    most: usize,
) -> Result<Vec<Row>, Error> {
    let wherever = match conditions {
        [] => String::new(),
        all => format!("WHERE {}", all.join(" AND ")),
    };
    let sql = format!(
        "SELECT * FROM (SELECT job, CAST(min(t) AS BIGINT) AS began, \
         CASE WHEN sum(running) > 0 THEN NULL ELSE CAST(max(\"end\") AS BIGINT) END AS ended, \
         max(uid) AS uid, max(\"user\") AS \"user\", max(exe) AS exe, max(command) AS command, \
         max(nprocs) AS nprocs, sum(processes) AS processes, sum(killed) AS killed, \
         max(source) AS source, max(partial) AS partial, max(remarks) AS remarks \
         FROM jobs GROUP BY job) {wherever} ORDER BY began DESC, job LIMIT {most}"
    );
    rows(session, &sql).await
}

/// A condition that only these jobs fulfil, of which there must be some.
pub(super) fn among(found: &[Row]) -> String {
    named(found.iter().map(|row| row.text("job")))
}

/// A condition that only jobs of these keys fulfil, of which there must be some.
fn named(keys: impl Iterator<Item = impl AsRef<str>>) -> String {
    let keys: Vec<String> = keys.map(|key| quoted(key.as_ref())).collect();
    format!("job IN ({})", keys.join(", "))
}

/// The hosts of every job for which a condition holds.
pub(super) async fn hosts(
    session: &Session,
    condition: &str,
) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let sql = format!(
        "SELECT DISTINCT job, node FROM processes WHERE node <> '' AND {condition} ORDER BY job, node"
    );
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(session, &sql).await? {
        let named = all.entry(row.text("job")).or_default();
        if named.len() < HOSTS {
            named.push(row.text("node"));
        }
    }
    Ok(all)
}

/// Lines of these jobs, in their order.
pub(super) async fn lines(
    stored: &Stored,
    session: &Session,
    found: &[Row],
) -> Result<Vec<Value>, Error> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let these = among(found);
    let totals = totals(session, &these).await?;
    let accounts = accounts(session, &these).await?;
    let mut hosts = hosts(session, &these).await?;
    let line = |row: &Row| {
        let key = row.text("job");
        let total = totals.get(&key).cloned().unwrap_or_default();
        line(stored, row, &total, accounts.get(&key), hosts.remove(&key).unwrap_or_default())
    };
    Ok(found.iter().map(line).collect())
}

fn line(
    stored: &Stored,
    row: &Row,
    total: &Total,
    account: Option<&Account>,
    hosts: Vec<String>,
) -> Value {
    let key = row.text("job");
    let seconds = |name: &str| row.whole(name).map(|micros| micros as f64 / 1e6);
    let (start, end) = (seconds("began").unwrap_or(0.0), seconds("ended"));
    let elapsed = end.map_or(0.0, |end| (end - start).max(0.0));
    let ranks = row.count("nprocs").max(1);
    let [read, write] = total.moved();
    let share = if elapsed > 0.0 { total.seconds / (elapsed * ranks as f64) } else { 0.0 };
    let found = stored.inner.known.counts(&key);
    json!({
        "job": key,
        "stored": true,
        "uid": row.whole("uid"),
        "user": row.text("user"),
        "command": row.text("command"),
        "exe": row.text("exe"),
        "state": if end.is_some() { "ended" } else { "running" },
        "start": start,
        "end": end,
        "elapsed": elapsed,
        "ranks": ranks,
        "processes": row.count("processes"),
        "hosts": hosts,
        "bytes_read": read.bytes,
        "bytes_written": write.bytes,
        "reads": read.calls,
        "writes": write.calls,
        "read_rate": 0.0, "write_rate": 0.0, "call_rate": 0.0,
        "share": share.min(1.0),
        "findings": found.as_ref().map(|known| json!({ "high": known.high, "warn": known.warn, "info": known.info })),
        "worst": found.and_then(|known| known.worst),
        "lag": 0.0,
        "completeness": told(row, account),
    })
}
