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

/// Equal steps of time, over which spans are shared out.
pub(super) struct Steps {
    step: f64,
    /// How long each is: the borders are rounded, so not all are alike.
    lengths: Vec<f64>,
    /// Of the span that was shared out last.
    parts: Vec<f64>,
}

impl Steps {
    /// So many from 0 to `end`.
    pub(super) fn new(end: f64, steps: usize) -> Steps {
        let step = end / steps as f64;
        let lengths = (0..steps).map(|at| (at + 1) as f64 * step - at as f64 * step).collect();
        Steps { step, lengths, parts: Vec::with_capacity(steps) }
    }

    /// Seconds in each.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    /// The step that a time falls into; of times outside, the first or the last.
    pub(super) fn place(&self, time: f64) -> usize {
        // A float beyond the range of usize becomes its largest value, and then the last step.
        ((time / self.step).max(0.0) as usize).min(self.lengths.len().saturating_sub(1))
    }

    /// The first step that a span falls into, and the parts of the span in that one and those behind, which sum to one.
    pub(super) fn share(&mut self, start: f64, end: f64) -> (usize, &[f64]) {
        let (from, to) = (self.place(start), self.place(end));
        let length = end - start;
        self.parts.clear();
        if from == to || length <= 0.0 {
            self.parts.push(1.0);
            return (from, &self.parts);
        }
        let part = |time: f64| (time / length).clamp(0.0, 1.0);
        self.parts.push(part((from + 1) as f64 * self.step - start));
        self.parts.extend(self.lengths[from + 1..to].iter().map(|whole| part(*whole)));
        self.parts.push(part(end - to as f64 * self.step));
        (from, &self.parts)
    }
}

/// Adds shares of something to the steps that they fall into.
pub(super) fn add(steps: &mut [f64], (first, parts): (usize, &[f64]), all: f64) {
    steps[first..].iter_mut().zip(parts).for_each(|(sum, part)| *sum += all * part);
}

/// The same where sums are kept in single precision.
pub(super) fn add_narrow(steps: &mut [f32], (first, parts): (usize, &[f64]), all: f64) {
    steps[first..].iter_mut().zip(parts).for_each(|(sum, part)| *sum += (all * part) as f32);
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[track_caller]
    fn shares(start: f64, end: f64, first: usize, parts: &[f64]) {
        assert_eq!(Steps::new(4.0, 4).share(start, end), (first, parts));
    }

    #[test]
    fn parts_fall_where_the_time_was_spent() {
        shares(0.5, 2.5, 0, &[0.25, 0.5, 0.25]);
        shares(0.5, 1.5, 0, &[0.5, 0.5]);
        shares(1.25, 1.5, 1, &[1.0]);
        shares(1.0, 1.0, 1, &[1.0]);
    }

    #[test]
    fn what_lies_outside_counts_at_the_border() {
        shares(9.0, 10.0, 3, &[1.0]);
        shares(-2.0, -1.0, 0, &[1.0]);
        shares(3.0, 5.0, 3, &[1.0]);
    }
}
