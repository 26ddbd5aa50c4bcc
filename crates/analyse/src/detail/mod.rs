//! Level of detail: what a picture of a job needs, in a size that does not grow with the job.
//!
//! A [`Timeline`] says when each layer was busy, a [`Grid`] which ranks were, and [`Marks`] hold
//! the single calls, each for itself while there are few and gathered when there are many.
//! [`Conflicts`] are the places where ranks meet, [`Targets`] and [`Nodes`] what Lustre targets and
//! nodes did over time.
//! Whatever is gathered keeps its extremes: one busy rank among 100,000 stays as bright as it
//! is, and the longest call as long.

mod conflict;
mod grid;
mod mark;
mod node;
mod opening;
mod runs;
mod span;
mod target;
mod timeline;

pub use conflict::{Conflict, Conflicts, Kind};
pub use grid::Grid;
pub use mark::{Marks, Origin};
pub use node::Nodes;
pub use opening::Openings;
pub use runs::Runs;
pub use target::{Servers, Target, Targets};
pub use timeline::{Lane, Timeline};

use crate::{Job, Layer, Run};
use span::Spans;

/// How large a picture may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Steps of time in a timeline and a grid.
    pub bins: usize,
    /// Rows of a grid.
    pub rows: usize,
    /// Single calls, or groups of them.
    pub marks: usize,
    /// Places where ranks conflict.
    pub conflicts: usize,
}

impl Default for Budget {
    /// More steps and rows than screens have pixels, and as many marks as a browser draws fast.
    fn default() -> Budget {
        Budget { bins: 2048, rows: 512, marks: 200_000, conflicts: 20_000 }
    }
}

/// Where the times of a picture come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Every call was traced.
    Traced,
    /// Bytes were counted in steps of time; seconds are not known.
    Counted,
    /// Counters: the seconds of a file are spread evenly between its first and last call.
    Spread,
}

impl Basis {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Basis::Traced => "traced",
            Basis::Counted => "counted",
            Basis::Spread => "spread",
        }
    }
}

/// Everything that is drawn over time.
#[derive(Debug, Clone)]
pub struct Detail {
    /// When each layer was busy.
    pub timeline: Timeline,
    /// Which ranks were, a grid for each layer whose ranks are known.
    pub grids: Vec<Grid>,
    /// Single calls.
    pub marks: Marks,
    /// Opens and closes.
    pub opens: Openings,
    /// Lustre targets over time, by layer.
    pub targets: Vec<Targets>,
    /// Nodes over time, where calls were traced and hosts are known.
    pub nodes: Option<Nodes>,
}

impl Detail {
    /// Of a job, within a budget.
    #[must_use]
    pub fn of(job: &Job, budget: Budget) -> Detail {
        let end = end(job);
        let mut lanes = Vec::new();
        let mut grids = Vec::new();
        for layer in [
            Layer::Pnetcdf,
            Layer::H5d,
            Layer::Mpiio,
            Layer::Posix,
            Layer::Stdio,
            Layer::Dfs,
            Layer::Daos,
        ] {
            let spans = Spans::of(job, layer);
            lanes.extend(Lane::of(&spans, end, budget.bins));
            grids.extend(Grid::of(&spans, end, job.nprocs, budget));
        }
        Detail {
            timeline: Timeline { end, lanes },
            grids,
            marks: Marks::of(&[&job.trace, &job.above], end, budget.marks),
            opens: Openings::of(job, budget.marks / 4),
            targets: [Layer::Mpiio, Layer::Posix]
                .into_iter()
                .filter_map(|layer| Targets::of(job, layer, end, budget))
                .collect(),
            nodes: Nodes::of(job, end, budget),
        }
    }
}

/// The end of the time axis: the run, or the last call where that is later.
fn end(job: &Job) -> f64 {
    let calls = [&job.trace, &job.above].into_iter().flat_map(|trace| trace.runs()).map(Run::end);
    let counted = job.usages.iter().flat_map(|usage| [usage.read.span.1, usage.write.span.1]);
    let last = calls.chain(counted).filter(|end| end.is_finite()).fold(0.0, f64::max);
    let run = job.run_time.0;
    // Clocks of ranks differ a little; times far beyond the run are nonsense, not I/O.
    if run.is_finite() && run > 0.0 { run.max(last.min(run * 1.1)) } else { last }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Detail};
    use crate::{Job, Layer, Usage};
    use netra_event::{Rank, RecordId, Seconds};

    #[test]
    fn an_empty_job_has_nothing_to_draw() {
        let detail = Detail::of(&Job::default(), Budget::default());
        assert!(detail.timeline.lanes.is_empty() && detail.grids.is_empty());
        assert_eq!((detail.marks.len(), detail.marks.calls), (0, 0));
    }

    #[test]
    fn the_axis_ends_with_the_run_and_nonsense_does_not_stretch_it() {
        let mut job = Job { run_time: Seconds(100.0), ..Job::default() };
        let mut usage = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        usage.read.span = (1.0, 103.0);
        job.usages.push(usage);
        assert_eq!(Detail::of(&job, Budget::default()).timeline.end, 103.0);
        job.usages[0].read.span = (1.0, 1e12);
        assert_eq!(Detail::of(&job, Budget::default()).timeline.end, 110.00000000000001);
    }
}
