//! What a page that follows a job is told: all of it at first, then what changed since.

use std::sync::Arc;

use serde_json::{Value, json};

use super::job::{line, seconds, seen};
use super::{Served, User};
use crate::live::{
    Host, Job, LAYERS, Latency, Process, Relation, Standing, State, Step, Way, shown,
};

/// Ranks that are told, those that took most time.
pub(super) const RANKS: usize = 512;
/// Files that are told.
pub(super) const FILES: usize = 30;
/// Metrics of one node that are told.
const METRICS: usize = 40;

/// What is new of a job since a version, and the version that it is then; nothing if the user may not
/// see it.
pub(super) fn of(served: &Served, user: &User, key: &str, since: u64) -> Option<(u64, Value)> {
    let now = served.clock.now();
    let state = served.live.lock();
    let job = seen(&state, user, key)?;
    let mut value = line(served, job, now);
    let mut add = |name: &str, part: Value| value[name] = part;
    add("now", json!(seconds(now)));
    add("since", json!(since));
    add("newest", json!(seconds(job.processes.values().map(|one| one.newest).max().unwrap_or(0))));
    add("layers", json!(LAYERS.map(|layer| layer.name())));
    add("ways", json!(Way::ALL.map(Way::name)));
    add("width", json!(job.series.width()));
    add("steps", steps(job, since));
    add("latency", latencies(job));
    add("ranks_list", ranks(job));
    add("files", files(job));
    add("file_count", json!(job.files.count()));
    add("metrics", metrics(&state, job, since));
    add("diagnosis", diagnosis(job));
    Some((state.version, value))
}

/// Steps that changed: second, then layer, way, calls, bytes and nanoseconds, then percentiles.
fn steps(job: &Job, since: u64) -> Value {
    let steps = job.series.since(since).map(|(at, step)| {
        let latency = step.latency.each_ref().map(percentiles);
        json!({ "at": at, "cells": cells_of(step), "latency": latency })
    });
    steps.collect()
}

/// What happened in a step: layer, way, calls, bytes, nanoseconds.
pub(super) fn cells_of(step: &Step) -> Value {
    let used = step.cells.used();
    used.map(|(layer, way, cell)| json!([layer, way, cell.calls, cell.bytes, cell.nanos])).collect()
}

/// Calls, and the durations that half, 95 and 99 of 100 do not exceed, in nanoseconds.
fn percentiles(latency: &Latency) -> Value {
    let of = |share: f64| latency.percentile(share).map(|nanos| nanos.0);
    match latency.calls() {
        0 => Value::Null,
        calls => json!([calls, of(0.5), of(0.95), of(0.99)]),
    }
}

/// Percentiles of the whole run by layer, reads and writes.
fn latencies(job: &Job) -> Value {
    job.latency.iter().map(|ways| json!(ways.each_ref().map(percentiles))).collect()
}

fn ranks(job: &Job) -> Value {
    let mut members = job.members();
    let nanos = |process: &Process| {
        Way::ALL.iter().map(|&way| process.cells.lowest(way).nanos).fold(0, u64::saturating_add)
    };
    if members.len() > RANKS {
        members.sort_by_key(|process| std::cmp::Reverse(nanos(process)));
        members.truncate(RANKS);
    }
    members.iter().map(|process| rank(process)).collect()
}

fn rank(process: &Process) -> Value {
    let cells = Way::ALL.map(|way| process.cells.lowest(way));
    json!({
        "rank": process.about.rank,
        "pid": process.about.pid,
        "host": String::from_utf8_lossy(&process.about.host),
        "calls": cells.iter().map(|cell| cell.calls).sum::<u64>(),
        "bytes_read": cells[0].bytes,
        "bytes_written": cells[1].bytes,
        "nanos": cells.map(|cell| cell.nanos),
        "longest": process.longest,
        "over": process.is_over(),
    })
}

fn files(job: &Job) -> Value {
    let top = job.files.top(FILES);
    top.iter()
        .map(|file| {
            let (read, write) = (file.of(Way::Read), file.of(Way::Write));
            json!({
                "path": file.path,
                "processes": file.processes,
                "reads": read.calls,
                "writes": write.calls,
                "bytes_read": read.bytes,
                "bytes_written": write.bytes,
                "nanos": file.ways.map(|cell| cell.nanos),
            })
        })
        .collect()
}

/// What the job's nodes did, as far as it has a place in a picture.
fn metrics(state: &State, job: &Job, since: u64) -> Value {
    let hosts = job.hosts();
    let begun = job.start() / 1_000_000_000;
    let found = hosts.iter().filter_map(|(number, name)| Some((name, state.hosts.get(number)?)));
    found.flat_map(|(name, host)| host_metrics(name, host, begun, since)).collect()
}

pub(super) fn host_metrics(name: &str, host: &Host, begun: u64, since: u64) -> Vec<Value> {
    let told = host.metrics().filter_map(|(target, metric, values)| {
        let (group, unit) = shown(metric)?;
        let points = values.values.since(since).filter(|(at, _)| *at + 5 >= begun);
        let points: Vec<Value> =
            points.filter_map(|(at, mean)| Some(json!([at, mean.value()?]))).collect();
        Some(json!({
            "host": name, "target": target, "name": metric, "group": group, "unit": unit,
            "width": values.values.width(), "points": points,
        }))
    });
    told.take(METRICS).collect()
}

fn diagnosis(job: &Job) -> Value {
    let found = &job.diagnosis;
    let standings: Vec<Value> = found.standings.iter().map(standing).collect();
    let related: Vec<Value> = found.relations.iter().map(relation).collect();
    json!({
        "number": found.number,
        "at": seconds(found.at),
        "took": seconds(found.took),
        "failed": found.failed,
        "standings": standings,
        "related": related,
    })
}

/// A finding and its life.
pub(super) fn standing(one: &Standing) -> Value {
    json!({
        "slug": one.slug, "number": one.number, "title": one.title, "level": one.level,
        "says": one.says, "lost": one.lost, "since": seconds(one.since),
        "changed": seconds(one.changed), "gone": one.gone.map(seconds),
    })
}

pub(super) fn relation(one: &Relation) -> Value {
    json!({
        "host": one.host, "target": one.target, "name": one.name,
        "value": one.found.value,
        "lead": one.found.lead.saturating_mul(one.width.cast_signed()),
        "chance": one.found.chance,
        "steps": one.found.steps,
    })
}

/// The name of a version: a server that was started again has other versions.
pub(super) fn id(served: &Served, version: u64) -> String {
    format!("{:x}-{version}", served.epoch)
}

/// The version of a name that this server gave; 0, for everything, if another did.
pub(super) fn version(served: &Arc<Served>, id: &str) -> u64 {
    let known = id.split_once('-').filter(|(epoch, _)| *epoch == format!("{:x}", served.epoch));
    known.and_then(|(_, version)| version.parse().ok()).unwrap_or(0)
}
