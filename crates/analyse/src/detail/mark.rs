//! Single calls for drawing: each for itself while there are few, else calls of one rank to one
//! file in one direction that began in the same slice of time are one mark.
//!
//! The slice is the shortest that keeps the number of marks within the budget; where even one
//! slice is too many, neighbouring ranks share a mark. A mark is as long as from its first call's
//! start to its last call's end, and knows how much of that was spent in calls and how long the
//! longest was.

use std::collections::HashMap;

use crate::{Direction, Layer, Run, Trace, TraceRow};

/// Calls, or groups of them, in columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Marks {
    /// Which of [`Trace::files`].
    pub file: Vec<u32>,
    /// Whose; of a group the first.
    pub rank: Vec<u32>,
    /// Bit 0: a write. Above it: which of [`Marks::LAYERS`].
    pub kind: Vec<u8>,
    /// Seconds since the job's start.
    pub start: Vec<f64>,
    /// When the last call ended.
    pub end: Vec<f64>,
    /// First byte of all.
    pub offset: Vec<u64>,
    /// First byte behind all.
    pub stop: Vec<u64>,
    /// Bytes moved.
    pub bytes: Vec<u64>,
    /// How many calls; empty where every call has its own mark, as are the next two.
    pub count: Vec<u32>,
    /// Seconds spent in them.
    pub busy: Vec<f64>,
    /// The longest of them.
    pub longest: Vec<f64>,
    /// Where in the program they were made.
    pub place: Vec<Origin>,
    /// Calls in all marks.
    pub calls: u64,
    /// Seconds in a slice of time; zero where every call has its own mark.
    pub slice: f64,
    /// Neighbouring ranks that share a mark.
    pub ranks_per_mark: u32,
}

/// Where in the program the calls of a mark were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody knows.
    Unknown,
    /// Origin several places.
    Several,
    /// Origin this of [`Job::places`](crate::Job::places).
    One(u32),
}

/// Finest slices of the time axis; a power of two, halved level by level.
const LEVELS: u32 = 24;

impl Marks {
    /// The layers whose calls are traced.
    pub const LAYERS: [Layer; 5] =
        [Layer::Posix, Layer::Mpiio, Layer::Stdio, Layer::H5d, Layer::Pnetcdf];

    /// At most `budget` marks of traces that end at `end`.
    pub(super) fn of(traces: &[&Trace], end: f64, budget: usize) -> Marks {
        let calls = traces.iter().map(|trace| trace.len()).sum::<usize>();
        let (calls, few) = (calls as u64, calls <= budget);
        if few {
            let mut marks = Marks::with_room(calls as usize);
            (marks.calls, marks.ranks_per_mark) = (calls, 1);
            let rows = traces.iter().flat_map(|trace| trace.placed());
            rows.for_each(|(row, place)| marks.push(&row, origin(place)));
            return marks;
        }
        let (shift, level) = coarseness(traces, end, budget);
        let slice = slice_seconds(end, level);
        let mut marks = Marks { calls, slice, ranks_per_mark: 1 << shift, ..Marks::default() };
        let mut open: HashMap<(u32, u32, u8), (u32, usize)> = HashMap::new();
        for (trace, run) in runs(traces) {
            // Asked once for all calls of a run.
            let mut last = open.get(&key(run, shift)).copied();
            for (row, place) in trace.calls(run).placed() {
                let slot = slot(row.start, end) >> level;
                match last {
                    Some((known, at)) if known == slot => marks.join(at, &row, origin(place)),
                    _ => {
                        last = Some((slot, marks.len()));
                        marks.group(&TraceRow { rank: row.rank >> shift << shift, ..row }, place);
                    }
                }
            }
            open.extend(last.map(|last| (key(run, shift), last)));
        }
        marks
    }

    /// How many marks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// For single calls, of which it is known how many there are.
    fn with_room(calls: usize) -> Marks {
        Marks {
            file: Vec::with_capacity(calls),
            rank: Vec::with_capacity(calls),
            kind: Vec::with_capacity(calls),
            start: Vec::with_capacity(calls),
            end: Vec::with_capacity(calls),
            offset: Vec::with_capacity(calls),
            stop: Vec::with_capacity(calls),
            bytes: Vec::with_capacity(calls),
            place: Vec::with_capacity(calls),
            ..Marks::default()
        }
    }

    fn push(&mut self, row: &TraceRow, origin: Origin) {
        self.place.push(origin);
        self.file.push(row.file);
        self.rank.push(row.rank);
        self.kind.push(kind(row.layer, row.direction));
        self.start.push(row.start);
        self.end.push(row.end);
        self.offset.push(row.offset);
        self.stop.push(row.stop());
        self.bytes.push(row.length);
    }

    /// A mark that others may join.
    fn group(&mut self, first: &TraceRow, place: Option<u32>) {
        self.push(first, origin(place));
        self.count.push(1);
        self.busy.push(first.took());
        self.longest.push(first.took());
    }

    fn join(&mut self, at: usize, row: &TraceRow, origin: Origin) {
        let took = row.end - row.start;
        if self.place[at] != origin {
            self.place[at] = Origin::Several;
        }
        self.start[at] = self.start[at].min(row.start);
        self.end[at] = self.end[at].max(row.end);
        self.offset[at] = self.offset[at].min(row.offset);
        self.stop[at] = self.stop[at].max(row.stop());
        self.bytes[at] = self.bytes[at].saturating_add(row.length);
        self.count[at] = self.count[at].saturating_add(1);
        self.busy[at] += took;
        self.longest[at] = self.longest[at].max(took);
    }
}

fn origin(place: Option<u32>) -> Origin {
    place.map_or(Origin::Unknown, Origin::One)
}

fn kind(layer: Layer, direction: Direction) -> u8 {
    // A layer that is traced some day and not yet drawn counts as the first.
    let layer = Marks::LAYERS.iter().position(|one| *one == layer).unwrap_or(0) as u8;
    u8::from(direction == Direction::Write) | layer << 1
}

/// What may share a mark.
fn key(run: &Run, shift: u32) -> (u32, u32, u8) {
    (run.rank >> shift, run.file, kind(run.layer, run.direction))
}

fn runs<'a>(traces: &'a [&'a Trace]) -> impl Iterator<Item = (&'a Trace, &'a Run)> {
    traces.iter().flat_map(|trace| trace.runs().iter().map(|run| (*trace, run)))
}

/// The finest slice that a time falls into.
fn slot(time: f64, end: f64) -> u32 {
    let slots = f64::from(1u32 << LEVELS);
    // Beyond the axis counts at its border; the cast saturates.
    ((time / end * slots).max(0.0) as u32).min((1 << LEVELS) - 1)
}

fn slice_seconds(end: f64, level: u32) -> f64 {
    end / f64::from(1u32 << LEVELS) * f64::from(1u32 << level)
}

/// How far ranks and times must be gathered: the first that fits, finest first.
fn coarseness(traces: &[&Trace], end: f64, budget: usize) -> (u32, u32) {
    for shift in 0..32 {
        let marks = marks_by_level(traces, end, shift);
        if let Some(level) = (0..=LEVELS).find(|&level| marks[level as usize] <= budget as u64) {
            return (shift, level);
        }
    }
    (31, LEVELS)
}

/// How many marks there would be for each length of a slice. Two calls of one key that follow
/// each other share a slice from the level on at which the bits of their slots are equal, so one
/// pass over the trace counts for all levels.
fn marks_by_level(traces: &[&Trace], end: f64, shift: u32) -> [u64; LEVELS as usize + 1] {
    let mut last: HashMap<(u32, u32, u8), u32> = HashMap::new();
    // How many calls begin a mark on all levels below this one, and on no other.
    let mut below = [0u64; LEVELS as usize + 2];
    for (trace, run) in runs(traces) {
        let mut before = last.get(&key(run, shift)).copied();
        for row in trace.calls(run) {
            let now = slot(row.start, end);
            let differ = match before.replace(now) {
                Some(before) => (u32::BITS - (before ^ now).leading_zeros()) as usize,
                None => LEVELS as usize + 1,
            };
            below[differ] += 1;
        }
        last.extend(before.map(|before| (key(run, shift), before)));
    }
    let mut marks = [0; LEVELS as usize + 1];
    let mut sum = 0;
    for level in (0..marks.len()).rev() {
        sum += below[level + 1];
        marks[level] = sum;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::{Marks, Origin};
    use crate::{Direction, Layer, Trace, TraceRow};
    use netra_event::RecordId;
    use proptest::prelude::*;

    fn trace(calls: &[(u32, f64, f64)]) -> Trace {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        for &(rank, start, took) in calls {
            let (layer, direction) = (Layer::Posix, Direction::Read);
            let end = start + took;
            trace.push(TraceRow {
                file,
                rank,
                layer,
                direction,
                start,
                end,
                offset: 10,
                length: 5,
            });
        }
        trace
    }

    #[test]
    fn few_calls_stand_for_themselves() {
        let marks = Marks::of(&[&trace(&[(0, 1.0, 0.5), (0, 1.5, 0.5)])], 10.0, 2);
        assert_eq!((marks.len(), marks.slice, marks.ranks_per_mark), (2, 0.0, 1));
        assert_eq!((marks.start[1], marks.end[1], marks.stop[1]), (1.5, 2.0, 15));
    }

    #[test]
    fn many_calls_are_gathered_and_the_longest_is_known() {
        let calls: Vec<_> = (0..100)
            .map(|at| (0, f64::from(at) * 0.1, if at == 42 { 0.09 } else { 0.01 }))
            .collect();
        let marks = Marks::of(&[&trace(&calls)], 10.0, 4);
        assert_eq!((marks.len(), marks.slice), (4, 2.5));
        assert_eq!(marks.count, [25; 4]);
        assert!((marks.longest[1] - 0.09).abs() < 1e-9);
        assert!((marks.busy[0] - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_mark_knows_the_place_that_all_its_calls_share() {
        let mut trace = trace(&[]);
        let (layer, direction) = (Layer::Posix, Direction::Read);
        for (start, place) in [(1.0, Some(3)), (2.0, Some(3)), (6.0, Some(3)), (7.0, Some(4))] {
            let end = start + 0.5;
            let (file, rank, offset, length) = (0, 0, 0, 1);
            trace.push_from(
                TraceRow { file, rank, layer, direction, start, end, offset, length },
                place,
            );
        }
        assert_eq!(Marks::of(&[&trace], 10.0, 2).place, [Origin::One(3), Origin::Several]);
        let single = Marks::of(&[&trace], 10.0, 4).place;
        assert_eq!(single, [Origin::One(3), Origin::One(3), Origin::One(3), Origin::One(4)]);
    }

    #[test]
    fn too_many_ranks_share_marks() {
        let calls: Vec<_> = (0..64).map(|rank| (rank, 1.0, 1.0)).collect();
        let marks = Marks::of(&[&trace(&calls)], 10.0, 10);
        assert_eq!((marks.len(), marks.ranks_per_mark), (8, 8));
        assert_eq!(marks.rank, [0, 8, 16, 24, 32, 40, 48, 56]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_budget_holds(
            calls in prop::collection::vec((0u32..6, 0u32..10_000, 0u32..1000), 1..200),
            budget in 1usize..50,
        ) {
            let calls: Vec<(u32, f64, f64)> = calls
                .into_iter()
                .map(|(rank, start, took)| (rank, f64::from(start) / 1e3, f64::from(took) / 1e3))
                .collect();
            let marks = Marks::of(&[&trace(&calls)], 11.0, budget);
            prop_assert!(marks.len() <= budget);
            prop_assert_eq!(marks.bytes.iter().sum::<u64>(), 5 * calls.len() as u64);
            if marks.slice == 0.0 {
                prop_assert_eq!((marks.len(), marks.count.len()), (calls.len(), 0));
                return Ok(());
            }
            prop_assert_eq!(marks.count.iter().map(|&n| u64::from(n)).sum::<u64>(), calls.len() as u64);
            let busy: f64 = calls.iter().map(|&(_, start, took)| (start + took) - start).sum();
            prop_assert!((marks.busy.iter().sum::<f64>() - busy).abs() < 1e-9);
            let longest = calls.iter().map(|&(_, start, took)| (start + took) - start).fold(0.0, f64::max);
            prop_assert!((marks.longest.iter().copied().fold(0.0, f64::max) - longest).abs() < 1e-9);
        }
    }
}
