//! What the trace says about each file.

use std::collections::BTreeMap;

use netra_event::RecordId;

use super::block::{CommonBlocks, common_blocks};
use super::conflict::{Conflicts, conflicts};
use super::stripe::{SharedStripes, shared_stripes};
use super::unique::covered;
use crate::{Direction, Job, Layer, Thresholds, TraceRow};

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
    /// Files with traced POSIX calls.
    pub files: Vec<FileTrace>,
    /// Traced bytes as a share of counted bytes, both through POSIX.
    pub coverage: f64,
}

impl Traced {
    /// Looks at every file; `None` where nothing was traced through POSIX.
    #[must_use]
    pub fn of(job: &Job, limit: &Thresholds) -> Option<Traced> {
        let trace = &job.trace;
        let mut order: Vec<u32> =
            (0..trace.len() as u32).filter(|&at| !trace.row(at as usize).mpiio).collect();
        if order.is_empty() {
            return None;
        }
        order.sort_by_key(|&at| trace.row(at as usize).file);
        let stripes = stripe_sizes(job);
        let mut files = Vec::new();
        let mut rows: Vec<TraceRow> = Vec::new();
        for group in
            order.chunk_by(|&a, &b| trace.row(a as usize).file == trace.row(b as usize).file)
        {
            rows.clear();
            rows.extend(group.iter().map(|&at| trace.row(at as usize)));
            let id = trace.files()[rows[0].file as usize];
            files.push(one(id, &mut rows, stripes.get(&id).copied(), job.nprocs, limit));
        }
        let traced: u64 = files.iter().map(|file| file.bytes[0] + file.bytes[1]).sum();
        let posix = job.usages.iter().filter(|usage| usage.layer == Layer::Posix);
        let counted: u64 = posix.map(|usage| usage.bytes()).sum();
        Some(Traced { files, coverage: traced as f64 / counted.max(1) as f64 })
    }

    /// A file by its record.
    #[must_use]
    pub fn file(&self, id: RecordId) -> Option<&FileTrace> {
        self.files.iter().find(|file| file.file == id)
    }
}

fn one(
    file: RecordId,
    rows: &mut [TraceRow],
    stripe: Option<u64>,
    nprocs: u64,
    limit: &Thresholds,
) -> FileTrace {
    let conflicts = conflicts(rows, limit);
    let of = |direction| rows.iter().copied().filter(move |row| row.direction == direction);
    let mut reads: Vec<TraceRow> = of(Direction::Read).collect();
    let writes: Vec<TraceRow> = of(Direction::Write).collect();
    let sum = |rows: &[TraceRow]| rows.iter().map(|row| row.length).sum::<u64>();
    let unique = |rows: &[TraceRow]| {
        covered(&mut rows.iter().map(|row| (row.offset, row.stop())).collect::<Vec<_>>())
    };
    FileTrace {
        file,
        bytes: [sum(&reads), sum(&writes)],
        unique: [unique(&reads), unique(&writes)],
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
