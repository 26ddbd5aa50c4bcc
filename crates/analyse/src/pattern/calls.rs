//! Calls as patterns look at them, mostly those of one file through one layer: several times, by direction, by rank and by time.
//!
//! Reading packed calls takes longer than most of what is done with them, so they are unpacked once and kept
//! while they are looked at. Where there are too many for that they are read anew each time: memory has a limit,
//! and what is found is the same. Calls that were never packed are looked at where they are.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use super::radix;
use crate::trace::sortable;
use crate::{Direction, Run, Trace, TraceRow};

/// Calls that are kept unpacked: 48 MiB of them.
const KEPT: usize = 1 << 20;

/// The calls of some runs.
pub(super) struct Calls<'a> {
    trace: &'a Trace,
    runs: Vec<&'a Run>,
    kept: Option<Kept<'a>>,
}

/// Unpacked calls.
struct Kept<'a> {
    rows: Cow<'a, [TraceRow]>,
    /// Which of them are those of each run.
    ranges: Vec<Range<usize>>,
    /// All of the runs' by their starts, once somebody has asked.
    order: OnceLock<Vec<u32>>,
}

impl<'a> Calls<'a> {
    pub(super) fn of(trace: &'a Trace, runs: Vec<&'a Run>) -> Calls<'a> {
        Calls::keeping(KEPT, trace, runs)
    }

    /// Unpacks calls if there are no more than this.
    fn keeping(most: usize, trace: &'a Trace, runs: Vec<&'a Run>) -> Calls<'a> {
        let many: usize = runs.iter().map(|run| run.calls as usize).sum();
        let kept = (many <= most).then(|| match trace.plain() {
            Some(rows) => Kept::plain(rows, &runs),
            None => Kept::unpacked(trace, &runs, many),
        });
        Calls { trace, runs, kept }
    }

    pub(super) fn runs(&self) -> &[&'a Run] {
        &self.runs
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.calls as usize).sum()
    }

    /// All calls, run by run.
    pub(super) fn each(&self, mut see: impl FnMut(&TraceRow)) {
        (0..self.runs.len()).for_each(|at| self.each_of_run(at, &mut see));
    }

    /// Those of one direction, run by run.
    pub(super) fn each_that(&self, way: Direction, mut see: impl FnMut(&TraceRow)) {
        let wanted = (0..self.runs.len()).filter(|at| self.runs[*at].direction == way);
        wanted.for_each(|at| self.each_of_run(at, &mut see));
    }

    /// Those of one of [`Calls::runs`].
    pub(super) fn each_of_run(&self, at: usize, see: &mut impl FnMut(&TraceRow)) {
        match &self.kept {
            Some(kept) => kept.run(at).iter().for_each(see),
            None => self.trace.calls(self.runs[at]).for_each(|row| see(&row)),
        }
    }

    /// Which of [`Calls::runs`] are whose, rank after rank, those of a rank as they stand.
    pub(super) fn by_rank(&self) -> Vec<Vec<usize>> {
        self.ranks((0..self.runs.len()).collect())
    }

    /// The same of those that go one direction.
    pub(super) fn by_rank_that(&self, way: Direction) -> Vec<Vec<usize>> {
        let wanted = (0..self.runs.len()).filter(|at| self.runs[*at].direction == way);
        self.ranks(wanted.collect())
    }

    fn ranks(&self, mut wanted: Vec<usize>) -> Vec<Vec<usize>> {
        wanted.sort_by_key(|at| self.runs[*at].rank);
        let same = |a: &usize, b: &usize| self.runs[*a].rank == self.runs[*b].rank;
        wanted.chunk_by(same).map(<[usize]>::to_vec).collect()
    }

    /// The calls of some runs by their starts; equal ones in the order of the runs.
    pub(super) fn each_in_order_of(&self, runs: &[usize], mut see: impl FnMut(&TraceRow)) {
        match (runs, &self.kept) {
            ([one], _) => self.each_of_run(*one, &mut see),
            (several, Some(kept)) => {
                let all = several.iter().flat_map(|at| kept.run(*at));
                let mut rows: Vec<&TraceRow> = all.collect();
                rows.sort_by_key(|row| sortable(row.start));
                rows.into_iter().for_each(see);
            }
            (several, None) => {
                let runs = several.iter().map(|at| self.runs[*at]);
                self.trace.in_order(runs).for_each(|row| see(&row));
            }
        }
    }

    /// All calls by their starts, until somebody has seen enough; equal ones in the order of the runs.
    pub(super) fn each_in_order(&self, mut see: impl FnMut(&TraceRow) -> ControlFlow<()>) {
        let _seen_enough = match &self.kept {
            Some(kept) => kept.order().iter().try_for_each(|at| see(&kept.rows[*at as usize])),
            None => self.trace.in_order(self.runs.iter().copied()).try_for_each(|row| see(&row)),
        };
    }
}

impl<'a> Kept<'a> {
    fn plain(rows: &'a [TraceRow], runs: &[&Run]) -> Kept<'a> {
        let ranges = runs.iter().map(|run| run.range()).collect();
        Kept { rows: Cow::Borrowed(rows), ranges, order: OnceLock::new() }
    }

    fn unpacked(trace: &Trace, runs: &[&Run], many: usize) -> Kept<'a> {
        let mut rows = Vec::with_capacity(many);
        let mut ranges = Vec::with_capacity(runs.len());
        for run in runs {
            let first = rows.len();
            rows.extend(trace.calls(run));
            ranges.push(first..rows.len());
        }
        Kept { rows: Cow::Owned(rows), ranges, order: OnceLock::new() }
    }

    fn run(&self, at: usize) -> &[TraceRow] {
        &self.rows[self.ranges[at].clone()]
    }

    fn order(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let many = self.ranges.iter().map(Range::len).sum();
            let mut order: Vec<(u64, u32)> = Vec::with_capacity(many);
            for range in &self.ranges {
                let starts = self.rows[range.clone()].iter().map(|row| sortable(row.start));
                // There are no more of them than are kept.
                order.extend(starts.zip(range.start as u32..));
            }
            radix::sort_by_key(&mut order, |one| one.0);
            order.into_iter().map(|one| one.1).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::Calls;
    use crate::pattern::random;
    use crate::{Direction, TraceRow};
    use proptest::prelude::*;

    fn seen(calls: &Calls<'_>) -> Vec<Vec<TraceRow>> {
        let mut all = vec![Vec::new(); 4];
        calls.each(|row| all[0].push(*row));
        for way in Direction::BOTH {
            calls.each_that(way, |row| all[1].push(*row));
            for runs in calls.by_rank_that(way) {
                calls.each_in_order_of(&runs, |row| all[2].push(*row));
            }
        }
        calls.each_in_order(|row| {
            all[3].push(*row);
            if all[3].len() < 30 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        all
    }

    proptest! {
        /// What is kept and what is read anew are the same calls in the same order.
        #[test]
        fn calls_are_the_same_kept_or_not(trace in random::trace()) {
            let runs = || trace.runs().iter().collect::<Vec<_>>();
            let kept = Calls::keeping(usize::MAX, &trace, runs());
            let anew = Calls::keeping(0, &trace, runs());
            prop_assert!(kept.kept.is_some() && (anew.kept.is_none() || trace.is_empty()));
            prop_assert_eq!(kept.len(), trace.len());
            let all = seen(&kept);
            prop_assert_eq!(&all, &seen(&anew));
            prop_assert_eq!(&all[0], &trace.rows().collect::<Vec<_>>());
            let in_order: Vec<TraceRow> = trace.in_order(trace.runs()).take(30).collect();
            prop_assert_eq!(&all[3], &in_order);
        }
    }
}
