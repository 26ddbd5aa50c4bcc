//! What the trace says about each file.

use std::collections::BTreeMap;

use netra_event::RecordId;

use super::block::{CommonBlocks, common_blocks};
use super::conflict::{Conflicts, conflicts};
use super::cover::{Cover, Ranges, bytes, common, union};
use super::parallel;
use super::stripe::{SharedStripes, shared_stripes};
use super::visible::Visible;
use crate::{Commit, Direction, Job, Layer, Run, Thresholds, Trace};

/// One traced file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileTrace {
    /// Its record.
    pub file: RecordId,
    /// Traced bytes, read and written.
    pub bytes: [u64; 2],
    /// Different bytes among them.
    pub unique: [u64; 2],
    /// Uses of the same bytes by several ranks.
    pub conflicts: Conflicts,
    /// Blocks that everybody reads.
    pub common: CommonBlocks,
    /// Stripes that several ranks write, where the layout or block size is known.
    pub stripes: Option<SharedStripes>,
}

/// What the trace of POSIX calls says.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// Files with traced POSIX calls, by record.
    pub files: Vec<FileTrace>,
    /// Traced bytes as a share of counted bytes, both through POSIX.
    pub coverage: f64,
}

impl Traced {
    /// Looks at every file; `None` where nothing was traced through POSIX.
    #[must_use]
    pub fn of(job: &Job, limit: &Thresholds) -> Option<Traced> {
        let mut runs: Vec<&Run> =
            job.trace.runs().iter().filter(|run| run.layer == Layer::Posix).collect();
        if runs.is_empty() {
            return None;
        }
        // Stable: the runs of a file stay in the order of the trace.
        runs.sort_by_key(|run| run.file);
        let stripes = stripe_sizes(job);
        let each: Vec<&[&Run]> = runs.chunk_by(|a, b| a.file == b.file).collect();
        let mut commits = job.commits.clone();
        commits.sort_by_key(|commit| commit.file);
        let mut files = parallel::map(&each, |runs| one(job, runs, &commits, &stripes, limit));
        files.sort_by_key(|file| file.file);
        let traced: u64 = files.iter().map(|file| file.bytes[0] + file.bytes[1]).sum();
        let posix = job.usages.iter().filter(|usage| usage.layer == Layer::Posix);
        let counted: u64 = posix.map(|usage| usage.bytes()).sum();
        Some(Traced { files, coverage: traced as f64 / counted.max(1) as f64 })
    }

    /// A file by its record.
    #[must_use]
    pub fn file(&self, id: RecordId) -> Option<&FileTrace> {
        let at = self.files.binary_search_by_key(&id, |file| file.file).ok()?;
        self.files.get(at)
    }
}

fn one(
    job: &Job,
    runs: &[&Run],
    commits: &[Commit],
    stripes: &BTreeMap<RecordId, u64>,
    limit: &Thresholds,
) -> FileTrace {
    let trace = &job.trace;
    let file = trace.files()[runs[0].file as usize];
    let of = |direction: Direction| -> Vec<&Run> {
        runs.iter().copied().filter(|run| run.direction == direction).collect()
    };
    let (reads, writes) = (of(Direction::Read), of(Direction::Write));
    let sum = |runs: &[&Run]| -> u64 {
        runs.iter()
            .flat_map(|run| trace.calls(run))
            .fold(0, |sum, row| sum.saturating_add(row.length))
    };
    let (read, written) = (cover(trace, &reads).0, cover(trace, &writes));
    FileTrace {
        file,
        bytes: [sum(&reads), sum(&writes)],
        unique: [bytes(&read), bytes(&written.0)],
        conflicts: conflicts(
            trace,
            runs,
            &used_again(&read, &written),
            Visible::of(of_file(commits, file)).as_ref(),
            limit,
        ),
        stripes: stripes.get(&file).map(|&size| shared_stripes(trace, &writes, size)),
        common: common_blocks(trace, &reads, job.nprocs, limit),
    }
}

/// Those of one file, among commits that are ordered by file.
fn of_file(commits: &[Commit], file: RecordId) -> &[Commit] {
    let first = commits.partition_point(|commit| commit.file < file);
    let behind = commits.partition_point(|commit| commit.file <= file);
    commits.get(first..behind).unwrap_or(&[])
}

fn cover(trace: &Trace, runs: &[&Run]) -> (Ranges, Ranges) {
    let mut cover = Cover::default();
    for row in runs.iter().flat_map(|run| trace.calls(run)) {
        cover.add(&row);
    }
    cover.ranges()
}

/// Bytes that are written and read, or written twice.
fn used_again(read: &Ranges, written: &(Ranges, Ranges)) -> Ranges {
    union(&written.1, &common(&written.0, read))
}

/// The same of some runs.
#[cfg(test)]
pub(super) fn contested(trace: &Trace, runs: &[&Run]) -> Ranges {
    let of = |direction: Direction| -> Vec<&Run> {
        runs.iter().copied().filter(|run| run.direction == direction).collect()
    };
    used_again(&cover(trace, &of(Direction::Read)).0, &cover(trace, &of(Direction::Write)))
}

/// Stripe sizes of files on Lustre, block sizes of files on GPFS.
fn stripe_sizes(job: &Job) -> BTreeMap<RecordId, u64> {
    let mut sizes: BTreeMap<RecordId, u64> = BTreeMap::new();
    for usage in
        job.usages.iter().filter(|usage| usage.layer == Layer::Posix && usage.file_alignment > 0)
    {
        let kind = job
            .names
            .get(&usage.file)
            .and_then(|path| job.mount_of(path))
            .map(|mount| mount.kind.as_str());
        if kind == Some("gpfs") {
            sizes.insert(usage.file, usage.file_alignment);
        }
    }
    sizes.extend(job.layouts.iter().map(|layout| (layout.file, layout.stripe_size)));
    sizes
}
