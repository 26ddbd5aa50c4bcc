//! The sizes of calls: exact where calls were traced, else the most common ones that records keep, else
//! bins; and which of these it is.

use std::collections::HashMap;

use crate::{Direction, Job, Layer};

/// How sizes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeBasis {
    /// Every call was traced.
    Traced,
    /// The four most common sizes of each record, reads and writes together.
    Common,
    /// Only bins.
    Bins,
}

impl SizeBasis {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SizeBasis::Traced => "traced",
            SizeBasis::Common => "common",
            SizeBasis::Bins => "bins",
        }
    }
}

/// The most common sizes of POSIX calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// How they are known.
    pub basis: SizeBasis,
    /// Size and number of reads, most common first; where reads and writes are not told apart,
    /// both.
    pub read: Vec<(u64, u64)>,
    /// The same of writes.
    pub write: Vec<(u64, u64)>,
}

/// Sizes that are kept.
const MOST: usize = 16;

/// Looks at a job's POSIX calls; `None` without any.
pub(crate) fn sizes(job: &Job) -> Option<Sizes> {
    if job.trace.has(Layer::Posix) {
        let [read, write] = Direction::BOTH.map(|direction| traced(job, direction));
        return Some(Sizes { basis: SizeBasis::Traced, read, write });
    }
    let posix = || job.usages.iter().filter(|usage| usage.layer == Layer::Posix);
    if posix().all(|usage| usage.read.calls + usage.write.calls == 0) {
        return None;
    }
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for &(size, calls) in posix().flat_map(|usage| &usage.common).filter(|common| common.1 > 0) {
        *counts.entry(size).or_default() += calls;
    }
    let both = most(counts);
    let basis = if both.is_empty() { SizeBasis::Bins } else { SizeBasis::Common };
    Some(Sizes { basis, read: both.clone(), write: both })
}

fn traced(job: &Job, direction: Direction) -> Vec<(u64, u64)> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let runs = job.trace.runs().iter();
    for run in runs.filter(|run| run.layer == Layer::Posix && run.direction == direction) {
        if run.lengths.0 == run.lengths.1 {
            *counts.entry(run.lengths.0).or_default() += u64::from(run.calls);
            continue;
        }
        // Calls of a run are mostly of one size: it is looked up when it changes.
        let (mut size, mut calls) = (0, 0);
        for row in job.trace.calls(run) {
            if row.length != size && calls > 0 {
                *counts.entry(size).or_default() += calls;
                calls = 0;
            }
            (size, calls) = (row.length, calls + 1);
        }
        *counts.entry(size).or_default() += calls;
    }
    most(counts)
}

/// The most common, of equals the larger.
fn most(counts: HashMap<u64, u64>) -> Vec<(u64, u64)> {
    let mut sizes: Vec<(u64, u64)> = counts.into_iter().collect();
    sizes.sort_unstable_by_key(|&(size, calls)| std::cmp::Reverse((calls, size)));
    sizes.truncate(MOST);
    sizes
}

#[cfg(test)]
mod tests {
    use super::{SizeBasis, sizes};
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    #[test]
    fn a_trace_tells_exactly_and_records_the_most_common() {
        let mut job = Sample::new(1, 10.0);
        assert_eq!(sizes(&job.job), None);
        let usage = job.posix("/f", 0);
        usage.read.calls = 10;
        assert_eq!(sizes(&job.job).unwrap().basis, SizeBasis::Bins);
        job.job.usages[0].common[0] = (4096, 9);
        let common = sizes(&job.job).unwrap();
        assert_eq!((common.basis, common.read), (SizeBasis::Common, vec![(4096, 9)]));
        let id = job.id("/f");
        let file = job.job.trace.file(id);
        for (at, length) in [10, 10, 20, 10].into_iter().enumerate() {
            let (layer, direction, start) = (Layer::Posix, Direction::Read, at as f64);
            job.job.trace.push(TraceRow {
                file,
                rank: 0,
                layer,
                direction,
                start,
                end: start,
                offset: 0,
                length,
            });
        }
        let traced = sizes(&job.job).unwrap();
        assert_eq!((traced.basis, traced.read), (SizeBasis::Traced, vec![(10, 3), (20, 1)]));
        assert!(traced.write.is_empty());
    }
}
