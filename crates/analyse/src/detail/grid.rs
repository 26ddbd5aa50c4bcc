//! Ranks over time. A cell is the busiest rank of its row in its step, so that one busy rank
//! among 100,000 is as bright as it would be alone.

use std::ops::Range;

use crate::{Direction, Layer};

use super::span::{Span, Spans, Steps, add};
use super::{Basis, Budget};

/// Ranks × time of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Through what.
    pub layer: Layer,
    /// Where the times come from.
    pub basis: Basis,
    /// Ranks in a row.
    pub ranks_per_row: u32,
    /// Rows.
    pub rows: usize,
    /// Steps of time.
    pub bins: usize,
    /// Share of a step that the busiest rank of the row spent reading, then writing; where bytes
    /// were counted, what it moved as a share of the most. 0 to 255, rounded up, row by row; here and below,
    /// what is not there is 0.
    pub busy: [Vec<u8>; 2],
    /// That rank, counted from the row's first.
    pub busiest: Vec<u16>,
    /// Bytes of all ranks of the row, both ways.
    pub bytes: Vec<f32>,
    /// Records that were summed over ranks and so are not in here.
    pub summed: u64,
}

impl Grid {
    /// Of a layer; `None` where no rank is known by itself.
    pub(super) fn of(spans: &Spans<'_>, end: f64, nprocs: u64, budget: Budget) -> Option<Grid> {
        if end <= 0.0 || budget.bins == 0 || budget.rows == 0 {
            return None;
        }
        let last = spans.last_rank()?;
        let ranks = nprocs.clamp(u64::from(last) + 1, u64::from(u32::MAX)) as u32;
        let ranks_per_row = ranks.div_ceil(u32::try_from(budget.rows).unwrap_or(u32::MAX));
        let rows = ranks.div_ceil(ranks_per_row) as usize;
        // Half the steps of a timeline: a grid has rows besides.
        let bins = (budget.bins / 2).max(1);
        let mut grid = Grid {
            layer: spans.layer,
            basis: spans.basis,
            ranks_per_row,
            rows,
            bins,
            busy: [Vec::new(), Vec::new()],
            busiest: Vec::new(),
            bytes: Vec::new(),
            summed: 0,
        };
        let mut rank = Row::new(end, bins);
        let mut whose = None;
        for span in spans.by_rank() {
            let Some(next) = span.rank else {
                grid.summed += 1;
                continue;
            };
            if let Some(before) = whose.filter(|before| *before != next) {
                grid.take(before, &mut rank);
            }
            whose = Some(next);
            rank.add(&span);
        }
        if let Some(last) = whose {
            grid.take(last, &mut rank);
        }
        Some(grid)
    }

    /// Takes in what one rank did, and empties it.
    fn take(&mut self, rank: u32, row: &mut Row) {
        let first = (rank / self.ranks_per_row) as usize * self.bins;
        let within = u16::try_from(rank % self.ranks_per_row).unwrap_or(u16::MAX);
        let Some(used) = row.used.take() else { return };
        let step = row.steps.step();
        let place = Place { row: first..first + self.bins, used: used.clone() };
        let [read, write] = row.busy.each_ref().map(|busy| &busy[used.clone()]);
        if self.ranks_per_row > 1 {
            let [before_read, before_write] = self.busy.each_mut().map(|busy| place.of(busy));
            let before = before_read.iter().zip(before_write);
            let now = read.iter().zip(write).zip(before);
            for (((read, write), before), busiest) in now.zip(place.of(&mut self.busiest)) {
                if level(read.max(*write) / step) > *before.0.max(before.1) {
                    *busiest = within;
                }
            }
        }
        for (levels, busy) in self.busy.iter_mut().zip([read, write]) {
            if busy.iter().any(|busy| *busy > 0.0) {
                let both = place.of(levels).iter_mut().zip(busy);
                both.for_each(|(before, busy)| *before = level(busy / step).max(*before));
            }
        }
        let sums = place.of(&mut self.bytes).iter_mut().zip(&row.bytes[used.clone()]);
        sums.for_each(|(sum, bytes)| *sum += *bytes as f32);
        let [read, write] = &mut row.busy;
        [read, write, &mut row.bytes].into_iter().for_each(|steps| steps[used.clone()].fill(0.0));
    }
}

/// Where a rank's steps stand: its row, and the steps in it that hold anything.
struct Place {
    row: Range<usize>,
    used: Range<usize>,
}

impl Place {
    /// These cells; there are rows as far as any was used.
    fn of<'a, T: Clone + Default>(&self, cells: &'a mut Vec<T>) -> &'a mut [T] {
        if cells.len() < self.row.end {
            cells.resize(self.row.end, T::default());
        }
        &mut cells[self.row.clone()][self.used.clone()]
    }
}

/// One rank while its calls are added.
struct Row {
    steps: Steps,
    busy: [Vec<f64>; 2],
    bytes: Vec<f64>,
    /// The steps that hold anything, if any does.
    used: Option<Range<usize>>,
}

impl Row {
    fn new(end: f64, bins: usize) -> Row {
        Row {
            steps: Steps::new(end, bins),
            busy: [vec![0.0; bins], vec![0.0; bins]],
            bytes: vec![0.0; bins],
            used: None,
        }
    }

    fn add(&mut self, span: &Span) {
        let shares = self.steps.share(span.start, span.end);
        add(&mut self.busy[usize::from(span.direction == Direction::Write)], shares, span.busy);
        add(&mut self.bytes, shares, span.bytes);
        let (first, behind) = (shares.0, shares.0 + shares.1.len());
        self.used = Some(match &self.used {
            Some(used) => used.start.min(first)..used.end.max(behind),
            None => first..behind,
        });
    }
}

/// A share as a level, rounded up: a rank that did anything is never level 0.
fn level(share: f64) -> u8 {
    let exact = share * 255.0;
    // The cast rounds down and saturates.
    let whole = exact as u8;
    whole.saturating_add(u8::from(f64::from(whole) < exact))
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, Budget, Detail};
    use crate::{Direction, Heatmap, Job, Layer, TraceRow, Usage};
    use netra_event::{Rank, RecordId, Seconds};

    const SMALL: Budget = Budget { bins: 8, rows: 4, marks: 1, conflicts: 0 };

    fn call(rank: u32, start: f64, end: f64) -> TraceRow {
        let direction = Direction::Write;
        TraceRow { file: 0, rank, layer: Layer::Posix, direction, start, end, offset: 0, length: 8 }
    }

    #[test]
    fn one_hot_rank_among_100_000_is_as_bright_as_alone() {
        let mut job = Job { run_time: Seconds(100.0), nprocs: 100_000, ..Job::default() };
        job.trace.file(RecordId(1));
        for rank in 0..100_000 {
            job.trace.push(call(rank, 10.0, 10.001));
        }
        job.trace.push(call(77_777, 50.0, 60.0));
        let detail = Detail::of(&job, Budget::default());
        let [grid] = &detail.grids[..] else { panic!("one layer was traced") };
        assert_eq!((grid.ranks_per_row, grid.rows, grid.bins), (196, 511, 1024));
        let cell = 77_777 / 196 * 1024 + 563;
        assert_eq!((grid.busy[1][cell], u32::from(grid.busiest[cell])), (255, 77_777 % 196));
        let hot = grid.busy[1].iter().filter(|level| **level == 255).count();
        // Ten seconds of a hundred in 1,024 steps: 101 whole ones and two cut by its ends.
        assert_eq!(hot, 102);
        assert!(grid.busy[0].iter().all(|level| *level == 0));
    }

    #[test]
    fn ranks_that_were_summed_are_counted_not_drawn() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        for rank in [Rank::SHARED, Rank(1)] {
            let mut usage = Usage::new(Layer::Posix, RecordId(1), rank);
            (usage.read.calls, usage.read.seconds, usage.read.span) = (1, 2.0, (0.0, 4.0));
            job.usages.push(usage);
        }
        let detail = Detail::of(&job, SMALL);
        let [grid] = &detail.grids[..] else { panic!("one layer was used") };
        assert_eq!((grid.rows, grid.summed), (2, 1));
        assert_eq!(grid.busy[0], [0, 0, 0, 0, 128, 128, 128, 128]);
    }

    #[test]
    fn a_rank_that_flushed_after_its_last_write_was_busy_until_then() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 1, ..Job::default() };
        let mut usage = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        (usage.write.calls, usage.write.seconds, usage.write.span) = (1, 3.0, (0.0, 0.5));
        job.usages.push(usage);
        let detail = Detail::of(&job, SMALL);
        assert_eq!(detail.grids[0].busy[1], [255, 255, 255, 0]);
    }

    #[test]
    fn bytes_that_were_counted_in_steps_are_as_bright_as_their_share_of_the_most() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        for (rank, write) in [(0, vec![100, 0, 50]), (1, vec![0, 25])] {
            let (layer, width, read) = (Layer::Stdio, 1.0, Vec::new());
            job.heatmaps.push(Heatmap { layer, rank, width, read, write });
        }
        let detail = Detail::of(&job, SMALL);
        let [grid] = &detail.grids[..] else { panic!("one layer was counted") };
        assert_eq!((grid.basis, grid.rows, grid.bins), (Basis::Counted, 2, 4));
        assert_eq!(grid.busy[1], [255, 0, 128, 0, 0, 64, 0, 0]);
        assert_eq!(detail.timeline.lanes[0].bytes, [50.0, 50.0, 12.5, 12.5, 25.0, 25.0, 0.0, 0.0]);
    }

    #[test]
    fn a_rank_beyond_the_job_is_drawn_and_costs_no_memory() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        job.trace.file(RecordId(1));
        job.trace.push(call(u32::MAX - 1, 0.0, 4.0));
        let detail = Detail::of(&job, SMALL);
        assert_eq!(detail.grids[0].rows, 4);
        assert_eq!(detail.grids[0].busy[1][12..], [255; 4]);
    }
}
