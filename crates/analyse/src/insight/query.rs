//! What to ask for to see a finding's numbers again: rows of counters, or single calls.
//!
//! A rule names its [`Source`]s; which files and times a finding is about comes from the finding. How that is
//! spelled, as a command over a log or as SQL over a store, is the business of whoever shows it.

use std::collections::BTreeSet;

use netra_event::{Kind, Layer as Of, Module, RecordId};

use super::Finding;
use crate::{Job, Layer, is_of_mpi};

/// Where a rule's numbers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Counters of a module's records, by Darshan's names.
    Counters(Module, &'static [&'static str]),
    /// Single calls of a layer, of these kinds.
    Calls(Of, &'static [Kind]),
    /// Single calls that failed.
    Failures,
}

/// Which files rows are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// All of them.
    All,
    /// All but these, which are MPI's own.
    Except(Vec<String>),
    /// These.
    These(Vec<String>),
    /// Those whose names begin so.
    Beginning(String),
}

/// Rows that show a finding's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What rows.
    pub source: Source,
    /// Of which files.
    pub files: Files,
    /// When, in seconds since the job's start.
    pub window: Option<(f64, f64)>,
}

/// Reads and writes.
pub(super) const DATA: &[Kind] = &[Kind::Read, Kind::Write];
/// Reads and writes of the layers that are traced, one by one.
pub(super) const TRACED: &[Source] = &[
    Source::Calls(Of::Posix, DATA),
    Source::Calls(Of::Mpiio, DATA),
    Source::Calls(Of::Stdio, DATA),
];
/// What a layout is.
pub(super) const LAYOUT: Source =
    Source::Counters(Module::Lustre, &["LUSTRE_COMP_STRIPE_SIZE", "LUSTRE_COMP_STRIPE_COUNT"]);
/// Calls, bytes and seconds through POSIX.
pub(super) const POSIX: Source = Source::Counters(
    Module::Posix,
    &[
        "POSIX_OPENS",
        "POSIX_READS",
        "POSIX_WRITES",
        "POSIX_BYTES_READ",
        "POSIX_BYTES_WRITTEN",
        "POSIX_F_READ_TIME",
        "POSIX_F_WRITE_TIME",
        "POSIX_F_META_TIME",
    ],
);
/// The same through streams.
pub(super) const STDIO: Source = Source::Counters(
    Module::Stdio,
    &[
        "STDIO_OPENS",
        "STDIO_READS",
        "STDIO_WRITES",
        "STDIO_BYTES_READ",
        "STDIO_BYTES_WRITTEN",
        "STDIO_F_READ_TIME",
        "STDIO_F_WRITE_TIME",
        "STDIO_F_META_TIME",
    ],
);
/// The same through DAOS' file system.
pub(super) const DFS: Source = Source::Counters(
    Module::Dfs,
    &["DFS_READS", "DFS_WRITES", "DFS_BYTES_READ", "DFS_BYTES_WRITTEN"],
);
/// The same through MPI-IO.
pub(super) const MPIIO: Source = Source::Counters(
    Module::Mpiio,
    &[
        "MPIIO_INDEP_READS",
        "MPIIO_INDEP_WRITES",
        "MPIIO_COLL_READS",
        "MPIIO_COLL_WRITES",
        "MPIIO_NB_READS",
        "MPIIO_NB_WRITES",
        "MPIIO_BYTES_READ",
        "MPIIO_BYTES_WRITTEN",
        "MPIIO_F_READ_TIME",
        "MPIIO_F_WRITE_TIME",
        "MPIIO_F_META_TIME",
    ],
);
/// Sizes of reads through POSIX.
pub(super) const READ_SIZES: Source = Source::Counters(
    Module::Posix,
    &[
        "POSIX_READS",
        "POSIX_BYTES_READ",
        "POSIX_F_READ_TIME",
        "POSIX_SIZE_READ_0_100",
        "POSIX_SIZE_READ_100_1K",
        "POSIX_SIZE_READ_1K_10K",
        "POSIX_SIZE_READ_10K_100K",
        "POSIX_SIZE_READ_100K_1M",
        "POSIX_ACCESS1_ACCESS",
        "POSIX_ACCESS1_COUNT",
    ],
);
/// Sizes of writes through POSIX.
pub(super) const WRITE_SIZES: Source = Source::Counters(
    Module::Posix,
    &[
        "POSIX_WRITES",
        "POSIX_BYTES_WRITTEN",
        "POSIX_F_WRITE_TIME",
        "POSIX_SIZE_WRITE_0_100",
        "POSIX_SIZE_WRITE_100_1K",
        "POSIX_SIZE_WRITE_1K_10K",
        "POSIX_SIZE_WRITE_10K_100K",
        "POSIX_SIZE_WRITE_100K_1M",
        "POSIX_ACCESS1_ACCESS",
        "POSIX_ACCESS1_COUNT",
    ],
);
/// Fastest and slowest ranks through POSIX and MPI-IO.
pub(super) const EXTREMES: &[Source] = &[
    Source::Counters(
        Module::Posix,
        &[
            "POSIX_BYTES_READ",
            "POSIX_BYTES_WRITTEN",
            "POSIX_FASTEST_RANK",
            "POSIX_FASTEST_RANK_BYTES",
            "POSIX_F_FASTEST_RANK_TIME",
            "POSIX_SLOWEST_RANK",
            "POSIX_SLOWEST_RANK_BYTES",
            "POSIX_F_SLOWEST_RANK_TIME",
            "POSIX_F_READ_TIME",
            "POSIX_F_WRITE_TIME",
            "POSIX_F_META_TIME",
        ],
    ),
    Source::Counters(
        Module::Mpiio,
        &[
            "MPIIO_BYTES_READ",
            "MPIIO_BYTES_WRITTEN",
            "MPIIO_FASTEST_RANK",
            "MPIIO_FASTEST_RANK_BYTES",
            "MPIIO_F_FASTEST_RANK_TIME",
            "MPIIO_SLOWEST_RANK",
            "MPIIO_SLOWEST_RANK_BYTES",
            "MPIIO_F_SLOWEST_RANK_TIME",
            "MPIIO_F_READ_TIME",
            "MPIIO_F_WRITE_TIME",
            "MPIIO_F_META_TIME",
        ],
    ),
];

/// Files that are named one by one.
const MOST: usize = 8;

/// What a finding is asked with, from those of its rule's sources that the job has for its files.
pub(crate) fn queries(finding: &Finding, sources: &[Source], job: &Job) -> Vec<Query> {
    let about: BTreeSet<RecordId> = finding.files.iter().map(|file| file.0).collect();
    let has = sources.iter().filter(|source| is_in(source, &about, job));
    let files = match files(finding) {
        Files::All if job.aside.is_some() => {
            let own = job.names.values().filter(|path| is_of_mpi(path));
            Files::Except(own.cloned().collect())
        }
        files => files,
    };
    has.map(|&source| Query { source, files: files.clone(), window: finding.window }).collect()
}

/// Whether a job has rows of a source about these files, or about any where there are none.
fn is_in(source: &Source, about: &BTreeSet<RecordId>, job: &Job) -> bool {
    let wanted = |file: RecordId| about.is_empty() || about.contains(&file);
    let called = |layer: Of| job.functions.iter().any(|one| one.function.layer() == layer);
    let traced = |layer: Layer| {
        let mut runs = job.trace.runs().iter().filter(|run| run.layer == layer);
        runs.any(|run| job.trace.files().get(run.file as usize).is_some_and(|id| wanted(*id)))
    };
    match *source {
        Source::Counters(Module::Lustre, _) => job.layouts.iter().any(|one| wanted(one.file)),
        Source::Counters(module, _) => {
            job.usages.iter().any(|usage| usage.layer.module() == module && wanted(usage.file))
        }
        Source::Calls(Of::Posix, DATA) => traced(Layer::Posix),
        Source::Calls(Of::Mpiio, DATA) => traced(Layer::Mpiio),
        Source::Calls(Of::Stdio, DATA) => traced(Layer::Stdio),
        Source::Calls(layer, _) => called(layer) || (layer == Of::Posix && traced(Layer::Posix)),
        Source::Failures => !job.functions.is_empty(),
    }
}

fn files(finding: &Finding) -> Files {
    let mut paths: Vec<String> =
        finding.files.iter().map(|file| file.1.clone()).filter(|path| !path.is_empty()).collect();
    if paths.len() <= MOST {
        return if paths.is_empty() { Files::All } else { Files::These(paths) };
    }
    paths.sort();
    let (Some(first), Some(last)) = (paths.first(), paths.last()) else { return Files::All };
    let same = first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|pair| pair.0);
    match same.collect::<String>() {
        prefix if prefix.is_empty() => Files::All,
        prefix => Files::Beginning(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::{DATA, Files, Of, POSIX, STDIO, Source, TRACED, queries};
    use crate::insight::{Finding, RULES};
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};
    use netra_darshan::counter;
    use netra_event::{Module, RecordId};

    #[test]
    fn every_rule_names_sources_with_counters_that_exist() {
        for rule in RULES {
            assert!(!rule.sources.is_empty(), "{} names no source", rule.slug);
            for source in rule.sources {
                let Source::Counters(module, names) = source else { continue };
                let table = match module {
                    Module::Lustre => Some(&counter::lustre::TABLE),
                    module => counter::current(*module),
                };
                let table = table.unwrap_or_else(|| panic!("{}: {module}", rule.slug));
                for name in *names {
                    let known = table.int.contains(name) || table.float.contains(name);
                    assert!(known, "{}: {module} has no {name}", rule.slug);
                }
            }
        }
    }

    #[test]
    fn sources_that_a_job_has_not_are_left_out() {
        let mut job = Sample::new(4, 10.0);
        job.posix("/lus/a", 0);
        let mut finding = Finding::note("small-reads", String::new());
        finding.files = vec![(job.id("/lus/a"), "/lus/a".into())];
        let sources = [&[POSIX, STDIO], TRACED].concat();
        let found = queries(&finding, &sources, &job.job);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].source, POSIX);
        assert_eq!(found[0].files, Files::These(vec!["/lus/a".into()]));
        finding.files = vec![(RecordId(17), "/lus/other".into())];
        assert!(queries(&finding, &sources, &job.job).is_empty());
    }

    #[test]
    fn calls_of_streams_are_asked_for_where_they_were_traced() {
        let mut job = Sample::new(2, 10.0);
        let id = job.id("/lus/a");
        let file = job.job.trace.file(id);
        let (layer, direction) = (Layer::Stdio, Direction::Read);
        let (start, end) = (1.0, 2.0);
        let row = TraceRow { file, rank: 0, layer, direction, start, end, offset: 0, length: 1 };
        job.job.trace.push(row);
        let mut finding = Finding::note("phase-stragglers", String::new());
        finding.files = vec![(id, "/lus/a".into())];
        let found: Vec<Source> =
            queries(&finding, TRACED, &job.job).into_iter().map(|query| query.source).collect();
        assert_eq!(found, [Source::Calls(Of::Stdio, DATA)]);
    }

    #[test]
    fn many_files_are_asked_for_by_what_their_names_begin_with() {
        let mut job = Sample::new(4, 10.0);
        for n in 0..100 {
            job.posix(&format!("/lus/run/out.{n:03}"), n);
        }
        let mut finding = Finding::note("file-per-process", String::new());
        let paths = (0..100).map(|n| format!("/lus/run/out.{n:03}"));
        finding.files = paths.map(|path| (job.id(&path), path)).collect();
        let found = queries(&finding, &[POSIX], &job.job);
        assert_eq!(found[0].files, Files::Beginning("/lus/run/out.0".into()));
    }
}
