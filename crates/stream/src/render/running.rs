//! Fields that depend on the calls before: how many there were, how often reading and writing took
//! turns, how often data was flushed, how far a file was touched.
//!
//! They are kept for each record of a process, as the connector has them:
//!
//! - `cnt` counts the calls of a message's own operation, and begins anew behind a close;
//! - `switches`, `flushes` and the highest byte go on over closes, as Darshan's counters do;
//! - `pt_sel`, `reg_hslab` and `irreg_hslab` count the selections of a data set's reads and writes;
//! - `total` is the time of the calls of one direction (or of metadata), where calls of several
//!   threads at one time count once.
//!
//! A failed call moves none of them.

use std::collections::HashMap;

use netra_event::segment::extension::Shape;
use netra_event::{Kind, Nanos};

/// An operation that the connector sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A file or data set was opened.
    Open,
    /// It was read.
    Read,
    /// It was written.
    Write,
    /// It was closed.
    Close,
}

impl Operation {
    /// The operation of a kind of call, if the connector has one.
    #[must_use]
    pub const fn of(kind: Kind) -> Option<Operation> {
        match kind {
            Kind::Open => Some(Operation::Open),
            Kind::Read => Some(Operation::Read),
            Kind::Write => Some(Operation::Write),
            Kind::Close => Some(Operation::Close),
            _ => None,
        }
    }

    /// The connector's word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Close => "close",
        }
    }
}

/// The running fields as they are after one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// What the call did.
    pub operation: Operation,
    /// Calls of this operation since the last close, this one included.
    pub count: u64,
    /// How often reading followed writing or the other way round.
    pub switches: u64,
    /// Flushes so far.
    pub flushes: u64,
    /// Highest byte touched so far in the direction of this call.
    pub max_byte: u64,
    /// Time spent so far in calls of this direction, or on metadata.
    pub total: Nanos,
    /// What was selected, for a call on a data set that says so.
    pub selected: Option<Selected>,
}

/// Selections of a data set so far, and what the call says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// Selections of points.
    pub points: u64,
    /// Irregular hyperslabs.
    pub irregular: u64,
    /// Regular hyperslabs.
    pub regular: u64,
    /// Dimensions of the data set.
    pub dimensions: u8,
    /// Elements that this call selected.
    pub elements: u64,
}

/// What a call selects of a data set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selection {
    pub(super) shape: Shape,
    pub(super) dimensions: u8,
    pub(super) elements: u64,
}

/// What a call contributes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) offset: i64,
    pub(super) moved: u64,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) selection: Option<Selection>,
}

/// The sums of all records of one process.
#[derive(Debug, Default)]
pub(super) struct Totals {
    records: HashMap<(&'static str, u64), Record>,
}

impl Totals {
    /// Takes the next call of a record, and gives its fields if the connector sends such calls.
    pub(super) fn step(&mut self, module: &'static str, id: u64, step: Step) -> Option<Running> {
        self.records.entry((module, id)).or_default().step(step)
    }
}

/// The sums of one record.
#[derive(Debug, Default)]
struct Record {
    /// Calls since the last close, by operation.
    counts: [u64; 4],
    wrote_last: Option<bool>,
    switches: u64,
    flushes: u64,
    read_to: u64,
    written_to: u64,
    metadata: Busy,
    reading: Busy,
    writing: Busy,
    points: u64,
    irregular: u64,
    regular: u64,
}

impl Record {
    fn step(&mut self, step: Step) -> Option<Running> {
        let total = match step.kind {
            Kind::Read => self.reading.add(step),
            // Flushing is a part of writing, as in Darshan's counters.
            Kind::Write | Kind::Sync => self.writing.add(step),
            _ => self.metadata.add(step),
        };
        self.flushes += u64::from(step.kind == Kind::Sync);
        let operation = Operation::of(step.kind)?;
        let max_byte = self.transfer(operation, &step);
        let count = &mut self.counts[operation as usize];
        *count += 1;
        let count = *count;
        if operation == Operation::Close {
            self.counts = [0; 4];
        }
        let (switches, flushes) = (self.switches, self.flushes);
        let selected = step.selection.map(|selection| self.select(selection));
        Some(Running { operation, count, switches, flushes, max_byte, total, selected })
    }

    fn select(&mut self, selection: Selection) -> Selected {
        match selection.shape {
            Shape::Points => self.points += 1,
            Shape::Irregular => self.irregular += 1,
            Shape::Regular => self.regular += 1,
            Shape::None | Shape::All | Shape::Chunk => {}
        }
        Selected {
            points: self.points,
            irregular: self.irregular,
            regular: self.regular,
            dimensions: selection.dimensions,
            elements: selection.elements,
        }
    }

    /// Counts a change of direction, and gives the highest byte of this one.
    fn transfer(&mut self, operation: Operation, step: &Step) -> u64 {
        let write = match operation {
            Operation::Read => false,
            Operation::Write => true,
            Operation::Open | Operation::Close => return 0,
        };
        self.switches += u64::from(self.wrote_last == Some(!write));
        self.wrote_last = Some(write);
        let last = u64::try_from(step.offset)
            .map_or(0, |at| at.saturating_add(step.moved).saturating_sub(1));
        let reach = if write { &mut self.written_to } else { &mut self.read_to };
        *reach = last.max(*reach);
        *reach
    }
}

/// Time spent in calls, where those that overlap count once.
#[derive(Debug, Default)]
struct Busy {
    total: u64,
    until: u64,
}

impl Busy {
    fn add(&mut self, step: Step) -> Nanos {
        let from = step.start.0.max(self.until);
        self.total = self.total.saturating_add(step.end.0.saturating_sub(from));
        self.until = self.until.max(step.end.0);
        Nanos(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Close, Open, Read, Seek, Sync, Write};

    /// Kind, offset, bytes → count, switches, flushes, highest byte; calls take 10 ns each, 100 apart.
    #[track_caller]
    fn check(calls: &[(Kind, i64, u64, Option<[u64; 4]>)]) {
        let mut totals = Totals::default();
        for (place, &(kind, offset, moved, want)) in (0..).zip(calls) {
            let start = Nanos(place * 100);
            let step = Step { kind, offset, moved, start, end: start + Nanos(10), selection: None };
            let found = totals.step("POSIX", 7, step);
            let fields = found.map(|run| [run.count, run.switches, run.flushes, run.max_byte]);
            assert_eq!(fields, want, "call {place}");
        }
    }

    #[test]
    fn counts_begin_anew_behind_a_close_and_the_rest_goes_on() {
        check(&[
            (Open, 0, 0, Some([1, 0, 0, 0])),
            (Write, 0, 100, Some([1, 0, 0, 99])),
            (Write, 100, 100, Some([2, 0, 0, 199])),
            (Read, 0, 50, Some([1, 1, 0, 49])),
            (Sync, -1, 0, None),
            (Write, 10, 5, Some([3, 2, 1, 199])),
            (Close, -1, 3, Some([1, 2, 1, 0])),
            (Open, 0, 0, Some([1, 2, 1, 0])),
            (Write, 300, 0, Some([1, 2, 1, 299])),
        ]);
    }

    #[test]
    fn an_empty_transfer_at_the_beginning_reaches_nowhere() {
        check(&[(Read, 0, 0, Some([1, 0, 0, 0])), (Read, -1, 9, Some([2, 0, 0, 0]))]);
    }

    fn step(kind: Kind, start: u64, end: u64) -> Step {
        let (start, end) = (Nanos(start), Nanos(end));
        Step { kind, offset: 0, moved: 1, start, end, selection: None }
    }

    #[test]
    fn selections_add_up_by_shape() {
        let mut totals = Totals::default();
        let mut select = |shape, elements| {
            let selection = Some(Selection { shape, dimensions: 2, elements });
            let running = totals.step("H5D", 1, Step { selection, ..step(Write, 1, 2) });
            let found = running.unwrap().selected.unwrap();
            assert_eq!(found.dimensions, 2);
            [found.points, found.irregular, found.regular, found.elements]
        };
        assert_eq!(select(Shape::All, 99), [0, 0, 0, 99]);
        assert_eq!(select(Shape::Regular, 5), [0, 0, 1, 5]);
        assert_eq!(select(Shape::Points, 6), [1, 0, 1, 6]);
        assert_eq!(select(Shape::Irregular, 7), [1, 1, 1, 7]);
        assert_eq!(select(Shape::Regular, 8), [1, 1, 2, 8]);
    }

    #[test]
    fn records_and_modules_do_not_mix() {
        let mut totals = Totals::default();
        let step = step(Read, 1, 2);
        for (module, id) in [("POSIX", 1), ("POSIX", 2), ("STDIO", 1)] {
            assert_eq!(totals.step(module, id, step).unwrap().count, 1);
        }
    }

    #[test]
    fn time_of_overlapping_calls_counts_once_and_by_direction() {
        let mut totals = Totals::default();
        let mut add = |kind, start, end| {
            totals.step("POSIX", 1, step(kind, start, end)).map_or(Nanos(0), |run| run.total)
        };
        assert_eq!(add(Open, 0, 5), Nanos(5));
        assert_eq!(add(Write, 10, 20), Nanos(10));
        assert_eq!(add(Write, 12, 25), Nanos(15));
        assert_eq!(add(Write, 11, 24), Nanos(15));
        assert_eq!(add(Read, 30, 31), Nanos(1));
        add(Sync, 40, 47);
        add(Seek, 50, 52);
        assert_eq!(add(Write, 60, 61), Nanos(23));
        assert_eq!(add(Close, 70, 71), Nanos(8));
    }
}
