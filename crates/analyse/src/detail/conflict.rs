//! Where ranks meet: for each conflict the later call's bytes and time, and whose bytes they were.
//!
//! Facts count every conflict; a picture marks so many that they can be seen, so looking ends as
//! soon as there are enough, and only files that are known to have any are looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::pattern::{Contested, Ranges, holds, join};
use crate::{Direction, Facts, Job, Layer, TraceRow};

/// Which of the three a conflict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A read of what another rank wrote.
    ReadAfterWrite,
    /// A write over what another rank read.
    WriteAfterRead,
    /// A write over what another rank wrote.
    WriteAfterWrite,
}

/// One place in a file where the bytes of two ranks meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conflict {
    /// Which of [`Trace::files`](crate::Trace::files).
    pub file: u32,
    /// Read after write, write after read, or write after write.
    pub kind: Kind,
    /// When the later call began.
    pub time: f64,
    /// Whose call that was.
    pub rank: u32,
    /// Who used the bytes before; of several readers the first.
    pub other: u32,
    /// First byte.
    pub offset: u64,
    /// First byte behind.
    pub stop: u64,
    /// Whether the later call began before the earlier had ended.
    pub racing: bool,
}

/// Places of conflicts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conflicts {
    /// File by file, in the order of time.
    pub places: Vec<Conflict>,
    /// Whether there are more.
    pub cut: bool,
}

/// Calls of all files together that are looked at.
const CALLS: usize = 2_000_000;

impl Conflicts {
    /// At most so many of a job's conflicts, shared out evenly among the files that have any.
    #[must_use]
    pub fn of(job: &Job, facts: &Facts, most: usize) -> Conflicts {
        let mut found = Conflicts::default();
        let Some(traced) = &facts.traced else { return found };
        let with: BTreeSet<_> =
            traced.files.iter().filter(|file| file.conflicts.any()).map(|file| file.file).collect();
        if with.is_empty() || most == 0 {
            return found;
        }
        let wanted: Vec<bool> = job.trace.files().iter().map(|id| with.contains(id)).collect();
        let of = |row: &TraceRow| {
            row.length > 0
                && row.layer == Layer::Posix
                && wanted.get(row.file as usize).is_some_and(|wanted| *wanted)
        };
        let mut rows: Vec<TraceRow> = job.trace.rows().filter(of).take(CALLS).collect();
        found.cut = rows.len() == CALLS;
        // Few calls of a file come near another rank's bytes; the others need no looking up.
        rows.sort_by_key(|row| row.file);
        keep_those_that(&mut rows, contested);
        keep_those_that(&mut rows, shared);
        rows.sort_by(|a, b| a.file.cmp(&b.file).then(a.start.total_cmp(&b.start)));
        let each = (most / with.len()).max(1);
        for rows in rows.chunk_by(|a, b| a.file == b.file) {
            let places = search(rows, each);
            found.cut |= places.len() == each;
            found.places.extend(places);
        }
        found
    }
}

/// Keeps the calls, which are in the order of their files, that reach into some ranges of their file; `ranges` finds these from all
/// calls of that file.
fn keep_those_that(rows: &mut Vec<TraceRow>, ranges: impl Fn(&[TraceRow]) -> Ranges) {
    let all = rows.chunk_by(|a, b| a.file == b.file).map(|rows| (rows[0].file, ranges(rows)));
    let all: BTreeMap<u32, Ranges> = all.collect();
    let mut last = (u32::MAX, [].as_slice());
    rows.retain(|row| {
        if row.file != last.0 {
            last = (row.file, all.get(&row.file).map_or(&[], Vec::as_slice));
        }
        holds(last.1, row)
    });
}

/// Bytes of one file that are written and used again.
fn contested(rows: &[TraceRow]) -> Ranges {
    let mut contested = Contested::default();
    rows.iter().for_each(|row| contested.add(row));
    contested.ranges()
}

/// Bytes of one file that more than one rank uses.
fn shared(rows: &[TraceRow]) -> Ranges {
    let mut calls: Vec<(u64, u64, u32)> =
        rows.iter().map(|row| (row.offset, row.stop(), row.rank)).collect();
    // Ranks mostly go forward, which this way of sorting finds and merges.
    calls.sort_by_key(|call| call.0);
    // How far calls before reach: the farthest of all, and the farthest of any other rank.
    let (mut far, mut other) = ((0, u32::MAX), (0, u32::MAX));
    let mut shared: Ranges = Vec::new();
    for (offset, stop, rank) in calls {
        let until = stop.min(if far.1 == rank { other.0 } else { far.0 });
        if offset < until {
            join(&mut shared, (offset, until));
        }
        if far.1 == rank {
            far.0 = far.0.max(stop);
        } else if stop > far.0 {
            (far, other) = ((stop, rank), far);
        } else if stop > other.0 {
            other = (stop, rank);
        }
    }
    shared
}

/// Goes through the calls of one file until enough was found.
fn search(rows: &[TraceRow], most: usize) -> Vec<Conflict> {
    let mut search = Search { ranges: BTreeMap::new(), places: Vec::new() };
    for row in rows {
        search.call(row);
        if search.places.len() >= most {
            break;
        }
    }
    search.places.truncate(most);
    search.places
}

/// Who used a range of bytes last: until when, and whether to write.
#[derive(Debug, Clone, Copy)]
struct Use {
    rank: u32,
    until: f64,
}

#[derive(Debug, Clone, Copy)]
struct Range {
    stop: u64,
    written: Option<Use>,
    read: Option<Use>,
    /// Another rank that read since the last write: one of two is never the writer itself.
    also: Option<Use>,
}

impl Range {
    fn new(stop: u64, written: Option<Use>, read: Option<Use>) -> Range {
        Range { stop, written, read, also: None }
    }

    fn read_by(self, by: Use) -> Range {
        match self.read {
            None => Range { read: Some(by), ..self },
            Some(first) if first.rank != by.rank => Range { also: Some(by), ..self },
            Some(_) => self,
        }
    }
}

struct Search {
    ranges: BTreeMap<u64, Range>,
    places: Vec<Conflict>,
}

impl Search {
    fn call(&mut self, row: &TraceRow) {
        self.split(row.offset);
        self.split(row.stop());
        let known: Vec<(u64, Range)> = self
            .ranges
            .range(row.offset..row.stop())
            .map(|(&start, &range)| (start, range))
            .collect();
        let mine = Use { rank: row.rank, until: row.end };
        let mut at = row.offset;
        for &(start, range) in &known {
            if row.direction == Direction::Read {
                self.meet(row, (start, range.stop), Kind::ReadAfterWrite, range.written);
                if at < start {
                    self.ranges.insert(at, Range::new(start, None, Some(mine)));
                }
                self.ranges.insert(start, range.read_by(mine));
            } else {
                let reader = range.read.filter(|by| by.rank != row.rank).or(range.also);
                self.meet(row, (start, range.stop), Kind::WriteAfterRead, reader);
                self.meet(row, (start, range.stop), Kind::WriteAfterWrite, range.written);
                self.ranges.remove(&start);
            }
            at = range.stop;
        }
        let (written, read) = match row.direction {
            Direction::Write => (Some(mine), None),
            Direction::Read => (None, Some(mine)),
        };
        let start = if row.direction == Direction::Write { row.offset } else { at };
        if start < row.stop() {
            self.ranges.insert(start, Range::new(row.stop(), written, read));
        }
    }

    /// Notes a conflict, if it was another rank; neighbouring bytes of one call are one.
    fn meet(&mut self, row: &TraceRow, (offset, stop): (u64, u64), kind: Kind, by: Option<Use>) {
        let Some(by) = by.filter(|by| by.rank != row.rank) else { return };
        let racing = row.start < by.until;
        if let Some(last) = self.places.last_mut()
            && (last.time, last.rank, last.kind) == (row.start, row.rank, kind)
            && (last.other, last.stop) == (by.rank, offset)
        {
            last.stop = stop;
            last.racing |= racing;
            return;
        }
        let (file, time, rank, other) = (row.file, row.start, row.rank, by.rank);
        self.places.push(Conflict { file, kind, time, rank, other, offset, stop, racing });
    }

    /// Makes a range border at a byte, if a range lies across it.
    fn split(&mut self, at: u64) {
        let Some((_, range)) = self.ranges.range_mut(..at).next_back() else { return };
        if range.stop > at {
            let behind = *range;
            range.stop = at;
            self.ranges.insert(at, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Conflicts, Kind};
    use crate::{Direction, Facts, Job, Layer, Thresholds, TraceRow};
    use netra_event::{RecordId, Seconds};

    fn job() -> Job {
        let mut job = Job { run_time: Seconds(10.0), nprocs: 2, ..Job::default() };
        let file = job.trace.file(RecordId(7));
        for (rank, direction, start, offset) in [
            (0, Direction::Write, 0.0, 0),
            (1, Direction::Read, 2.0, 50),
            (1, Direction::Write, 4.0, 90),
        ] {
            let (end, length) = (start + 1.0, 100);
            let layer = Layer::Posix;
            job.trace.push(TraceRow { file, rank, layer, direction, start, end, offset, length });
        }
        job
    }

    #[test]
    fn a_place_is_the_later_call_and_the_bytes_that_both_used() {
        let (job, limit) = (job(), Thresholds::default());
        let found = Conflicts::of(&job, &Facts::of(&job, &limit), 10);
        let seen: Vec<_> = found
            .places
            .iter()
            .map(|one| (one.kind, one.time, one.rank, one.other, one.offset, one.stop, one.racing))
            .collect();
        assert_eq!(
            seen,
            [
                (Kind::ReadAfterWrite, 2.0, 1, 0, 50, 100, false),
                (Kind::WriteAfterWrite, 4.0, 1, 0, 90, 100, false),
            ]
        );
        assert!(!found.cut);
    }

    #[test]
    fn a_writer_that_read_too_still_meets_the_other_readers() {
        let (mut job, limit) = (job(), Thresholds::default());
        let at = |rank, direction, start| {
            let (end, offset, length) = (start + 0.5, 1000, 10);
            TraceRow { file: 0, rank, layer: Layer::Posix, direction, start, end, offset, length }
        };
        for call in
            [at(0, Direction::Read, 5.0), at(1, Direction::Read, 6.0), at(0, Direction::Write, 6.1)]
        {
            job.trace.push(call);
        }
        let found = Conflicts::of(&job, &Facts::of(&job, &limit), 10);
        let last = found.places.last().unwrap();
        assert_eq!((last.kind, last.rank, last.other), (Kind::WriteAfterRead, 0, 1));
        assert!(last.racing);
    }

    #[test]
    fn what_two_ranks_use_is_all_of_it_and_nothing_else() {
        let call = |rank, offset, length| {
            let (file, layer, direction) = (0, Layer::Posix, Direction::Write);
            TraceRow { file, rank, layer, direction, start: 0.0, end: 1.0, offset, length }
        };
        // A long one under many short ones of the same rank and of others, and one that begins with another.
        let rows = [
            call(3, 0, 1000),
            call(3, 100, 50),
            call(1, 120, 10),
            call(2, 125, 30),
            call(1, 2000, 10),
            call(1, 2005, 10),
            call(2, 2010, 5),
        ];
        assert_eq!(super::shared(&rows), [(120, 155), (2010, 2015)]);
    }

    #[test]
    fn more_than_wanted_is_said() {
        let (job, limit) = (job(), Thresholds::default());
        let found = Conflicts::of(&job, &Facts::of(&job, &limit), 1);
        assert_eq!((found.places.len(), found.cut), (1, true));
    }
}
