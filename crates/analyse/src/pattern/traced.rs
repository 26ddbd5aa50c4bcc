//! What the trace says about each file.

use std::collections::BTreeMap;

use netra_event::RecordId;

use super::block::{CommonBlocks, common_blocks};
use super::conflict::{Conflicts, conflicts};
use super::stripe::{SharedStripes, shared_stripes};
use super::unique::covered;
use crate::{Direction, Job, Layer, Thresholds, Trace, TraceRow};

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
        let trace = &job.trace;
        // Rows are looked at through their numbers: copies of ten million would not fit.
        let mut order: Vec<u32> =
            (0..trace.len() as u32).filter(|&at| !trace.row(at as usize).mpiio).collect();
        if order.is_empty() {
            return None;
        }
        let file = |at: u32| trace.row(at as usize).file;
        order.sort_by_key(|&at| file(at));
        let stripes = stripe_sizes(job);
        let mut files = Vec::new();
        for rows in order.chunk_by_mut(|&a, &b| file(a) == file(b)) {
            let id = trace.files()[file(rows[0]) as usize];
            let stripe = stripes.get(&id).copied();
            files.push(one(id, &mut Rows { trace, numbers: rows }, stripe, job.nprocs, limit));
        }
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

/// Some rows of a trace, in an order of their own.
pub(super) struct Rows<'a> {
    pub(super) trace: &'a Trace,
    pub(super) numbers: &'a mut [u32],
}

impl Rows<'_> {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = TraceRow> + '_ {
        self.numbers.iter().map(|&at| self.trace.row(at as usize))
    }

    /// Puts them into the order of a key; equal ones stay as they are.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&TraceRow) -> K) {
        let trace = self.trace;
        self.numbers.sort_by_key(|&at| key(&trace.row(at as usize)));
    }

    /// Puts them into the order of time, and of the trace where times are equal.
    pub(super) fn sort_by_start(&mut self) {
        let trace = self.trace;
        let start = |at: u32| trace.row(at as usize).start;
        self.numbers.sort_by(|&a, &b| start(a).total_cmp(&start(b)).then(a.cmp(&b)));
    }

    /// Reads and writes, each by itself.
    fn by_direction(&mut self) -> (Rows<'_>, Rows<'_>) {
        self.sort_by_key(|row| row.direction);
        let trace = self.trace;
        let reads =
            self.numbers.partition_point(|&at| trace.row(at as usize).direction == Direction::Read);
        let (reads, writes) = self.numbers.split_at_mut(reads);
        (Rows { trace, numbers: reads }, Rows { trace, numbers: writes })
    }
}

fn one(
    file: RecordId,
    rows: &mut Rows<'_>,
    stripe: Option<u64>,
    nprocs: u64,
    limit: &Thresholds,
) -> FileTrace {
    let conflicts = conflicts(rows, limit);
    let (mut reads, mut writes) = rows.by_direction();
    let sum = |rows: &Rows<'_>| rows.iter().map(|row| row.length).sum::<u64>();
    FileTrace {
        file,
        bytes: [sum(&reads), sum(&writes)],
        unique: [covered(&mut reads), covered(&mut writes)],
        conflicts,
        stripes: stripe.map(|size| shared_stripes(&writes, size)),
        common: common_blocks(&mut reads, nprocs, limit),
    }
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
