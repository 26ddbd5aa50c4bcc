//! Times in which a rank was busy: from the trace; where a layer was not traced, from bytes that
//! were counted over time; else from counters.

use std::ops::Range;

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
#[derive(Clone, Copy)]
pub(super) struct Steps {
    step: f64,
    last: usize,
}

impl Steps {
    /// So many from 0 to `end`.
    pub(super) fn new(end: f64, steps: usize) -> Steps {
        Steps { step: end / steps as f64, last: steps.saturating_sub(1) }
    }

    /// Seconds in each.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    /// The step that a time falls into; of times outside, the first or the last.
    pub(super) fn place(&self, time: f64) -> usize {
        // A float beyond the range of usize becomes its largest value, and then the last step.
        ((time / self.step).max(0.0) as usize).min(self.last)
    }

    /// The parts of a span in the steps that it falls into.
    pub(super) fn share(&self, start: f64, end: f64) -> Share {
        let (from, to) = (self.place(start), self.place(end));
        let length = end - start;
        if from == to || length <= 0.0 {
            return Share { from, to: from, first: 1.0, whole: 0.0, last: 0.0 };
        }
        let part = |time: f64| (time / length).clamp(0.0, 1.0);
        let first = part((from + 1) as f64 * self.step - start);
        let last = part(end - to as f64 * self.step);
        Share { from, to, first, whole: part(self.step), last }
    }
}

/// How a span is shared out over steps of time; the parts sum to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// The first step and the last.
    from: usize,
    to: usize,
    first: f64,
    /// In each step between the two.
    whole: f64,
    last: f64,
}

impl Share {
    /// Adds something to the steps that it falls into.
    pub(super) fn add(&self, steps: &mut [f32], all: f64) {
        steps[self.from] += (all * self.first) as f32;
        if self.from < self.to {
            let whole = (all * self.whole) as f32;
            steps[self.from + 1..self.to].iter_mut().for_each(|sum| *sum += whole);
            steps[self.to] += (all * self.last) as f32;
        }
    }
}

/// Seconds and bytes in steps of time while spans are added. Of a span, only where it begins and ends is noted: one
/// that covers a thousand steps costs no more than a short one.
pub(super) struct Sums {
    notes: Vec<Note>,
    /// A bit for each step with a note.
    noted: Vec<u64>,
}

/// What is noted at a step.
#[derive(Default, Clone, Copy)]
struct Note {
    /// What it has besides.
    here: [f64; 2],
    /// What it and each step behind have more than those before.
    rise: [f64; 2],
    /// Spans that make these rise.
    open: i32,
}

impl Sums {
    pub(super) fn new(steps: usize) -> Sums {
        Sums { notes: vec![Note::default(); steps], noted: vec![0; steps.div_ceil(64)] }
    }

    fn note(&mut self, step: usize) -> &mut Note {
        self.noted[step / 64] |= 1 << (step % 64);
        &mut self.notes[step]
    }

    pub(super) fn add(&mut self, share: &Share, span: &Span) {
        let all = [span.busy, span.bytes];
        let each = |sums: &mut [f64; 2], part: f64| {
            sums.iter_mut().zip(all).for_each(|(sum, all)| *sum += all * part);
        };
        each(&mut self.note(share.from).here, share.first);
        if share.from == share.to {
            return;
        }
        each(&mut self.note(share.to).here, share.last);
        if share.from + 1 < share.to {
            let begin = self.note(share.from + 1);
            begin.open += 1;
            each(&mut begin.rise, share.whole);
            let end = &mut self.notes[share.to];
            end.open -= 1;
            each(&mut end.rise, -share.whole);
        }
    }

    /// Gives steps with the seconds and bytes in each of them, where there are any, in order; and empties them.
    pub(super) fn drain(&mut self, mut give: impl FnMut(Range<usize>, [f64; 2])) {
        let (mut next, mut sums, mut open) = (0, [0.0; 2], 0);
        for (word, bits) in self.noted.iter_mut().enumerate() {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                let step = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if open > 0 && next < step {
                    give(next..step, sums);
                }
                let note = std::mem::take(&mut self.notes[step]);
                open += note.open;
                // Sums that rose and fell again are rounded; where nothing is left they are 0.
                let left = if open > 0 { f64::INFINITY } else { 0.0 };
                for (sum, rise) in sums.iter_mut().zip(note.rise) {
                    *sum = (*sum + rise).clamp(0.0, left);
                }
                give(step..step + 1, [sums[0] + note.here[0], sums[1] + note.here[1]]);
                next = step + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, Span, Steps, Sums};
    use crate::Direction;

    #[track_caller]
    fn shares(start: f64, end: f64, want: [f32; 4]) {
        let mut steps = [0.0; 4];
        Steps::new(4.0, 4).share(start, end).add(&mut steps, 1.0);
        assert_eq!(steps, want);
    }

    #[test]
    fn parts_fall_where_the_time_was_spent() {
        shares(0.5, 2.5, [0.25, 0.5, 0.25, 0.0]);
        shares(0.5, 1.5, [0.5, 0.5, 0.0, 0.0]);
        shares(1.25, 1.5, [0.0, 1.0, 0.0, 0.0]);
        shares(1.0, 1.0, [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn what_lies_outside_counts_at_the_border() {
        shares(9.0, 10.0, [0.0, 0.0, 0.0, 1.0]);
        shares(-2.0, -1.0, [1.0, 0.0, 0.0, 0.0]);
        shares(3.0, 5.0, [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn sums_are_those_of_all_spans_one_by_one() {
        let steps = Steps::new(10.0, 200);
        let mut sums = Sums::new(200);
        let mut each = [[0.0f32; 200], [0.0; 200]];
        let mut state = 7u64;
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        for _ in 0..100 {
            let (start, length) = (chance() * 6.0, chance() * 2.0);
            let (rank, direction, bytes) = (Some(0), Direction::Read, (chance() * 1e9).round());
            let end = start + length;
            let span = Span { rank, direction, start, end, bytes, busy: length };
            let share: Share = steps.share(start, end);
            sums.add(&share, &span);
            share.add(&mut each[0], length);
            share.add(&mut each[1], bytes);
        }
        let mut got = [[0.0f32; 200], [0.0; 200]];
        sums.drain(|range, values| {
            for (got, value) in got.iter_mut().zip(values) {
                got[range.clone()].fill(value as f32);
            }
        });
        for (got, want) in got.iter().flatten().zip(each.iter().flatten()) {
            assert!((got - want).abs() <= want * 1e-5, "{got} {want}");
        }
        sums.drain(|range, values| panic!("{values:?} left at {range:?}"));
    }

    #[test]
    fn nothing_is_left_where_no_span_is() {
        let steps = Steps::new(8.0, 8);
        let mut sums = Sums::new(8);
        for (start, end, busy) in [(0.0, 3.5, 0.1), (0.5, 3.9, 1e9), (6.0, 6.5, 1.0)] {
            let (rank, direction, bytes) = (None, Direction::Write, 0.3);
            sums.add(&steps.share(start, end), &Span { rank, direction, start, end, bytes, busy });
        }
        let mut filled = Vec::new();
        sums.drain(|range, _| filled.extend(range));
        assert_eq!(filled, [0, 1, 2, 3, 6]);
    }
}
