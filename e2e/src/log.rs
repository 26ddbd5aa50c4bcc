//! The counters of a run, read from its logs as from any Darshan log.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use netra_darshan::section::layout::{HEAD, Head, KIND_SEGMENT, STORED, Trailer};
use netra_darshan::{Damage, Part, counter, read};
use netra_event::Module;

use crate::segment;

/// Modules whose counters are read.
const COUNTED: [Module; 7] = [
    Module::Posix,
    Module::Mpiio,
    Module::H5f,
    Module::H5d,
    Module::PnetcdfFile,
    Module::PnetcdfVar,
    Module::Stdio,
];

/// Which process image wrote a log: its file name says so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The process.
    pub pid: i64,
    /// The program's short name.
    pub executable: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.executable, self.pid)
    }
}

impl Origin {
    /// From `<user>_<exe>_id<job>-<pid>_<date>….darshan`.
    #[must_use]
    pub fn of_file_name(name: &str) -> Option<Origin> {
        let (front, back) = name.rsplit_once("_id")?;
        let (_, executable) = front.split_once('_')?;
        let (ids, _) = back.split_once('_')?;
        let (_, pid) = ids.split_once('-')?;
        Some(Origin { pid: pid.parse().ok()?, executable: executable.to_owned() })
    }
}

/// The integer counters of one record; what a log does not have is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// A counter's value.
    #[must_use]
    pub fn get(&self, counter: &str) -> i64 {
        self.0.get(counter).copied().unwrap_or(0)
    }

    /// Adds to a counter.
    pub fn add(&mut self, counter: &str, value: i64) {
        *self.0.entry(counter.to_owned()).or_default() += value;
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(counter, value)| (counter.as_str(), *value))
    }
}

/// What one process image recorded.
#[derive(Debug, Clone, Default)]
pub struct Log {
    records: BTreeMap<(String, String), Counters>,
    /// Seconds of a record's reads, writes and metadata calls, summed, by module.
    seconds: BTreeMap<String, f64>,
    /// How long the process ran.
    ran: f64,
    /// Bytes of the trace of POSIX, read and written, by file.
    traced: BTreeMap<String, [i64; 2]>,
    segment: Vec<u8>,
}

impl Log {
    /// A log with one record, for tests of the comparison.
    #[cfg(test)]
    pub(crate) fn of(module: &'static str, name: &str, counters: &[(&str, i64)]) -> Log {
        let mut log = Log::default();
        for (counter, value) in counters {
            log.add(module, name.into(), counter, *value);
        }
        log
    }

    /// Every log below a folder, by the process that wrote it.
    pub fn read_all(folder: &Path) -> Result<BTreeMap<Origin, Log>> {
        let mut logs = BTreeMap::new();
        for path in files_below(folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Of a process that was killed while it wrote: its segment is still there.
            if name.ends_with("_partial") {
                continue;
            }
            let origin = Origin::of_file_name(&name);
            let origin = origin.with_context(|| format!("{name} is not named as logs are"))?;
            let log = Log::read(&path).with_context(|| format!("read {}", path.display()))?;
            logs.insert(origin, log);
        }
        Ok(logs)
    }

    /// One log: the counters of its POSIX, STDIO and MPI-IO records, and its netra section.
    pub fn read(path: &Path) -> Result<Log> {
        let file = read::Log::open(path)?;
        // A trace may be cut short by its budget; counters never are.
        let traces = |damage: &Damage| {
            matches!(damage.part, Part::Module(Module::DxtPosix | Module::DxtMpiio))
        };
        let damage: Vec<_> = file.damage().iter().filter(|damage| !traces(damage)).collect();
        anyhow::ensure!(damage.is_empty(), "damaged: {damage:?}");
        let ran = file.job().end().0 - file.job().start().0;
        let mut log = Log { ran, segment: section(&fs::read(path)?), ..Log::default() };
        log.add_trace(&file);
        for module in COUNTED {
            let table = counter::current(module).context("a module of counters")?;
            let mut records = file.records(module);
            while let Some(record) = records.next_record() {
                let name = file.names().get(record.id()).unwrap_or(b"<no name>");
                let name = String::from_utf8_lossy(name).into_owned();
                let read::Record::Counters(counters) = record else { continue };
                for (counter, value) in table.int.iter().zip(counters.ints) {
                    log.add(module.name(), name.clone(), counter, *value);
                }
                let times = table.float.iter().zip(counters.floats);
                let times = times.filter(|(counter, _)| {
                    ["_F_READ_TIME", "_F_WRITE_TIME", "_F_META_TIME"]
                        .iter()
                        .any(|end| counter.ends_with(end))
                });
                *log.seconds.entry(module.name().into()).or_default() +=
                    times.map(|(_, seconds)| seconds).sum::<f64>();
            }
            anyhow::ensure!(records.damage().is_empty(), "damaged: {:?}", records.damage());
        }
        segment::add_own(&mut log);
        Ok(log)
    }

    fn add_trace(&mut self, file: &read::Log) {
        let mut records = file.records(Module::DxtPosix);
        while let Some(record) = records.next_record() {
            let read::Record::Dxt(mut trace) = record else { continue };
            let name = file.names().get(trace.head.id).unwrap_or(b"<no name>");
            let sum = self.traced.entry(String::from_utf8_lossy(name).into_owned()).or_default();
            while let Some((direction, piece)) = trace.segments.next_piece() {
                let bytes: i64 = piece.iter().map(|segment| segment.length).sum();
                sum[usize::from(direction == read::Direction::Write)] += bytes;
            }
        }
    }

    /// Bytes of a file that the trace of POSIX has, read and written.
    #[must_use]
    pub fn traced(&self, name: &str) -> [i64; 2] {
        self.traced.get(name).copied().unwrap_or_default()
    }

    /// Seconds in all calls of a module.
    #[must_use]
    pub fn seconds(&self, module: &str) -> f64 {
        self.seconds.get(module).copied().unwrap_or_default()
    }

    /// How long the process ran.
    #[must_use]
    pub fn ran(&self) -> f64 {
        self.ran
    }

    /// What the segments below a folder hold, as after a crash.
    pub fn recover_all(folder: &Path) -> Result<BTreeMap<Origin, Log>> {
        let mut logs = BTreeMap::new();
        let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "segment");
        for path in files_below(folder)?.into_iter().filter(is_segment) {
            let bytes = fs::read(&path)?;
            let (origin, log) =
                segment::recover(bytes).with_context(|| format!("recover {}", path.display()))?;
            logs.insert(origin, log);
        }
        Ok(logs)
    }

    pub(crate) fn from_segment(segment: Vec<u8>) -> Log {
        Log { segment, ..Log::default() }
    }

    pub(crate) fn segment(&self) -> &[u8] {
        &self.segment
    }

    pub(crate) fn add(&mut self, module: &str, name: String, counter: &str, value: i64) {
        self.records.entry((module.to_owned(), name)).or_default().add(counter, value);
    }

    /// The records of a module with their names.
    pub fn records(&self, module: &str) -> impl Iterator<Item = (&str, &Counters)> {
        let of_module = self.records.iter().filter(move |((own, _), _)| *own == module);
        of_module.map(|((_, name), counters)| (name.as_str(), counters))
    }

    /// The record of a file.
    #[must_use]
    pub fn record(&self, module: &str, name: &str) -> Option<&Counters> {
        self.records(module).find(|(own, _)| *own == name).map(|(_, counters)| counters)
    }

    /// How often each function was called, failed calls included.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<&'static str, i64> {
        segment::calls(&self.segment)
    }

    /// The rank of the process, if it has one.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        segment::rank(&self.segment)
    }

    /// What the process said that it could not see.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        segment::notes(&self.segment)
    }

    /// Calls that netra saw from inside its own work and could only count.
    #[must_use]
    pub fn reentrant(&self) -> i64 {
        segment::reentrant(&self.segment)
    }
}

/// The packed segment behind the log, if there is one: the first stored block.
fn section(file: &[u8]) -> Vec<u8> {
    let found = || {
        let trailer = Trailer::decode(file.last_chunk()?)?;
        let block = file.get(usize::try_from(trailer.offset).ok()?..)?;
        let head = Head::decode(block.first_chunk()?)?;
        let stored = head.kind == KIND_SEGMENT && head.compression == STORED;
        let length = usize::try_from(head.stored_len).ok()?;
        stored.then(|| block.get(HEAD..)?.get(..length)).flatten()
    };
    found().unwrap_or_default().to_vec()
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("look into {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn a_log_says_who_wrote_it() {
        let name = "root_my_app_id12-345_11-15-84000-123456_1.darshan";
        let origin = Origin { pid: 345, executable: "my_app".into() };
        assert_eq!(Origin::of_file_name(name), Some(origin));
        assert_eq!(Origin::of_file_name("notes.txt"), None);
    }
}
