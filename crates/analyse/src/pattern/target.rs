//! How many Lustre targets work at the same time: stripes help only if calls go to different ones at once.
//!
//! Looked at are evenly spaced moments of the traced time. A call counts at the moments it spans, for each
//! target that its bytes lie on; calls are split at stripes. The more moments, the nearer the answer is
//! to the time-weighted one, and short calls count as rarely as they deserve.

use std::collections::{BTreeMap, BTreeSet};

use netra_event::RecordId;

use crate::{Job, Layer, Layout, TraceRow};

/// Targets at work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OstActivity {
    /// The widest layout among traced files.
    pub stripes: u64,
    /// Targets that any call went to.
    pub used: u64,
    /// Median of the targets at work, over the moments with any.
    pub median: f64,
    /// The most at any moment.
    pub most: u64,
}

/// Moments that are looked at.
const MOMENTS: usize = 4096;
/// Stripes of one call that are followed: behind them the targets repeat anyway.
const STRIPES: u64 = 4096;

/// Looks at the traced POSIX calls of files whose layout is known; `None` without any.
pub(crate) fn activity(job: &Job) -> Option<OstActivity> {
    let layouts: BTreeMap<RecordId, &Layout> = job
        .layouts
        .iter()
        .filter(|layout| layout.stripe_size > 0 && !layout.osts.is_empty())
        .map(|layout| (layout.file, layout))
        .collect();
    let of: Vec<Option<&Layout>> =
        job.trace.files().iter().map(|file| layouts.get(file).copied()).collect();
    let runs = || {
        let posix = job.trace.runs().iter().filter(|run| run.layer == Layer::Posix);
        posix.filter_map(|run| Some((run, of.get(run.file as usize).copied().flatten()?)))
    };
    let start = runs()
        .filter_map(|(run, _)| job.trace.calls(run).next())
        .map(|row| row.start)
        .fold(f64::INFINITY, f64::min);
    let end = runs().map(|(run, _)| run.end()).fold(f64::NEG_INFINITY, f64::max);
    if !start.is_finite() || end <= start {
        return None;
    }
    let step = (end - start) / MOMENTS as f64;
    let mut moments: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); MOMENTS];
    let mut used: BTreeSet<u64> = BTreeSet::new();
    let mut stripes = 0;
    for (run, layout) in runs() {
        stripes = stripes.max(layout.osts.len() as u64);
        for row in job.trace.calls(run).filter(|row| row.length > 0) {
            // The moments lie in the middle of their steps.
            let first = ((row.start - start) / step - 0.5).ceil().max(0.0) as usize;
            let behind = (((row.end - start) / step - 0.5).ceil().max(0.0) as usize).min(MOMENTS);
            let spans = first < behind;
            if !spans && used.len() as u64 >= stripes.max(layout.osts.len() as u64) {
                continue;
            }
            for ost in targets(&row, layout) {
                used.insert(ost);
                moments.get_mut(first..behind).into_iter().flatten().for_each(|at| {
                    at.insert(ost);
                });
            }
        }
    }
    let mut active: Vec<f64> =
        moments.iter().filter(|at| !at.is_empty()).map(|at| at.len() as f64).collect();
    Some(OstActivity {
        stripes,
        used: used.len() as u64,
        most: active.iter().copied().fold(0.0, f64::max) as u64,
        median: super::median(&mut active)?,
    })
}

/// The targets that a call's bytes lie on, each once.
fn targets<'a>(row: &TraceRow, layout: &'a Layout) -> impl Iterator<Item = u64> + use<'a> {
    let first = row.offset / layout.stripe_size;
    let last = (row.stop() - 1) / layout.stripe_size;
    let round = layout.osts.len() as u64;
    let count = (last - first + 1).min(round).min(STRIPES);
    (first..first + count)
        .filter_map(move |stripe| layout.osts.get(usize::try_from(stripe % round).ok()?).copied())
}

#[cfg(test)]
mod tests {
    use super::activity;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    #[test]
    fn calls_are_split_at_stripes_and_counted_while_they_last() {
        let mut job = Sample::new(2, 10.0);
        job.layout("/lus/f", 100, &[7, 8, 9, 4]);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        let mut call = |rank, start: f64, end: f64, offset, length| {
            let (layer, direction) = (Layer::Posix, Direction::Write);
            job.job.trace.push(TraceRow {
                file,
                rank,
                layer,
                direction,
                start,
                end,
                offset,
                length,
            });
        };
        // Six seconds on two targets, of which two seconds on a third as well; then one alone.
        call(0, 0.0, 6.0, 50, 100);
        call(1, 2.0, 4.0, 200, 100);
        call(0, 6.0, 8.0, 0, 1);
        let found = activity(&job.job).unwrap();
        assert_eq!((found.stripes, found.used, found.most, found.median), (4, 3, 3, 2.0));
    }

    #[test]
    fn nothing_is_known_without_layouts() {
        assert_eq!(activity(&Sample::new(2, 10.0).job), None);
    }
}
