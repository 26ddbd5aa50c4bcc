//! Single reads and writes of a job, packed: ten million of them take about 100 MB.
//!
//! Calls are kept in runs. A [`Run`] is what one rank did to one file through one layer in one
//! direction, in the order of its starts; a call that does not continue the last run begins
//! another. Within a run only differences are written ([`pack`]), and calls are read from the
//! front. So nothing here can be asked for by its number: patterns go through runs, or merge them
//! by time ([`Trace::in_order`]). A few calls are kept as they are ([`plain`]): they are read far more often
//! than written.

mod order;
mod pack;
mod plain;
mod rows;

use std::collections::BTreeMap;
use std::ops::Range;

use netra_event::{Rank, RecordId};

pub use order::InOrder;
pub(crate) use order::sortable;
pub use rows::Rows;

use crate::Layer;
use pack::{Block, Unpack, Writer};
use plain::Plain;
use rows::Kept;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the file.
    Read,
    /// Into the file.
    Write,
}

impl Direction {
    /// Both, reads first.
    pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Direction {
        match self {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
        }
    }

    /// `read` or `write`.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

/// Traced calls.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    files: Vec<RecordId>,
    index: BTreeMap<RecordId, u32>,
    runs: Vec<Run>,
    /// All calls, while there are few.
    plain: Plain,
    /// All calls, when there are many.
    blocks: Vec<Block>,
    writer: Writer,
    /// When the last call began, in nanoseconds: an earlier one does not continue its run.
    last_start: i64,
    len: usize,
    /// What places are called now that were numbered otherwise when their calls were added.
    places: Vec<u32>,
}

/// Calls of one rank to one file, through one layer and in one direction, that began one after another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Which of [`Trace::files`].
    pub file: u32,
    /// Whose.
    pub rank: u32,
    /// Through what.
    pub layer: Layer,
    /// Which way.
    pub direction: Direction,
    /// Calls.
    pub calls: u32,
    /// Bytes of all calls.
    pub bytes: u64,
    /// The shortest and the longest call, in bytes.
    pub lengths: (u64, u64),
    /// The largest of their ends, in nanoseconds.
    last_end: i64,
    /// Where its bytes begin; of calls that are kept as they are, the number of the first.
    block: u32,
    at: u32,
}

/// One traced call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRow {
    /// Which of [`Trace::files`].
    pub file: u32,
    /// Whose.
    pub rank: u32,
    /// Through what.
    pub layer: Layer,
    /// Which way.
    pub direction: Direction,
    /// Seconds since the job's start, in whole nanoseconds.
    pub start: f64,
    /// Seconds since the job's start, not before `start`.
    pub end: f64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// Bytes after which a block is full.
const BLOCK: usize = 1 << 20;
/// Calls that are kept as they are: 3 MiB of them.
const FEW: usize = 1 << 16;

impl Trace {
    /// The number that stands for a file in rows; to be asked once per file and kept.
    pub fn file(&mut self, id: RecordId) -> u32 {
        let next = self.files.len() as u32;
        let number = *self.index.entry(id).or_insert(next);
        if number == next {
            self.files.push(id);
        }
        number
    }

    /// Adds a call. An end before the start becomes the start; times are kept to the nanosecond.
    pub fn push(&mut self, row: TraceRow) {
        self.push_from(row, None);
    }

    /// Adds a call with the place in the program that made it.
    pub fn push_from(&mut self, row: TraceRow, place: Option<u32>) {
        let (start, end) = (nanos(row.start), nanos(row.end));
        let end = end.max(start);
        let continues = self.runs.last().is_some_and(|run| {
            (run.file, run.rank, run.layer, run.direction)
                == (row.file, row.rank, row.layer, row.direction)
                && start >= self.last_start
                && self.blocks.last().is_none_or(|block| block.len() < BLOCK)
        });
        if !continues {
            self.begin(&row);
        }
        let Some(run) = self.runs.last_mut() else { return };
        let took = end.saturating_sub(start);
        match self.blocks.last_mut() {
            Some(block) => {
                self.writer.put(block, start, took, (row.offset, row.length), place);
            }
            None => {
                let (start, end) = (seconds(start), seconds(start.saturating_add(took)));
                self.plain.push(TraceRow { start, end, ..row }, place);
            }
        }
        self.last_start = start;
        run.calls += 1;
        run.bytes = run.bytes.saturating_add(row.length);
        run.lengths = (run.lengths.0.min(row.length), run.lengths.1.max(row.length));
        run.last_end = run.last_end.max(end);
        self.len += 1;
        if self.plain.rows().len() > FEW {
            self.pack();
        }
    }

    fn begin(&mut self, row: &TraceRow) {
        let (block, at) =
            if self.blocks.is_empty() { (0, self.plain.rows().len() as u32) } else { self.room() };
        let &TraceRow { file, rank, layer, direction, .. } = row;
        let (calls, bytes, lengths, last_end) = (0, 0, (u64::MAX, 0), i64::MIN);
        self.runs.push(Run {
            file,
            rank,
            layer,
            direction,
            calls,
            bytes,
            lengths,
            last_end,
            block,
            at,
        });
        self.writer = Writer::default();
    }

    /// Where the bytes of the next run go.
    fn room(&mut self) -> (u32, u32) {
        if self.blocks.last().is_none_or(|block| block.len() >= BLOCK) {
            if let Some(block) = self.blocks.last_mut() {
                block.shrink_to_fit();
            }
            self.blocks.push(Block::new());
        }
        (self.blocks.len() as u32 - 1, self.blocks.last().map_or(0, Vec::len) as u32)
    }

    /// Packs the calls that were kept as they are: now there are many.
    fn pack(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        let mut runs = std::mem::take(&mut self.runs);
        for run in &mut runs {
            let calls = plain.calls(run.range());
            (run.block, run.at) = self.room();
            self.writer = Writer::default();
            let Some(block) = self.blocks.last_mut() else { continue };
            for (row, place) in calls {
                let start = nanos(row.start);
                let took = nanos(row.end).saturating_sub(start);
                self.writer.put(block, start, took, (row.offset, row.length), place);
            }
        }
        self.runs = runs;
    }

    /// Forgets the calls of runs that are not wanted. Nothing can be added to what was the last run.
    pub fn retain(&mut self, wanted: impl FnMut(&Run) -> bool) {
        self.runs.retain(wanted);
        self.len = self.runs.iter().map(|run| run.calls as usize).sum();
        // What comes next begins a run, behind the bytes that are there.
        self.last_start = i64::MAX;
    }

    /// The runs, in the order in which they were added.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The calls of a run of this trace.
    #[must_use]
    pub fn calls(&self, run: &Run) -> Rows<'_> {
        let kept = match self.blocks.get(run.block as usize) {
            Some(block) => {
                Kept::Packed(Unpack::new(block.get(run.at as usize..).unwrap_or(&[]), *run))
            }
            None => self.plain.kept(run.range()),
        };
        Rows::new(kept, &self.places)
    }

    /// All calls, where they are not packed; [`Run::range`] says which are whose.
    pub(crate) fn plain(&self) -> Option<&[TraceRow]> {
        self.blocks.is_empty().then(|| self.plain.rows())
    }

    /// All calls, run by run.
    pub fn rows(&self) -> impl Iterator<Item = TraceRow> + '_ {
        self.runs.iter().flat_map(|run| self.calls(run))
    }

    /// All calls, run by run, with the places in the program that made them.
    pub fn placed(&self) -> impl Iterator<Item = (TraceRow, Option<u32>)> + '_ {
        self.runs.iter().flat_map(|run| self.calls(run).placed())
    }

    /// Gives every place that calls were added with another number: the first of these is what 0
    /// becomes.
    pub fn renumber_places(&mut self, numbers: &[u32]) {
        self.places = numbers.to_vec();
    }

    /// The calls of some runs in the order of their starts; equal ones in the order of the runs.
    #[must_use]
    pub fn in_order<'a>(&'a self, runs: impl IntoIterator<Item = &'a Run>) -> InOrder<'a> {
        InOrder::new(runs.into_iter().map(|run| self.calls(run)).collect())
    }

    /// How many calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was traced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether calls of a layer were traced.
    #[must_use]
    pub fn has(&self, layer: Layer) -> bool {
        self.runs.iter().any(|run| run.layer == layer)
    }

    /// The files that rows speak of.
    #[must_use]
    pub fn files(&self) -> &[RecordId] {
        &self.files
    }
}

impl Run {
    /// Which of a trace's calls are its own, where they are not packed.
    pub(crate) fn range(&self) -> Range<usize> {
        let first = self.at as usize;
        first..first + self.calls as usize
    }

    /// When its last call ended.
    #[must_use]
    pub fn end(&self) -> f64 {
        seconds(self.last_end)
    }
}

impl TraceRow {
    /// Whose, as an id.
    #[must_use]
    pub fn whose(&self) -> Rank {
        Rank(i64::from(self.rank))
    }

    /// First byte behind it.
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// How long it took.
    #[must_use]
    pub fn took(&self) -> f64 {
        self.end - self.start
    }
}

/// The cast saturates, which only nonsense reaches: 2^63 ns are 292 years.
fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::{FEW, Run, Trace, TraceRow};
    use crate::{Direction, Layer};
    use netra_event::RecordId;
    use proptest::prelude::*;

    #[test]
    fn calls_of_one_kind_are_one_run_while_time_goes_on() {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        let row = TraceRow {
            file,
            rank: 0,
            layer: Layer::Posix,
            direction: Direction::Write,
            start: 1.4,
            end: 1.5,
            offset: 0,
            length: 10,
        };
        trace.push(row);
        trace.push(TraceRow { start: 2.0, end: 1.0, offset: 10, ..row });
        trace.push(TraceRow { start: 1.9, ..row });
        trace.push(TraceRow { rank: 1, ..row });
        let calls: Vec<u32> = trace.runs().iter().map(|run| run.calls).collect();
        assert_eq!((calls, trace.len()), (vec![2, 1, 1], 4));
        let rows: Vec<TraceRow> = trace.rows().collect();
        assert_eq!(rows[0], row);
        assert_eq!((rows[1].start, rows[1].end, rows[1].offset), (2.0, 2.0, 10));
    }

    #[test]
    fn times_beyond_all_measure_are_kept_as_far_as_they_go() {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        trace.push(TraceRow {
            file,
            rank: 0,
            layer: Layer::Posix,
            direction: Direction::Read,
            start: -1e300,
            end: 1e300,
            offset: u64::MAX,
            length: u64::MAX,
        });
        let row = trace.rows().next().unwrap();
        assert!(row.start < -9e9 && row.end >= row.start);
        assert_eq!((row.offset, row.length), (u64::MAX, u64::MAX));
    }

    #[test]
    fn calls_know_their_places_by_the_last_numbers_given() {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        let row = TraceRow {
            file,
            rank: 0,
            layer: Layer::Posix,
            direction: Direction::Write,
            start: 0.0,
            end: 1.0,
            offset: 0,
            length: 10,
        };
        for place in [Some(1), Some(1), None, Some(0), Some(300)] {
            trace.push_from(row, place);
        }
        let places = |trace: &Trace| trace.placed().map(|one| one.1).collect::<Vec<_>>();
        assert_eq!(places(&trace), [Some(1), Some(1), None, Some(0), Some(300)]);
        trace.renumber_places(&[7, 8]);
        assert_eq!(places(&trace), [Some(8), Some(8), None, Some(7), None]);
        assert!(trace.rows().all(|one| one == row));
    }

    #[test]
    fn calls_are_the_same_before_and_after_there_are_many() {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        let row = |at: u32| TraceRow {
            file,
            rank: at / 1000,
            layer: Layer::Posix,
            direction: if at % 100 < 90 { Direction::Write } else { Direction::Read },
            start: f64::from(at % 700) / 1e3,
            end: f64::from(at % 700 + at % 7) / 1e3,
            offset: u64::from(at) * 10,
            length: u64::from(at % 13),
        };
        let place = |at: u32| (at % 5 > 2).then_some(at % 11);
        let few = FEW as u32;
        (0..few).for_each(|at| trace.push_from(row(at), place(at)));
        let placed = |trace: &Trace| trace.placed().collect::<Vec<_>>();
        let before = (trace.runs().to_vec(), placed(&trace));
        assert!(trace.plain().is_some());
        (few..few + 10).for_each(|at| trace.push_from(row(at), place(at)));
        assert!(trace.plain().is_none());
        let want: Vec<_> = (0..few + 10).map(|at| (row(at), place(at))).collect();
        assert_eq!(placed(&trace), want);
        assert_eq!(before.1, want[..FEW]);
        let calls = |runs: &[Run]| runs.iter().map(|run| run.calls).collect::<Vec<_>>();
        // The last run went on.
        let last = before.0.len() - 1;
        assert_eq!(calls(&trace.runs()[..last]), calls(&before.0[..last]));
        assert_eq!(trace.runs()[last].calls, before.0[last].calls + 10);
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            calls in prop::collection::vec(
                (0u32..2, 0u32..3, any::<bool>(), -1_000_000i64..10_000_000_000, 0i64..1_000_000_000_000, any::<u64>(), any::<u64>()),
                0..60,
            ),
        ) {
            let mut trace = Trace::default();
            trace.file(RecordId(1));
            trace.file(RecordId(2));
            let rows: Vec<TraceRow> = calls
                .into_iter()
                .map(|(file, rank, write, start, took, offset, length)| TraceRow {
                    file,
                    rank,
                    layer: if write { Layer::Mpiio } else { Layer::Posix },
                    direction: if write { Direction::Write } else { Direction::Read },
                    start: start as f64 / 1e9,
                    end: (start + took) as f64 / 1e9,
                    offset,
                    length,
                })
                .collect();
            rows.iter().for_each(|row| trace.push(*row));
            prop_assert_eq!(trace.rows().collect::<Vec<_>>(), rows.clone());
            for run in trace.runs() {
                let lengths = || trace.calls(run).map(|row| row.length);
                let bytes = lengths().fold(0, u64::saturating_add);
                prop_assert_eq!((run.bytes, run.calls as usize), (bytes, lengths().count()));
                let both = (lengths().min().unwrap(), lengths().max().unwrap());
                prop_assert_eq!(run.lengths, both);
            }
            let ordered: Vec<TraceRow> = trace.in_order(trace.runs()).collect();
            let mut want = rows;
            want.sort_by(|a, b| a.start.total_cmp(&b.start));
            prop_assert_eq!(ordered.len(), want.len());
            for (got, want) in ordered.iter().zip(&want) {
                prop_assert_eq!(got.start, want.start);
            }
        }
    }
}
