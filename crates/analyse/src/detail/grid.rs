//! Ranks over time. A cell is the busiest rank of its row in its step, so that one busy rank
//! among 100,000 is as bright as it would be alone.

use crate::{Direction, Layer};

use super::runs::Runs;
use super::span::{Span, Spans, Steps, Sums};
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
    pub busy: [Runs<u8>; 2],
    /// That rank, counted from the row's first.
    pub busiest: Runs<u16>,
    /// Bytes of all ranks of the row, both ways.
    pub bytes: Runs<f32>,
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
            busy: Default::default(),
            busiest: Runs::default(),
            bytes: Runs::default(),
            summed: 0,
        };
        let mut calls =
            Calls { steps: Steps::new(end, bins), sums: [0; 2].map(|_| Sums::new(bins)) };
        let mut row = Row::new(ranks_per_row > 1, bins);
        let mut whose = None;
        for span in spans.by_rank() {
            let Some(next) = span.rank else {
                grid.summed += 1;
                continue;
            };
            if let Some(before) = whose.filter(|before| *before != next) {
                row.take(before % ranks_per_row, &mut calls);
                if before / ranks_per_row != next / ranks_per_row {
                    grid.take((before / ranks_per_row) as usize, &mut row);
                }
            }
            whose = Some(next);
            calls.add(&span);
        }
        if let Some(last) = whose {
            row.take(last % ranks_per_row, &mut calls);
            grid.take((last / ranks_per_row) as usize, &mut row);
        }
        Some(grid)
    }

    /// Takes in a row, and empties it.
    fn take(&mut self, number: usize, row: &mut Row) {
        let first = number * self.bins;
        for (levels, used) in self.busy.iter_mut().zip(&mut row.levels) {
            place(levels, first, used);
        }
        if row.shared {
            place(&mut self.busiest, first, &mut row.busiest);
        }
        place(&mut self.bytes, first, &mut row.bytes);
    }
}

/// Puts the cells of a row where they belong, if there is anything in them, and empties them.
fn place<T: Copy + Default + PartialEq>(cells: &mut Runs<T>, first: usize, row: &mut [T]) {
    // Without a way out of the loop, many are compared at once.
    if row.iter().fold(false, |any, value| any | (*value != T::default())) {
        cells.widen(first);
        cells.extend(row);
        row.fill(T::default());
    }
}

/// The calls of one rank while they are added: reads, then writes.
struct Calls {
    steps: Steps,
    sums: [Sums; 2],
}

impl Calls {
    fn add(&mut self, span: &Span) {
        let share = self.steps.share(span.start, span.end);
        self.sums[usize::from(span.direction == Direction::Write)].add(&share, span);
    }
}

/// One row while its ranks are taken in.
struct Row {
    /// Whether it has more ranks than one.
    shared: bool,
    levels: [Vec<u8>; 2],
    busiest: Vec<u16>,
    bytes: Vec<f32>,
}

impl Row {
    fn new(shared: bool, bins: usize) -> Row {
        let levels = [vec![0; bins], vec![0; bins]];
        Row { shared, levels, busiest: vec![0; bins], bytes: vec![0.0; bins] }
    }

    /// Takes in what one rank did, the row's first being 0, and empties it.
    fn take(&mut self, rank: u32, calls: &mut Calls) {
        let rank = u16::try_from(rank).unwrap_or(u16::MAX);
        let step = calls.steps.step();
        for (way, sums) in calls.sums.iter_mut().enumerate() {
            sums.drain(|steps, [busy, bytes]| {
                let level = level(busy / step);
                self.bytes[steps.clone()].iter_mut().for_each(|sum| *sum += bytes as f32);
                let [read, write] = self.levels.each_mut().map(|levels| &mut levels[steps.clone()]);
                if self.shared {
                    let before = read.iter().zip(write.iter()).zip(&mut self.busiest[steps]);
                    for ((read, write), busiest) in before {
                        *busiest = if level > *read.max(write) { rank } else { *busiest };
                    }
                }
                let levels = if way == 0 { read } else { write };
                levels.iter_mut().for_each(|before| *before = level.max(*before));
            });
        }
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
        let (writing, busiest) = (grid.busy[1].values(), grid.busiest.values());
        assert_eq!((writing[cell], u32::from(busiest[cell])), (255, 77_777 % 196));
        let hot = writing.iter().filter(|level| **level == 255).count();
        // Ten seconds of a hundred in 1,024 steps: 101 whole ones and two cut by its ends.
        assert_eq!(hot, 102);
        assert!(grid.busy[0].is_empty());
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
        assert_eq!(grid.busy[0].values(), [0, 0, 0, 0, 128, 128, 128, 128]);
    }

    #[test]
    fn a_rank_that_flushed_after_its_last_write_was_busy_until_then() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 1, ..Job::default() };
        let mut usage = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        (usage.write.calls, usage.write.seconds, usage.write.span) = (1, 3.0, (0.0, 0.5));
        job.usages.push(usage);
        let detail = Detail::of(&job, SMALL);
        assert_eq!(detail.grids[0].busy[1].values(), [255, 255, 255, 0]);
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
        assert_eq!(grid.busy[1].values(), [255, 0, 128, 0, 0, 64, 0, 0]);
        assert_eq!(detail.timeline.lanes[0].bytes, [50.0, 50.0, 12.5, 12.5, 25.0, 25.0, 0.0, 0.0]);
    }

    #[test]
    fn a_rank_beyond_the_job_is_drawn_and_costs_no_memory() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        job.trace.file(RecordId(1));
        job.trace.push(call(u32::MAX - 1, 0.0, 4.0));
        let detail = Detail::of(&job, SMALL);
        assert_eq!(detail.grids[0].rows, 4);
        assert_eq!(detail.grids[0].busy[1].values()[12..], [255; 4]);
    }
}
