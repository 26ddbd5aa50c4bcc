//! The counters of a process as its segment has them: what is left after a crash.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use netra_event::segment::shard::{direction, mpiio, posix, stdio};
use netra_event::segment::{Record, View};
use netra_event::{Function, Loss, Module};

use crate::log::{Log, Origin};

/// A counter and the word of a thread's record that holds its share.
type Row = (&'static str, usize);

/// Shares of threads that add up.
const POSIX_SUMS: &[Row] = &[
    ("POSIX_OPENS", posix::OPENS),
    ("POSIX_FILENOS", posix::FILENOS),
    ("POSIX_DUPS", posix::DUPS),
    ("POSIX_READS", posix::READ + direction::CALLS),
    ("POSIX_WRITES", posix::WRITE + direction::CALLS),
    ("POSIX_SEEKS", posix::SEEKS),
    ("POSIX_STATS", posix::STATS),
    ("POSIX_FSYNCS", posix::FSYNCS),
    ("POSIX_FDSYNCS", posix::FDSYNCS),
    ("POSIX_RENAME_SOURCES", posix::RENAME_SOURCES),
    ("POSIX_RENAME_TARGETS", posix::RENAME_TARGETS),
    ("POSIX_BYTES_READ", posix::READ + direction::BYTES),
    ("POSIX_BYTES_WRITTEN", posix::WRITE + direction::BYTES),
];

const STDIO_SUMS: &[Row] = &[
    ("STDIO_OPENS", stdio::OPENS),
    ("STDIO_FDOPENS", stdio::FDOPENS),
    ("STDIO_READS", stdio::READ + stdio::CALLS),
    ("STDIO_WRITES", stdio::WRITE + stdio::CALLS),
    ("STDIO_SEEKS", stdio::SEEKS),
    ("STDIO_FLUSHES", stdio::FLUSHES),
    ("STDIO_BYTES_READ", stdio::READ + stdio::BYTES),
    ("STDIO_BYTES_WRITTEN", stdio::WRITE + stdio::BYTES),
];

const MPIIO_SUMS: &[Row] = &[
    ("MPIIO_INDEP_OPENS", mpiio::INDEP_OPENS),
    ("MPIIO_COLL_OPENS", mpiio::COLL_OPENS),
    ("MPIIO_INDEP_READS", mpiio::INDEP_READS),
    ("MPIIO_INDEP_WRITES", mpiio::INDEP_WRITES),
    ("MPIIO_COLL_READS", mpiio::COLL_READS),
    ("MPIIO_COLL_WRITES", mpiio::COLL_WRITES),
    ("MPIIO_BYTES_READ", mpiio::READ + direction::BYTES),
    ("MPIIO_BYTES_WRITTEN", mpiio::WRITE + direction::BYTES),
];

/// Adds the records of modules that describe themselves, which only the netra section of a log has.
pub(crate) fn add_own(log: &mut Log) {
    let segment = log.segment().to_vec();
    let Ok(view) = View::new(&segment) else { return };
    for module in view.modules() {
        let own = String::from_utf8_lossy(module.name).into_owned();
        for record in view.records().filter(|record| record.module == module.code) {
            let Some(file) = view.file(record.file) else { continue };
            let name = String::from_utf8_lossy(file.name).into_owned();
            for (word, counter) in module.counters().enumerate() {
                let counter = format!("{own}_{}", String::from_utf8_lossy(counter));
                log.add(&own, name.clone(), &counter, record.word(word).cast_signed());
            }
        }
    }
}

/// Reads a segment: whose it is, and its counters summed over threads.
pub(crate) fn recover(bytes: Vec<u8>) -> Result<(Origin, Log)> {
    let mut log = Log::from_segment(bytes.clone());
    let view = View::new(&bytes).map_err(|error| anyhow!("{error}"))?;
    for record in view.records() {
        let Some(file) = view.file(record.file) else { continue };
        let name = String::from_utf8_lossy(file.name).into_owned();
        for (module, rows) in
            [(Module::Posix, POSIX_SUMS), (Module::Stdio, STDIO_SUMS), (Module::Mpiio, MPIIO_SUMS)]
        {
            if record.module == u32::from(module.code()) {
                add(&mut log, module, &name, rows, &record);
            }
        }
    }
    Ok((origin(&view), log))
}

fn add(log: &mut Log, module: Module, name: &str, rows: &[Row], record: &Record<'_>) {
    for (counter, word) in rows {
        log.add(module.name(), name.to_owned(), counter, record.word(*word).cast_signed());
    }
}

/// The process and the first word of its command line, as a log's file name has it.
fn origin(view: &View<'_>) -> Origin {
    let command = String::from_utf8_lossy(view.command()).into_owned();
    let first = command.split(' ').next().unwrap_or_default();
    let executable = first.rsplit('/').next().unwrap_or_default().to_owned();
    Origin { pid: i64::from(view.pid()), executable }
}

/// Calls by function, over all threads.
pub(crate) fn calls(segment: &[u8]) -> BTreeMap<&'static str, i64> {
    let mut calls = BTreeMap::new();
    for lane in View::new(segment).iter().flat_map(View::lanes) {
        for (code, count) in lane.calls() {
            let name = Function::from_code(code).map_or("<unknown>", Function::name);
            *calls.entry(name).or_default() += count.cast_signed();
        }
    }
    calls
}

/// The rank of the process.
pub(crate) fn rank(segment: &[u8]) -> Option<u32> {
    View::new(segment).ok()?.rank()
}

/// The lines that the process left for people.
pub(crate) fn notes(segment: &[u8]) -> Vec<String> {
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    View::new(segment).iter().flat_map(View::notes).map(text).collect()
}

/// Events dropped because the call came from inside netra.
pub(crate) fn reentrant(segment: &[u8]) -> i64 {
    let lanes = View::new(segment);
    let lanes = lanes.iter().flat_map(View::lanes);
    lanes.map(|lane| lane.dropped(Loss::Reentrant).0.cast_signed()).sum()
}
