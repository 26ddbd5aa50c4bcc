//! What a stored job is: who ran what, when and where; its processes, mounts and names.

use std::collections::BTreeMap;

use datafusion::arrow::array::Array as _;
use netra_darshan::read::Mount;
use netra_event::{Module, RecordId};

use super::Recall;
use crate::Result;

/// What a stored job is. Its parts are put together: a job that came over the stream has a row for each process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Head {
    /// Its key.
    pub key: String,
    /// The scheduler's number.
    pub job_id: i64,
    /// The user.
    pub uid: i64,
    /// The program.
    pub exe: String,
    /// The command line.
    pub command: String,
    /// Processes that it said it has.
    pub nprocs: i64,
    /// Processes that are recorded.
    pub processes: i64,
    /// Of these, those that still run.
    pub running: i64,
    /// Nanoseconds since 1970.
    pub start: i64,
    /// Nanoseconds since 1970; nothing while no part of it has ended.
    pub end: Option<i64>,
    /// Where it is from: `log`, `stream` or `connector`.
    pub source: String,
    /// The log it was imported from.
    pub log: Option<String>,
    /// Version of that log's format.
    pub log_version: Option<String>,
    /// `key=value` lines of the log.
    pub metadata: String,
    /// Modules with records, where the log told.
    pub modules: Vec<Module>,
    /// Modules that saw only part of the job.
    pub partial: Vec<Module>,
    /// What was wrong with the log, a sentence each.
    pub remarks: Vec<String>,
}

/// A process of a stored job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    /// Its number in the job; −1 for a helper without one.
    pub rank: i64,
    /// Its name for ever.
    pub process: i64,
    /// The process.
    pub pid: i64,
    /// Its host; empty where it is not known.
    pub node: String,
    /// The program.
    pub exe: String,
    /// Whether it still runs.
    pub running: bool,
    /// What the library complained about.
    pub notes: Vec<String>,
}

impl Recall {
    /// The job itself.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn head(&self) -> Result<Head> {
        let mut head = Head { key: self.key().to_owned(), start: i64::MAX, ..Head::default() };
        self.rows("jobs", "*", "", &mut |columns, rows| {
            let text = |name: &str| columns.texts(name);
            let (exe, command, source) = (text("exe")?, text("command")?, text("source")?);
            let (log, version) = (text("log")?, text("log_version")?);
            let (metadata, partial) = (text("metadata")?, text("partial")?);
            let (modules, remarks) = (text("modules")?, text("remarks")?);
            let (job_id, uid) = (columns.longs("job_id")?, columns.longs("uid")?);
            let (nprocs, processes) = (columns.longs("nprocs")?, columns.longs("processes")?);
            let running = columns.longs("running")?;
            let (start_ns, end_ns) = (columns.longs("start_ns")?, columns.longs("end_ns")?);
            let (t, end) = (columns.times("t")?, columns.times("end")?);
            for row in 0..rows {
                let start = start_ns.get(row).unwrap_or(t.value(row).saturating_mul(1000));
                if start < head.start {
                    head.start = start;
                    head.command = command.get(row).unwrap_or_default().to_owned();
                }
                let ended = end.is_valid(row).then(|| end.value(row).saturating_mul(1000));
                head.end = head.end.max(end_ns.get(row).or(ended));
                let most = |known: i64, found: Option<i64>| known.max(found.unwrap_or(known));
                head.job_id = most(head.job_id, job_id.get(row));
                head.uid = most(head.uid, uid.get(row));
                head.nprocs = most(head.nprocs, nprocs.get(row));
                head.processes += processes.get(row).unwrap_or(0);
                head.running += running.get(row).unwrap_or(0);
                let keep = |field: &mut String, found: Option<&str>| {
                    if let Some(found) = found.filter(|found| **found > **field) {
                        *field = found.to_owned();
                    }
                };
                keep(&mut head.exe, exe.get(row));
                keep(&mut head.source, source.get(row));
                keep(&mut head.metadata, metadata.get(row));
                head.log = head.log.take().or(log.get(row).map(str::to_owned));
                head.log_version = head.log_version.take().or(version.get(row).map(str::to_owned));
                add(&mut head.partial, partial.get(row));
                add(&mut head.modules, modules.get(row));
                head.remarks
                    .extend(remarks.get(row).unwrap_or_default().lines().map(str::to_owned));
            }
            Ok(())
        })
        .await?;
        Ok(head)
    }

    /// Its processes, by rank and then by start.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn processes(&self) -> Result<Vec<Process>> {
        let mut found = Vec::new();
        let order = "ORDER BY rank, t, pid";
        self.rows("processes", "*", order, &mut |columns, rows| {
            let text = |name: &str| columns.texts(name);
            let (node, exe, state, notes) =
                (text("node")?, text("exe")?, text("state")?, text("notes")?);
            let (rank, process) = (columns.longs("rank")?, columns.longs("process")?);
            let pid = columns.longs("pid")?;
            for row in 0..rows {
                let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
                let notes = notes.get(row).unwrap_or_default().lines();
                found.push(Process {
                    rank: rank.get(row).unwrap_or(-1),
                    process: process.get(row).unwrap_or(0),
                    pid: pid.get(row).unwrap_or(0),
                    node: owned(node.get(row)),
                    exe: owned(exe.get(row)),
                    running: state.get(row) == Some("running"),
                    notes: notes.map(str::to_owned).collect(),
                });
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Its mounts, in the order of its log.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn mounts(&self) -> Result<Vec<Mount>> {
        let mut found: Vec<Mount> = Vec::new();
        let order = "ORDER BY position, mount";
        self.rows("mounts", "mount, file_system", order, &mut |columns, rows| {
            let (point, kind) = (columns.texts("mount")?, columns.texts("file_system")?);
            for row in 0..rows {
                let bytes = |text: Option<&str>| text.unwrap_or_default().as_bytes().to_vec();
                let mount = Mount { point: bytes(point.get(row)), kind: bytes(kind.get(row)) };
                // Processes of one job see the same.
                if !found.contains(&mount) {
                    found.push(mount);
                }
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// The names of its records.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn names(&self) -> Result<BTreeMap<RecordId, String>> {
        let mut found = BTreeMap::new();
        self.rows("files", "file_id, file, object", "", &mut |columns, rows| {
            let id = columns.longs("file_id")?;
            let (file, object) = (columns.texts("file")?, columns.texts("object")?);
            for row in 0..rows {
                let Some(id) = id.get(row) else { continue };
                let file = file.get(row).unwrap_or_default();
                // Records of data sets are named `file:/group/set`.
                let name = match object.get(row) {
                    Some(object) => format!("{file}:{object}"),
                    None => file.to_owned(),
                };
                found.insert(RecordId(id.cast_unsigned()), name);
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }
}

/// Adds modules that are named with commas.
fn add(modules: &mut Vec<Module>, names: Option<&str>) {
    for module in names.unwrap_or_default().split(',').filter_map(Module::from_name) {
        if !modules.contains(&module) {
            modules.push(module);
        }
    }
}
