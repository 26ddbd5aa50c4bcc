//! A Darshan log becomes rows: the job, its names, the records of every module, its trace.
//!
//! A log of netra's own holds its trace twice; its section knows more, and is what is taken. Damage is
//! no reason to leave a log out: what can be read is, and the job says what is missing.

use std::collections::BTreeMap;
use std::path::Path;

use netra_darshan::read::{Direction, Log, Record};
use netra_darshan::{Missing, Part, Reason};
use netra_event::Module;

use super::files::Files;
use super::record::Head;
use super::row::{EventRow, JobRow, MountRow, ProcessRow};
use super::section;
use super::streamed::Streamed;
use super::tables::Tables;
use crate::Result;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// A log that is being taken.
pub(super) struct Taking<'a> {
    pub(super) log: &'a Log,
    pub(super) tables: &'a mut Tables,
    pub(super) files: Files,
    pub(super) job: JobRow,
    pub(super) missing: Missing<'a>,
    pub(super) streamed: Streamed,
}

/// Takes everything of a log but its job, which it gives back; it goes in last of all.
///
/// # Errors
/// The tables do not take it.
pub(super) fn take(
    path: &Path,
    log: &Log,
    key: String,
    streamed: Streamed,
    tables: &mut Tables,
) -> Result<JobRow> {
    let job = job(path, log, key);
    tables.begin(&job)?;
    let missing = Missing::of(log);
    let mut taking = Taking { log, tables, files: Files::of(log), job, missing, streamed };
    taking.names()?;
    for &module in Module::ALL {
        taking.records(module)?;
    }
    let traced = section::take(&mut taking)?;
    let mut hosts = BTreeMap::new();
    if !traced {
        for module in [Module::DxtPosix, Module::DxtMpiio] {
            taking.trace(module, &mut hosts)?;
        }
    }
    if taking.job.processes == 0 {
        taking.processes(hosts)?;
    }
    let Taking { missing, mut job, .. } = taking;
    for damage in missing.all() {
        match (damage.part, &damage.reason) {
            (Part::Module(module), Reason::Incomplete) => job.partial.push(module),
            // The account of each lane says it, with its reasons.
            (_, Reason::Events { .. }) => {}
            _ => job.remarks.push(damage.sentence()),
        }
    }
    Ok(job)
}

/// What the log says of the job itself.
fn job(path: &Path, log: &Log, key: String) -> JobRow {
    let (from, numbers) = (log.job(), &log.job().numbers);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let moment = |seconds: i64, nanos: i64| seconds.saturating_mul(SECOND).saturating_add(nanos);
    let command = text(&from.exe);
    JobRow {
        key,
        job_id: numbers.jobid,
        uid: numbers.uid,
        // As every row of its processes has it.
        exe: section::program(log)
            .unwrap_or_else(|| command.split(' ').next().unwrap_or_default().to_owned()),
        command,
        nprocs: numbers.nprocs,
        start: moment(numbers.start_sec, numbers.start_nsec),
        end: moment(numbers.end_sec, numbers.end_nsec),
        log_version: Some(log.header().version.name().to_owned()),
        metadata: text(&from.metadata),
        modules: log.modules().collect(),
        source: "log",
        path: path.to_string_lossy().into_owned(),
        ..JobRow::default()
    }
}

impl Taking<'_> {
    fn names(&mut self) -> Result<()> {
        for (name, what) in self.files.iter() {
            self.tables.file(&name, what)?;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for (position, mount) in (0..).zip(&self.log.job().mounts) {
            let (point, kind) = (text(&mount.point), text(&mount.kind));
            self.tables.mount(&MountRow { point, kind, position })?;
        }
        Ok(())
    }

    fn records(&mut self, module: Module) -> Result<()> {
        if matches!(module, Module::DxtPosix | Module::DxtMpiio) {
            return Ok(());
        }
        let mut records = self.log.records(module);
        let mut head = Head::default();
        while let Some(record) = records.next_record() {
            let name = self.files.get(record.id());
            self.tables.record(module, &record, &name, &mut head)?;
        }
        self.missing.read(&records);
        Ok(())
    }

    /// Every read and write, in the order of the log.
    fn trace(&mut self, module: Module, hosts: &mut BTreeMap<i64, String>) -> Result<()> {
        let layer = if module == Module::DxtMpiio { Module::Mpiio } else { Module::Posix };
        let mut records = self.log.records(module);
        let mut index = 0;
        while let Some(record) = records.next_record() {
            let Record::Dxt(mut dxt) = record else { continue };
            let rank = dxt.head.rank.0;
            let host = String::from_utf8_lossy(&dxt.head.host).into_owned();
            let file = self.files.get(dxt.head.id);
            let process = nameless(&self.job.key, rank);
            while let Some((direction, segments)) = dxt.segments.next_piece() {
                let op = match direction {
                    Direction::Read => "read",
                    Direction::Write => "write",
                };
                for segment in segments.iter().filter(|segment| segment.start.is_finite()) {
                    let (start, end) = (nanos(segment.start), nanos(segment.end));
                    self.tables.event(&EventRow {
                        rank: Some(rank),
                        node: &host,
                        process,
                        thread: segment.thread.map(u64::cast_signed),
                        lane: i64::from(layer.code()),
                        index,
                        start: self.job.start.saturating_add(start),
                        took: end.saturating_sub(start).max(0),
                        layer: layer.name(),
                        op,
                        function: op,
                        file: Some(file),
                        offset: Some(segment.offset).filter(|offset| *offset >= 0),
                        length: segment.length,
                        bytes: segment.length,
                        source: "dxt",
                        ..EventRow::default()
                    })?;
                    index += 1;
                }
            }
            hosts.entry(rank).or_insert(host);
        }
        self.missing.read(&records);
        Ok(())
    }

    /// One row for each rank whose host is known, and one where none is.
    fn processes(&mut self, mut hosts: BTreeMap<i64, String>) -> Result<()> {
        if hosts.is_empty() {
            hosts.insert(if self.job.nprocs == 1 { 0 } else { -1 }, String::new());
        }
        for (rank, node) in hosts {
            let process = ProcessRow {
                rank: Some(rank),
                process: nameless(&self.job.key, rank),
                node,
                command: self.job.command.clone(),
                start: self.job.start,
                end: Some(self.job.end),
                state: "ended",
                // Of a log that lost its section: by it the whole copy is known.
                pid: section::cut_off(self.log).map_or(0, |(_, pid)| pid),
                ..ProcessRow::default()
            };
            self.tables.process(&process)?;
        }
        self.job.processes = self.job.nprocs;
        Ok(())
    }
}

/// A name for a process of which only the rank is known.
pub(super) fn nameless(job: &str, rank: i64) -> i64 {
    netra_event::jenkins64(format!("{job}/{rank}").as_bytes(), 0).cast_signed()
}

/// To the nanosecond, as the analysis takes them; the cast saturates.
fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}
