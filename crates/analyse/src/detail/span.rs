//! Times in which a rank was busy: from the trace; where a layer was not traced, from bytes that
//! were counted over time; else from counters.

use crate::{Direction, Heatmap, Job, Layer, Run, Trace, TraceRow, Usage};

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
    heatmaps: &'a [Heatmap],
    /// Heat map, step and direction of everything that was counted in this layer.
    counted: Vec<(u32, u32, Direction)>,
    /// The most bytes of one rank in one step.
    most: u64,
}

impl<'a> Spans<'a> {
    pub(super) fn of(job: &'a Job, layer: Layer) -> Spans<'a> {
        // Libraries above MPI-IO have a trace of their own.
        let trace = if layer.is_io() { &job.trace } else { &job.above };
        let traced = trace.has(layer);
        let (counted, most) = if traced { (Vec::new(), 0) } else { counted(&job.heatmaps, layer) };
        let basis = match (traced, counted.is_empty()) {
            (true, _) => Basis::Traced,
            (false, false) => Basis::Counted,
            (false, true) => Basis::Spread,
        };
        let (usages, heatmaps) = (&job.usages[..], &job.heatmaps[..]);
        Spans { layer, basis, trace, usages, heatmaps, counted, most }
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
            Basis::Counted => {
                let mut spans: Vec<Span> = (0..self.counted.len())
                    .filter_map(|place| self.step(place))
                    .filter(real)
                    .collect();
                spans.sort_by_key(|span| span.rank);
                Box::new(spans.into_iter())
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
            Basis::Counted | Basis::Spread => self.by_rank().filter_map(|span| span.rank).max(),
        }
    }

    /// Seconds are not known: a step in which a rank moved as much as anybody ever did counts as
    /// busy all the time, others in proportion.
    fn step(&self, place: usize) -> Option<Span> {
        let &(map, step, direction) = self.counted.get(place)?;
        let map = self.heatmaps.get(map as usize)?;
        let bytes = *steps(map, direction).get(step as usize)? as f64;
        let start = f64::from(step) * map.width;
        Some(Span {
            rank: Some(map.rank),
            direction,
            start,
            end: start + map.width,
            bytes,
            busy: map.width * bytes / self.most.max(1) as f64,
        })
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

fn steps(map: &Heatmap, direction: Direction) -> &[u64] {
    match direction {
        Direction::Read => &map.read,
        Direction::Write => &map.write,
    }
}

/// Every step of a layer in which bytes were moved, and the most of them.
fn counted(heatmaps: &[Heatmap], layer: Layer) -> (Vec<(u32, u32, Direction)>, u64) {
    let mut found = Vec::new();
    let mut most = 0;
    for (map, heat) in (0u32..).zip(heatmaps).filter(|(_, heat)| heat.layer == layer) {
        for direction in Direction::BOTH {
            let moved = (0u32..).zip(steps(heat, direction)).filter(|(_, bytes)| **bytes > 0);
            for (step, bytes) in moved {
                found.push((map, step, direction));
                most = most.max(*bytes);
            }
        }
    }
    (found, most)
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
