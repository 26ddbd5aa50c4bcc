//! Conflicts: a byte range that is used again after, or while, somebody writes it.
//!
//! Calls are taken in the order of their start. Per byte range it is known who wrote it last and
//! who has read it since; a call is compared with that alone, which is what it depends on. Work
//! is bounded: a trace in which every call spans thousands of earlier ones is cut, and says so.

use std::collections::BTreeMap;

use super::traced::Rows;
use crate::{Direction, Thresholds, TraceRow};

/// One kind of conflict.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hazard {
    /// Calls that had it.
    pub calls: u64,
    /// Bytes that had it.
    pub bytes: u64,
    /// Bytes where the second call began before the first had ended.
    pub racing: u64,
    /// Bytes where it began so soon after that clocks of two nodes may err about the order.
    pub uncertain: u64,
}

/// The conflicts of one file between ranks, and how often one rank depends on itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Conflicts {
    /// Read after another rank's write.
    pub raw: Hazard,
    /// Write after another rank's read.
    pub war: Hazard,
    /// Write after another rank's write.
    pub waw: Hazard,
    /// Bytes of the three kinds within one rank; safe everywhere.
    pub within: [u64; 3],
    /// Whether looking was given up before the end.
    pub cut: bool,
}

impl Conflicts {
    /// Whether different ranks conflict at all.
    #[must_use]
    pub fn any(&self) -> bool {
        self.raw.bytes + self.war.bytes + self.waw.bytes > 0
    }

    /// Bytes whose outcome is open even on a POSIX file system: no order between the calls.
    #[must_use]
    pub fn racing(&self) -> u64 {
        self.raw.racing + self.war.racing + self.waw.racing
    }
}

/// What is known about a range of bytes up to the start of the next.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Range {
    stop: u64,
    written: Option<(u32, f64)>,
    read: Option<Readers>,
}

/// Who has read since the last write.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Readers {
    one: u32,
    several: bool,
    until: f64,
}

/// Steps per call after which looking is given up.
const STEPS: usize = 64;

/// Looks at the calls of one file. Sorts.
pub(super) fn conflicts(rows: &mut Rows<'_>, limit: &Thresholds) -> Conflicts {
    let together = overlapping(rows);
    rows.sort_by_start();
    let mut search =
        Search { ranges: BTreeMap::new(), found: Conflicts::default(), skew: limit.clock_skew.0 };
    let mut steps = (rows.numbers.len() + 16) * STEPS;
    for row in rows.iter().filter(|row| row.length > 0 && together.hold(row)) {
        steps = steps.saturating_sub(search.call(&row));
        if steps == 0 {
            search.found.cut = true;
            break;
        }
    }
    search.found
}

/// Stretches of a file that more than one call touches. Only there can be a conflict, and in most
/// files they are few, so that calls elsewhere need not be remembered.
struct Together(Vec<(u64, u64)>);

impl Together {
    /// Whether a call reaches into one of them.
    fn hold(&self, row: &TraceRow) -> bool {
        let behind = self.0.partition_point(|stretch| stretch.1 <= row.offset);
        self.0.get(behind).is_some_and(|stretch| stretch.0 < row.stop())
    }
}

fn overlapping(rows: &mut Rows<'_>) -> Together {
    rows.sort_by_key(|row| row.offset);
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    let mut until = 0;
    for row in rows.iter().filter(|row| row.length > 0) {
        let stop = row.stop().min(until);
        if row.offset < stop {
            match stretches.last_mut() {
                Some(last) if row.offset <= last.1 => last.1 = last.1.max(stop),
                _ => stretches.push((row.offset, stop)),
            }
        }
        until = until.max(row.stop());
    }
    Together(stretches)
}

struct Search {
    ranges: BTreeMap<u64, Range>,
    found: Conflicts,
    skew: f64,
}

impl Search {
    /// Compares a call with what is known and takes it in; returns the ranges it looked at.
    fn call(&mut self, row: &TraceRow) -> usize {
        self.split(row.offset);
        self.split(row.stop());
        let known: Vec<(u64, Range)> = self
            .ranges
            .range(row.offset..row.stop())
            .map(|(&start, &range)| (start, range))
            .collect();
        let mut hit = [false; 3];
        for &(start, range) in &known {
            self.compare(row, range.stop - start, &range, &mut hit);
        }
        let hazards = [&mut self.found.raw, &mut self.found.war, &mut self.found.waw];
        hazards.into_iter().zip(hit).for_each(|(hazard, hit)| hazard.calls += u64::from(hit));
        match row.direction {
            Direction::Write => self.write(row, &known),
            Direction::Read => self.read(row, &known),
        }
        known.len() + 1
    }

    fn compare(&mut self, row: &TraceRow, bytes: u64, range: &Range, hit: &mut [bool; 3]) {
        let found = &mut self.found;
        if row.direction == Direction::Read {
            if let Some((writer, until)) = range.written {
                let other = writer != row.rank;
                found.within[0] += if other { 0 } else { bytes };
                hit[0] |= other && found.raw.note(bytes, row.start - until, self.skew);
            }
            return;
        }
        if let Some(readers) = range.read {
            let other = readers.several || readers.one != row.rank;
            found.within[1] += if other { 0 } else { bytes };
            hit[1] |= other && found.war.note(bytes, row.start - readers.until, self.skew);
        }
        if let Some((writer, until)) = range.written {
            let other = writer != row.rank;
            found.within[2] += if other { 0 } else { bytes };
            hit[2] |= other && found.waw.note(bytes, row.start - until, self.skew);
        }
    }

    fn write(&mut self, row: &TraceRow, known: &[(u64, Range)]) {
        for (start, _) in known {
            self.ranges.remove(start);
        }
        let written = Some((row.rank, row.end));
        self.ranges.insert(row.offset, Range { stop: row.stop(), written, read: None });
    }

    fn read(&mut self, row: &TraceRow, known: &[(u64, Range)]) {
        let mine = Readers { one: row.rank, several: false, until: row.end };
        let mut at = row.offset;
        for &(start, range) in known {
            if at < start {
                self.ranges.insert(at, Range { stop: start, written: None, read: Some(mine) });
            }
            let read = range.read.map_or(mine, |readers| Readers {
                several: readers.several || readers.one != row.rank,
                until: readers.until.max(row.end),
                ..readers
            });
            self.ranges.insert(start, Range { read: Some(read), ..range });
            at = range.stop;
        }
        if at < row.stop() {
            self.ranges.insert(at, Range { stop: row.stop(), written: None, read: Some(mine) });
        }
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

impl Hazard {
    /// Counts bytes whose first use ended this long before the second began.
    fn note(&mut self, bytes: u64, since: f64, skew: f64) -> bool {
        self.bytes += bytes;
        if since < 0.0 {
            self.racing += bytes;
        } else if since < skew {
            self.uncertain += bytes;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Conflicts;
    use crate::pattern::random;
    use crate::pattern::traced::Rows;
    use crate::{Direction, Thresholds, Trace, TraceRow};
    use netra_event::RecordId;
    use proptest::prelude::*;

    fn conflicts(rows: &[TraceRow]) -> Conflicts {
        let mut trace = Trace::default();
        trace.file(RecordId(1));
        rows.iter().for_each(|row| trace.push(*row));
        let mut numbers: Vec<u32> = (0..trace.len() as u32).collect();
        super::conflicts(&mut Rows { trace: &trace, numbers: &mut numbers }, &Thresholds::default())
    }

    fn row(rank: u32, direction: Direction, at: (f64, f64), offset: u64, length: u64) -> TraceRow {
        TraceRow { file: 0, rank, mpiio: false, direction, start: at.0, end: at.1, offset, length }
    }

    #[test]
    fn names_the_three_kinds() {
        use Direction::{Read, Write};
        let rows = [
            row(0, Write, (0.0, 1.0), 0, 100),
            row(1, Read, (2.0, 3.0), 50, 100),
            row(2, Write, (2.5, 4.0), 80, 40),
        ];
        let found = conflicts(&rows);
        assert_eq!((found.raw.bytes, found.raw.racing, found.raw.calls), (50, 0, 1));
        assert_eq!((found.war.bytes, found.war.racing), (40, 40));
        assert_eq!((found.waw.bytes, found.waw.racing), (20, 0));
        assert_eq!(found.within, [0, 0, 0]);
    }

    #[test]
    fn disjoint_writers_do_not_conflict() {
        let rows: Vec<TraceRow> = (0..100)
            .map(|rank| row(rank, Direction::Write, (0.0, 1.0), u64::from(rank) * 10, 10))
            .collect();
        assert!(!conflicts(&rows).any());
    }

    #[test]
    fn endless_work_is_cut() {
        // A comb of small writes, then many reads across all of it.
        let mut rows: Vec<TraceRow> = (0..2000)
            .map(|at| row(at % 7, Direction::Write, (0.0, 1.0), u64::from(at) * 10, 5))
            .collect();
        rows.extend((0..2000).map(|rank| row(rank, Direction::Read, (2.0, 3.0), 0, 20_000)));
        assert!(conflicts(&rows).cut);
    }

    /// Per byte: who wrote it last and who has read it since.
    fn by_byte(rows: &[TraceRow]) -> Conflicts {
        let mut found = Conflicts::default();
        let mut order: Vec<&TraceRow> = rows.iter().collect();
        order.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut written: Vec<Option<(u32, f64)>> = vec![None; 100];
        let mut readers: Vec<Vec<(u32, f64)>> = vec![Vec::new(); 100];
        for row in order {
            let mut hit = [false; 3];
            for byte in row.offset as usize..row.stop() as usize {
                let wrote = written[byte];
                if row.direction == Direction::Read {
                    match wrote {
                        Some((rank, until)) if rank != row.rank => {
                            hit[0] |= found.raw.note(1, row.start - until, 1e-3)
                        }
                        Some(_) => found.within[0] += 1,
                        None => {}
                    }
                    readers[byte].push((row.rank, row.end));
                    continue;
                }
                let until = readers[byte].iter().map(|reader| reader.1).fold(0.0, f64::max);
                if readers[byte].iter().any(|reader| reader.0 != row.rank) {
                    hit[1] |= found.war.note(1, row.start - until, 1e-3);
                } else if !readers[byte].is_empty() {
                    found.within[1] += 1;
                }
                match wrote {
                    Some((rank, until)) if rank != row.rank => {
                        hit[2] |= found.waw.note(1, row.start - until, 1e-3)
                    }
                    Some(_) => found.within[2] += 1,
                    None => {}
                }
                written[byte] = Some((row.rank, row.end));
                readers[byte].clear();
            }
            found.raw.calls += u64::from(hit[0]);
            found.war.calls += u64::from(hit[1]);
            found.waw.calls += u64::from(hit[2]);
        }
        found
    }

    proptest! {
        #[test]
        fn agrees_with_a_byte_by_byte_account(trace in random::trace()) {
            for file in 0..2 {
                let rows: Vec<TraceRow> = trace.rows().filter(|row| row.file == file).collect();
                let want = by_byte(&rows);
                prop_assert_eq!(conflicts(&rows), want);
            }
        }
    }
}
