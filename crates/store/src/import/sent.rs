//! Messages of the connector become events. A file may hold many jobs; each gets its own rows.

use std::collections::BTreeMap;
use std::path::Path;

use netra_event::RecordId;

use super::connector::{self, Kind, Sent};
use super::identity::Identity;
use super::log::nameless;
use super::row::{EventRow, JobRow, Name, ProcessRow};
use super::source::{Found, said};
use super::tables::Tables;
use crate::Result;

/// Takes a whole file, or says why not.
pub(super) fn take(
    path: &Path,
    kind: Kind,
    identity: Identity,
) -> std::result::Result<Found, String> {
    let found = connector::read(path, kind).map_err(|error| said(&error))?;
    let mut missing: Vec<String> =
        found.odd.iter().map(|(line, why)| format!("line {line} is left out: {why}")).collect();
    if found.odd_lines > found.odd.len() as u64 {
        missing.push(format!("{} lines are left out in all", found.odd_lines));
    }
    let mut tables = Tables::new(identity.clone(), None);
    let jobs = rows(path, &found.sent, &identity, &mut tables).map_err(|error| said(&error))?;
    let rows = tables.take().map_err(|error| said(&error))?;
    Ok(Found { identity, kind: "connector", jobs, rows, missing, ahead: 0, replaces: None })
}

fn rows(
    path: &Path,
    sent: &[Sent],
    identity: &Identity,
    tables: &mut Tables,
) -> Result<Vec<JobRow>> {
    let mut by_job: BTreeMap<i64, Vec<&Sent>> = BTreeMap::new();
    for message in sent {
        by_job.entry(message.job_id).or_default().push(message);
    }
    let mut jobs = Vec::new();
    for (job_id, messages) in by_job {
        let job = job(path, job_id, &messages, identity);
        tables.begin(&job)?;
        files(&messages, tables)?;
        events(&job, &messages, tables)?;
        processes(&job, &messages, tables)?;
        tables.job(&job)?;
        jobs.push(job);
    }
    Ok(jobs)
}

fn job(path: &Path, job_id: i64, messages: &[&Sent], identity: &Identity) -> JobRow {
    let exe = messages.iter().find_map(|message| message.exe.clone()).unwrap_or_default();
    let ranks = messages.iter().map(|message| message.rank).max().unwrap_or(0);
    let first = messages.iter().map(|message| message.start).min().unwrap_or(0);
    let ends = messages.iter().map(|message| message.start.saturating_add(message.took));
    let ranks_seen: std::collections::BTreeSet<i64> =
        messages.iter().map(|message| message.rank).collect();
    JobRow {
        key: format!("connector.{job_id}.{}", identity.short()),
        job_id,
        uid: messages.first().map_or(-1, |message| message.uid),
        exe: exe.to_string(),
        command: exe.to_string(),
        nprocs: ranks.saturating_add(1),
        processes: i64::try_from(ranks_seen.len()).unwrap_or(i64::MAX),
        start: first,
        end: ends.max().unwrap_or(first),
        source: "connector",
        path: path.to_string_lossy().into_owned(),
        ..JobRow::default()
    }
}

fn files(messages: &[&Sent], tables: &mut Tables) -> Result<()> {
    let mut seen = BTreeMap::new();
    for message in messages {
        if let Some(file) = &message.file {
            seen.entry(message.record_id).or_insert(&**file);
        }
    }
    for (id, file) in seen {
        let name = Name { file: Some(file), ..Name::only(RecordId(id)) };
        tables.file(&name, if file.starts_with('<') { "stream" } else { "path" })?;
    }
    Ok(())
}

fn events(job: &JobRow, messages: &[&Sent], tables: &mut Tables) -> Result<()> {
    for (index, message) in (0..).zip(messages) {
        let file = Name {
            file: message.file.as_deref(),
            object: message.data_set.as_deref(),
            ..Name::only(RecordId(message.record_id))
        };
        let moved = matches!(&*message.op, "read" | "write");
        let [_, _, _, dimensions, points] = message.selection;
        tables.event(&EventRow {
            rank: Some(message.rank),
            node: &message.node,
            process: nameless(&job.key, message.rank),
            index,
            start: message.start,
            took: message.took,
            layer: layer(&message.module),
            op: &message.op,
            function: &message.op,
            file: Some(file),
            offset: Some(message.offset).filter(|offset| *offset >= 0),
            length: message.length.max(0),
            bytes: if moved { message.length.max(0) } else { 0 },
            selection: (dimensions >= 0).then_some(("unknown", dimensions, points)),
            source: "connector",
            ..EventRow::default()
        })?;
    }
    Ok(())
}

fn processes(job: &JobRow, messages: &[&Sent], tables: &mut Tables) -> Result<()> {
    let mut ranks: BTreeMap<i64, (&str, i64, i64)> = BTreeMap::new();
    for message in messages {
        let end = message.start.saturating_add(message.took);
        let known = ranks.entry(message.rank).or_insert((&message.node, message.start, end));
        (known.1, known.2) = (known.1.min(message.start), known.2.max(end));
    }
    for (rank, (node, start, end)) in ranks {
        tables.process(&ProcessRow {
            rank: Some(rank),
            process: nameless(&job.key, rank),
            node: node.to_owned(),
            command: job.command.clone(),
            start,
            end: Some(end),
            state: "ended",
            ..ProcessRow::default()
        })?;
    }
    Ok(())
}

/// The connector's modules in the words of the table.
fn layer(module: &str) -> &str {
    match module {
        "MPIIO" => "MPI-IO",
        "H5F" | "H5D" => "HDF5",
        other => other,
    }
}
