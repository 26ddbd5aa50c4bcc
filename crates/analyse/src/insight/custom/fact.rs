//! The facts that expressions may name, and where each is found. A table, so it is long.

use netra_event::{Function, RecordId};

use crate::insight::Value;
use crate::metric::FileFacts;
use crate::{COUNTED, Direction, Facts, LIMITS, Layer, Thresholds, Usage};

/// Every fact with what it is, for the reference page. `<layer>` is one of `posix`, `stdio`, `mpiio`,
/// `h5d`, `pnetcdf`, `daos`, `dfs`; `<function>` a function such as `pwrite`.
pub const NAMES: &[(&str, &str)] = &[
    ("processes", "processes of the job"),
    ("nodes", "nodes, 0 where that is not known"),
    ("threads", "the most threads with I/O of one process, 0 where that is not known"),
    ("run_seconds", "seconds the job ran"),
    ("io_seconds", "seconds in I/O of the slowest rank"),
    ("io_share", "the same as a share of the run"),
    ("read_seconds", "its seconds in reads"),
    ("write_seconds", "its seconds in writes"),
    ("metadata_seconds", "its seconds in metadata calls"),
    ("mean_seconds", "seconds in I/O of the mean rank"),
    ("waiting_seconds", "the longest time that an open only waited"),
    ("files", "files with a record"),
    ("shared_files", "files of more than one rank"),
    ("bytes", "bytes moved, each once"),
    ("osts", "Lustre targets that hold files of the job"),
    ("phases", "bursts of I/O, 0 without a trace"),
    ("period_seconds", "from burst to burst, 0 where they do not repeat evenly"),
    ("trace_coverage", "traced bytes as a share of counted ones, 0 without a trace"),
    ("dropped_events", "events that are missing"),
    ("<layer>.files", "files used through a layer"),
    ("<layer>.reads", "reads"),
    ("<layer>.writes", "writes"),
    ("<layer>.bytes_read", "bytes read"),
    ("<layer>.bytes_written", "bytes written"),
    ("<layer>.opens", "opens"),
    ("<layer>.read_seconds", "seconds of all ranks in reads"),
    ("<layer>.write_seconds", "seconds of all ranks in writes"),
    ("<layer>.metadata_seconds", "seconds of all ranks in metadata calls"),
    ("call.<function>.calls", "calls of a function, 0 without netra's own trace"),
    ("call.<function>.failed", "calls that failed"),
    ("call.<function>.bytes", "bytes moved"),
    ("call.<function>.seconds", "seconds of all ranks"),
    ("limit.<threshold>", "a threshold that is in force"),
    ("file.ranks", "ranks that used the file (rules with `each = \"file\"`, as all that follow)"),
    ("file.critical_seconds", "seconds the slowest rank of the job spends on it"),
    ("file.reads", "reads, at the layer with most seconds"),
    ("file.writes", "writes"),
    ("file.bytes_read", "bytes read"),
    ("file.bytes_written", "bytes written"),
    ("file.small_reads", "reads below `small_request`"),
    ("file.small_writes", "writes below `small_request`"),
    ("file.opens", "opens"),
    ("file.seeks", "seeks"),
    ("file.stats", "stats"),
    ("file.syncs", "flushes"),
    ("file.misaligned", "calls off the file system's blocks"),
    ("file.read_seconds", "seconds of all ranks in reads"),
    ("file.write_seconds", "seconds of all ranks in writes"),
    ("file.metadata_seconds", "seconds of all ranks in metadata calls"),
    ("file.stripes", "Lustre stripes, 0 where that is not known"),
    ("file.different_bytes_read", "different bytes among those read, 0 without a trace"),
    ("file.strided_reads", "reads that follow the last by an equal stride, 0 without a trace"),
    ("file.strided_writes", "writes that do, 0 without a trace"),
    ("file.stripe_handovers", "stripes that passed from rank to rank, 0 without a trace or layout"),
    ("file.different_bytes_written", "different bytes among those written, 0 without a trace"),
];

/// What expressions are asked about.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    facts: &'a Facts,
    limit: &'a Thresholds,
    file: Option<FileScope<'a>>,
}

#[derive(Clone, Copy)]
struct FileScope<'a> {
    file: &'a FileFacts,
    usage: Option<&'a Usage>,
    critical: f64,
}

impl<'a> Scope<'a> {
    pub(super) fn job(facts: &'a Facts, limit: &'a Thresholds) -> Scope<'a> {
        Scope { facts, limit, file: None }
    }

    /// The same about one file, on which the slowest rank spends so long.
    pub(super) fn file(&self, file: &'a FileFacts, critical: f64, facts: &'a Facts) -> Scope<'a> {
        let io = file.layers.values().filter(|usage| usage.layer.is_io());
        let usage = io.max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Scope { facts, limit: self.limit, file: Some(FileScope { file, usage, critical }) }
    }

    /// A fact's value; what is not there is zero.
    pub(super) fn get(&self, name: &str) -> f64 {
        let found = match name.split_once('.') {
            None => self.of_job(name),
            Some(("file", name)) => self.file.and_then(|file| file.get(name, self)),
            Some(("limit", name)) => {
                self.limit.all().into_iter().find(|limit| limit.0 == name).map(|limit| limit.1)
            }
            Some(("call", rest)) => {
                rest.split_once('.').and_then(|(name, what)| self.call(name, what))
            }
            Some((layer, name)) => layer_named(layer).and_then(|layer| self.layer(layer, name)),
        };
        found.unwrap_or(0.0)
    }

    fn of_job(&self, name: &str) -> Option<f64> {
        let (facts, io) = (self.facts, &self.facts.critical);
        Some(match name {
            "processes" => facts.nprocs as f64,
            "nodes" => facts.nodes? as f64,
            "threads" => facts.threads? as f64,
            "run_seconds" => facts.run_time,
            "io_seconds" => io.seconds,
            "io_share" => facts.share(io.seconds),
            "read_seconds" => io.parts[0],
            "write_seconds" => io.parts[1],
            "metadata_seconds" => io.parts[2],
            "mean_seconds" => io.mean,
            "waiting_seconds" => io.waiting,
            "files" => facts.files.len() as f64,
            "shared_files" => facts.files.iter().filter(|file| file.is_shared()).count() as f64,
            "bytes" => facts.files.iter().map(FileFacts::bytes).sum::<u64>() as f64,
            "osts" => facts.osts.by_ost.len() as f64,
            "phases" => facts.phases.as_ref()?.job.phases.len() as f64,
            "period_seconds" => facts.phases.as_ref()?.job.period?,
            "trace_coverage" => facts.trust.coverage?,
            "dropped_events" => facts.trust.dropped.iter().map(|loss| loss.1).sum::<u64>() as f64,
            _ => return None,
        })
    }

    fn layer(&self, layer: Layer, name: &str) -> Option<f64> {
        let sum = self.facts.layer(layer);
        Some(match name {
            "files" => sum.files as f64,
            "reads" => sum.reads as f64,
            "writes" => sum.writes as f64,
            "bytes_read" => sum.bytes_read as f64,
            "bytes_written" => sum.bytes_written as f64,
            "opens" => sum.opens as f64,
            "read_seconds" => sum.rank_seconds[0],
            "write_seconds" => sum.rank_seconds[1],
            "metadata_seconds" => sum.rank_seconds[2],
            _ => return None,
        })
    }

    fn call(&self, name: &str, what: &str) -> Option<f64> {
        let found = self.facts.functions.iter().find(|one| one.function.name() == name)?;
        Some(match what {
            "calls" => found.calls as f64,
            "failed" => found.failed as f64,
            "bytes" => found.bytes as f64,
            "seconds" => found.seconds,
            _ => return None,
        })
    }
}

impl FileScope<'_> {
    fn get(&self, name: &str, scope: &Scope<'_>) -> Option<f64> {
        let traced = |file: RecordId| scope.facts.traced.as_ref()?.file(file);
        let small = |direction: Direction| {
            let usage = self.file.through(Layer::Posix)?;
            Some(usage.smaller_than(direction, scope.limit.small_request.0) as f64)
        };
        Some(match name {
            "ranks" => self.file.ranks(scope.facts.nprocs) as f64,
            "critical_seconds" => self.critical,
            "reads" => self.usage?.read.calls as f64,
            "writes" => self.usage?.write.calls as f64,
            "bytes_read" => self.usage?.read.bytes as f64,
            "bytes_written" => self.usage?.write.bytes as f64,
            "small_reads" => small(Direction::Read)?,
            "small_writes" => small(Direction::Write)?,
            "opens" => self.usage?.opens as f64,
            "seeks" => self.usage?.seeks as f64,
            "stats" => self.usage?.stats as f64,
            "syncs" => self.usage?.syncs as f64,
            "misaligned" => self.usage?.file_misaligned as f64,
            "read_seconds" => self.usage?.read.seconds,
            "write_seconds" => self.usage?.write.seconds,
            "metadata_seconds" => self.usage?.meta,
            "stripes" => self.file.layout.as_ref()?.stripe_count as f64,
            "different_bytes_read" => traced(self.file.id)?.unique[0] as f64,
            "different_bytes_written" => traced(self.file.id)?.unique[1] as f64,
            "strided_reads" => traced(self.file.id)?.steps[0].strided as f64,
            "strided_writes" => traced(self.file.id)?.steps[1].strided as f64,
            "stripe_handovers" => traced(self.file.id)?.contention?.handovers() as f64,
            _ => return None,
        })
    }
}

/// The layer as expressions write it.
fn layer_named(name: &str) -> Option<Layer> {
    COUNTED.into_iter().find(|layer| word(*layer) == name)
}

fn word(layer: Layer) -> &'static str {
    match layer {
        Layer::Posix => "posix",
        Layer::Stdio => "stdio",
        Layer::Daos => "daos",
        Layer::Dfs => "dfs",
        Layer::Mpiio => "mpiio",
        Layer::H5d => "h5d",
        Layer::Pnetcdf => "pnetcdf",
    }
}

/// Whether there is such a fact; if not, says which are like it.
pub(super) fn known(name: &str, files: bool) -> Result<(), String> {
    let shape = match name.split_once('.') {
        Some(("limit", limit)) => {
            let there = LIMITS.iter().any(|known| known().name == limit);
            return if there { Ok(()) } else { Err(format!("there is no threshold {limit:?}")) };
        }
        Some(("call", rest)) => {
            let (function, what) = rest.split_once('.').unwrap_or((rest, ""));
            if Function::ALL.iter().all(|known| known.name() != function) {
                return Err(format!("there is no function {function:?} that netra records"));
            }
            format!("call.<function>.{what}")
        }
        Some((layer, what)) if layer_named(layer).is_some() => format!("<layer>.{what}"),
        _ => name.to_owned(),
    };
    if NAMES.iter().all(|known| known.0 != shape) {
        let layer = name.split_once('.').map_or("posix", |(layer, _)| layer);
        let like = nearest(&shape).replace("<layer>", layer);
        return Err(format!("there is no fact {name:?}; do you mean {like}?"));
    }
    if name.starts_with("file.") && !files {
        return Err(format!("{name} is known only where the rule says each = \"file\""));
    }
    Ok(())
}

/// The fact whose name differs least.
fn nearest(name: &str) -> &'static str {
    NAMES
        .iter()
        .map(|known| known.0)
        .min_by_key(|known| distance(known, name))
        .unwrap_or("processes")
}

/// How many letters must be changed, added or taken away (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// A fact's value in its unit, which its name tells.
pub(super) fn value(name: &str, value: f64) -> Value {
    match () {
        () if name.ends_with("seconds") => Value::Seconds(value),
        () if name.contains("bytes") => Value::Bytes(value as u64),
        () if name.ends_with("share")
            || name.ends_with("coverage")
            || name.starts_with("limit.") =>
        {
            Value::Ratio(value)
        }
        () => Value::Count(value as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Scope, known, word};
    use crate::sample::Sample;
    use crate::{COUNTED, FunctionUse, Layer, Thresholds};
    use netra_event::Function;

    /// Every name of the table leads to a value, so that none can be misspelt.
    #[test]
    fn every_name_is_found() {
        let mut job = Sample::new(2, 10.0);
        let usage = job.posix("/lus/f", 0);
        (usage.read.calls, usage.write.calls, usage.meta) = (3, 4, 1.0);
        job.layout("/lus/f", 1 << 20, &[1, 2]);
        let mut function = FunctionUse::new(Function::Pwrite);
        function.calls = 9;
        job.job.functions.push(function);
        job.job.nodes = Some(1);
        job.job.threads = Some(2);
        let (facts, limit) = (job.facts(), Thresholds::default());
        let scope = Scope::job(&facts, &limit).file(&facts.files[0], 1.0, &facts);
        for (name, _) in NAMES {
            let name = name
                .replace("<layer>", "posix")
                .replace("<function>", "pwrite")
                .replace("<threshold>", "small_count");
            assert_eq!(known(&name, true), Ok(()), "{name}");
        }
        let value = |name: &str| scope.get(name);
        assert_eq!(value("call.pwrite.calls"), 9.0);
        assert_eq!(value("posix.writes"), 4.0);
        assert_eq!((value("file.reads"), value("file.stripes")), (3.0, 2.0));
        assert_eq!(
            (value("limit.small_count"), value("nodes"), value("threads")),
            (1000.0, 1.0, 2.0)
        );
        assert_eq!(value("metadata_seconds"), 1.0);
    }

    #[test]
    fn layers_have_words() {
        let words: std::collections::BTreeSet<&str> = COUNTED.into_iter().map(word).collect();
        assert_eq!(words.len(), COUNTED.len());
        assert_eq!(word(Layer::Mpiio), "mpiio");
    }
}
