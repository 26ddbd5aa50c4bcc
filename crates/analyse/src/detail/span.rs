//! Times in which a rank was busy, from the trace or, where a layer was not traced, from
//! counters.

use crate::{Direction, Job, Layer, Run, Trace, TraceRow, Usage};

use super::Basis;

/// A time in which a rank, or some of all ranks, used a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    /// Whose; `None` for a record that was summed over ranks.
    pub(super) rank: Option<u32>,
    pub(super) direction: Direction,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) bytes: f64,
    /// Seconds within; of many ranks together they may exceed the time.
    pub(super) busy: f64,
}

/// The spans of one layer.
pub(super) struct Spans<'a> {
    pub(super) layer: Layer,
    pub(super) basis: Basis,
    trace: &'a Trace,
    usages: &'a [Usage],
}

impl<'a> Spans<'a> {
    pub(super) fn of(job: &'a Job, layer: Layer) -> Spans<'a> {
        let basis = if job.trace.has(layer) { Basis::Traced } else { Basis::Spread };
        Spans { layer, basis, trace: &job.trace, usages: &job.usages }
    }

    /// All spans, those of no single rank first, then rank by rank.
    pub(super) fn by_rank(&self) -> Box<dyn Iterator<Item = Span> + '_> {
        let real = |span: &Span| span.start.is_finite() && span.end.is_finite() && span.busy > 0.0;
        match self.basis {
            Basis::Traced => {
                let mut runs: Vec<&Run> =
                    self.trace.runs().iter().filter(|run| run.layer == self.layer).collect();
                runs.sort_by_key(|run| run.rank);
                let rows = runs.into_iter().flat_map(|run| self.trace.calls(run));
                Box::new(rows.map(|row| traced(&row)).filter(real))
            }
            Basis::Spread => {
                let places = 0..self.usages.len() * 2;
                let mut spans: Vec<Span> =
                    places.filter_map(|place| self.spread(place)).filter(real).collect();
                spans.sort_by_key(|span| span.rank);
                Box::new(spans.into_iter())
            }
        }
    }

    /// The highest rank that is known by itself.
    pub(super) fn last_rank(&self) -> Option<u32> {
        match self.basis {
            Basis::Traced => {
                let runs = self.trace.runs().iter().filter(|run| run.layer == self.layer);
                runs.map(|run| run.rank).max()
            }
            Basis::Spread => self.by_rank().filter_map(|span| span.rank).max(),
        }
    }

    fn spread(&self, place: usize) -> Option<Span> {
        let usage = self.usages.get(place / 2).filter(|usage| usage.layer == self.layer)?;
        let direction = if place.is_multiple_of(2) { Direction::Read } else { Direction::Write };
        let flow = usage.flow(direction);
        let (start, end) = flow.span;
        let rank = u32::try_from(usage.rank.0).ok();
        // Flushes count as writing but do not move the end, so a rank may have been busy for
        // longer than from its first to its last call.
        let least = if rank.is_some() { flow.seconds } else { 0.0 };
        (flow.calls > 0 && end >= start && start >= 0.0).then(|| Span {
            rank,
            direction,
            start,
            end: end.max(start + least),
            bytes: flow.bytes as f64,
            busy: flow.seconds.max(1e-9),
        })
    }
}

fn traced(row: &TraceRow) -> Span {
    Span {
        rank: Some(row.rank),
        direction: row.direction,
        start: row.start,
        end: row.end,
        bytes: row.length as f64,
        // A call that is shorter than the clock's step still happened.
        busy: row.took().max(1e-9),
    }
}

/// Shares a span out over equal steps of time: calls `add` with each step and the part of the
/// span that falls into it, the parts summing to one.
pub(super) fn share(
    start: f64,
    end: f64,
    step: f64,
    steps: usize,
    mut add: impl FnMut(usize, f64),
) {
    let last = steps.saturating_sub(1);
    // A float beyond the range of usize becomes its largest value, and then the last step.
    let place = |time: f64| ((time / step).max(0.0) as usize).min(last);
    let (from, to) = (place(start), place(end));
    let length = end - start;
    if from == to || length <= 0.0 {
        add(from, 1.0);
        return;
    }
    for at in from..=to {
        let left = if at == from { start } else { at as f64 * step };
        let right = if at == to { end } else { (at + 1) as f64 * step };
        add(at, ((right - left) / length).clamp(0.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[track_caller]
    fn shares(start: f64, end: f64, want: &[(usize, f64)]) {
        let mut got = Vec::new();
        share(start, end, 1.0, 4, |at, part| got.push((at, part)));
        assert_eq!(got, want);
    }

    #[test]
    fn parts_fall_where_the_time_was_spent() {
        shares(0.5, 2.5, &[(0, 0.25), (1, 0.5), (2, 0.25)]);
        shares(1.25, 1.5, &[(1, 1.0)]);
        shares(1.0, 1.0, &[(1, 1.0)]);
    }

    #[test]
    fn what_lies_outside_counts_at_the_border() {
        shares(9.0, 10.0, &[(3, 1.0)]);
        shares(-2.0, -1.0, &[(0, 1.0)]);
        shares(3.0, 5.0, &[(3, 1.0)]);
    }
}
