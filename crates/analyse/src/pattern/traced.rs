//! What the trace says about each file.

use std::collections::{BTreeMap, BTreeSet};

use netra_event::RecordId;

use super::block::{CommonBlocks, common_blocks};
use super::calls::Calls;
use super::conflict::{Conflicts, Grain, conflicts};
use super::cover::{Contested, Cover, Ranges, bytes, used_again};
use super::parallel;
use super::step::{Steps, steps};
use super::stripe::{SharedStripes, shared_stripes};
use super::visible::Visible;
use crate::{Commit, Direction, Job, Layer, Run, Thresholds};

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
    /// Uses of the same stripes by several ranks, where there are several and the layout or block size is known.
    pub contention: Option<Contention>,
    /// How ranks go through it when they read and when they write.
    pub steps: [Steps; 2],
    /// What MPI-IO was asked to do, where that was traced too.
    pub mpiio: Option<AboveTrace>,
    /// Blocks that everybody reads.
    pub common: CommonBlocks,
    /// Stripes that several ranks write, where the layout or block size is known.
    pub stripes: Option<SharedStripes>,
}

/// Uses of the same stripes by several ranks, one after another or at the same time. Each stripe has one lock, which goes from rank to rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Bytes in a stripe.
    pub stripe_size: u64,
    /// Conflicts of calls split at stripes: bytes are those of whole stripes.
    pub conflicts: Conflicts,
}

impl Contention {
    /// How often a stripe was used by another rank than the one that wrote or read it before.
    #[must_use]
    pub fn handovers(&self) -> u64 {
        let Conflicts { raw, war, waw, .. } = &self.conflicts;
        (raw.bytes + war.bytes + waw.bytes) / self.stripe_size.max(1)
    }

    /// How often that was while the other was still at it.
    #[must_use]
    pub fn contested(&self) -> u64 {
        self.conflicts.racing() / self.stripe_size.max(1)
    }
}

/// What MPI-IO was asked to do to one file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AboveTrace {
    /// How ranks go through it when they read and when they write.
    pub steps: [Steps; 2],
    /// Uses of the same bytes; not known where file views move offsets, or the trace has none.
    pub conflicts: Option<Conflicts>,
    /// Uses of the same stripes; not known there either.
    pub contention: Option<Contention>,
}

/// What the trace says.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// Files with traced calls, by record.
    pub files: Vec<FileTrace>,
}

impl Traced {
    /// Looks at every file; `None` where nothing was traced through POSIX or MPI-IO.
    #[must_use]
    pub fn of(job: &Job, limit: &Thresholds) -> Option<Traced> {
        let mut runs: Vec<&Run> = job.trace.runs().iter().collect();
        if !job.trace.has(Layer::Posix) && !job.trace.has(Layer::Mpiio) {
            return None;
        }
        // Stable: the runs of a file stay in the order of the trace.
        runs.sort_by_key(|run| run.file);
        let stripes = stripe_sizes(job);
        let each: Vec<&[&Run]> = runs.chunk_by(|a, b| a.file == b.file).collect();
        let mut commits = job.commits.clone();
        commits.sort_by_key(|commit| commit.file);
        let viewed: BTreeSet<RecordId> =
            job.usages.iter().filter(|usage| usage.views > 0).map(|usage| usage.file).collect();
        let known = Known { job, commits: &commits, stripes: &stripes, viewed: &viewed, limit };
        let mut files = parallel::map(&each, job.trace.len(), |runs| known.one(runs));
        files.sort_by_key(|file| file.file);
        Some(Traced { files })
    }

    /// A file by its record.
    #[must_use]
    pub fn file(&self, id: RecordId) -> Option<&FileTrace> {
        let at = self.files.binary_search_by_key(&id, |file| file.file).ok()?;
        self.files.get(at)
    }
}

/// What is known besides the calls of a file.
#[derive(Clone, Copy)]
struct Known<'a> {
    job: &'a Job,
    commits: &'a [Commit],
    stripes: &'a BTreeMap<RecordId, u64>,
    /// Files with views.
    viewed: &'a BTreeSet<RecordId>,
    limit: &'a Thresholds,
}

impl Known<'_> {
    fn one(&self, runs: &[&Run]) -> FileTrace {
        let trace = &self.job.trace;
        let file = trace.files()[runs[0].file as usize];
        let posix = Calls::of(trace, of_layer(runs, Layer::Posix));
        let [read, written] = Direction::BOTH.map(|way| cover(&posix, way, Grain::BYTE));
        let visible = Visible::of(of_file(self.commits, file));
        let again = used_again(&read.once, &written.once, &written.twice);
        let stripe = self.stripes.get(&file).copied().filter(|size| *size > 0);
        FileTrace {
            file,
            bytes: [read.all, written.all],
            unique: [bytes(&read.once), bytes(&written.once)],
            conflicts: conflicts(&posix, Grain::BYTE, &again, visible.as_ref(), self.limit),
            contention: stripe.and_then(|size| self.contention(&posix, size)),
            steps: Direction::BOTH.map(|way| steps(&posix, way)),
            stripes: stripe.map(|size| shared_stripes(&posix, size)),
            common: common_blocks(&posix, self.job.who.ranks, self.limit),
            mpiio: self.above(file, of_layer(runs, Layer::Mpiio), stripe),
        }
    }

    fn above(&self, file: RecordId, runs: Vec<&Run>, stripe: Option<u64>) -> Option<AboveTrace> {
        if runs.is_empty() {
            return None;
        }
        let calls = Calls::of(&self.job.trace, runs);
        let steps = Direction::BOTH.map(|way| steps(&calls, way));
        // Older traces do not know offsets, and say zero.
        let mut placed = false;
        calls.each(|row| placed |= row.offset > 0);
        if self.viewed.contains(&file) || !placed {
            return Some(AboveTrace { steps, ..AboveTrace::default() });
        }
        let again = contested(&calls, Grain::BYTE);
        Some(AboveTrace {
            steps,
            conflicts: Some(conflicts(&calls, Grain::BYTE, &again, None, self.limit)),
            contention: stripe.and_then(|size| self.contention(&calls, size)),
        })
    }

    /// One rank has nobody to contend with.
    fn contention(&self, calls: &Calls<'_>, stripe_size: u64) -> Option<Contention> {
        let first = calls.runs().first()?;
        calls.runs().iter().find(|run| run.rank != first.rank)?;
        let grain = Grain(stripe_size);
        let again = contested(calls, grain);
        let conflicts = conflicts(calls, grain, &again, None, self.limit);
        Some(Contention { stripe_size, conflicts })
    }
}

fn of_layer<'a>(runs: &[&'a Run], layer: Layer) -> Vec<&'a Run> {
    runs.iter().copied().filter(|run| run.layer == layer).collect()
}

/// Those of one file, among commits that are ordered by file.
fn of_file(commits: &[Commit], file: RecordId) -> &[Commit] {
    let first = commits.partition_point(|commit| commit.file < file);
    let behind = commits.partition_point(|commit| commit.file <= file);
    commits.get(first..behind).unwrap_or(&[])
}

/// What calls of one direction touch.
struct Covered {
    /// Bytes that they moved, however often.
    all: u64,
    once: Ranges,
    /// What more than one of them touched.
    twice: Ranges,
}

fn cover(calls: &Calls<'_>, way: Direction, grain: Grain) -> Covered {
    let (mut cover, mut all) = (Cover::default(), 0_u64);
    calls.each_that(way, |row| {
        all = all.saturating_add(row.length);
        cover.add(&grain.widen(row));
    });
    let (once, twice) = cover.ranges();
    Covered { all, once, twice }
}

/// Bytes that some calls write and read, or write twice.
pub(super) fn contested(calls: &Calls<'_>, grain: Grain) -> Ranges {
    let mut contested = Contested::default();
    calls.each(|row| contested.add(&grain.widen(row)));
    contested.ranges()
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
