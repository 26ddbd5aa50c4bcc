//! Conflicts: a byte range that is used again after, or while, somebody writes it.
//!
//! Calls are taken in the order of their start. The bytes in question are cut into cells at every
//! border of a call; per cell it is known who wrote it last and who has read it since, and a call
//! is compared with that alone, which is what it depends on. Work is bounded: a trace in which
//! every call spans thousands of others' borders is cut, and says so.

use std::ops::ControlFlow;

use super::calls::Calls;
use super::cover::holds;
use super::radix;
use super::visible::Visible;
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
    /// Of bytes in order, those that the first did not flush in between: open under commit
    /// semantics.
    pub uncommitted: u64,
    /// Of bytes in order, those that were not closed by the first and opened by the second in
    /// between: open under session semantics.
    pub unopened: u64,
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
    /// Whether flushes, opens and closes were traced, so that `uncommitted` and `unopened` are known.
    pub semantics: bool,
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

    /// Takes in the conflicts of another file.
    pub fn absorb(&mut self, other: &Conflicts) {
        self.raw.absorb(&other.raw);
        self.war.absorb(&other.war);
        self.waw.absorb(&other.waw);
        self.within.iter_mut().zip(other.within).for_each(|(sum, bytes)| *sum += bytes);
        self.semantics &= other.semantics;
        self.cut |= other.cut;
    }
}

impl Hazard {
    fn absorb(&mut self, other: &Hazard) {
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.racing += other.racing;
        self.uncertain += other.uncertain;
        self.uncommitted += other.uncommitted;
        self.unopened += other.unopened;
    }
}

/// What is known about a stretch of bytes that every call covers whole or not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cell {
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

/// What calls are cut into: bytes, or whole stripes, each of which has one lock whatever part of it is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain(pub(super) u64);

impl Grain {
    /// Bytes themselves.
    pub(super) const BYTE: Grain = Grain(1);

    /// A call with all of the grains that it touches.
    pub(super) fn widen(self, row: &TraceRow) -> TraceRow {
        let Grain(size) = self;
        if size <= 1 || row.length == 0 {
            return *row;
        }
        let offset = row.offset - row.offset % size;
        let stop = row.stop().checked_next_multiple_of(size).unwrap_or(u64::MAX);
        TraceRow { offset, length: stop - offset, ..*row }
    }
}

/// Cells per call after which looking is given up.
const STEPS: usize = 64;
/// Cells of one file; what lies behind them is not looked at.
const CELLS: usize = 1 << 22;

/// Looks at the calls of one file. Only where something is written and used again can there be a
/// conflict: `contested` are these bytes.
pub(super) fn conflicts(
    calls: &Calls<'_>,
    grain: Grain,
    contested: &[(u64, u64)],
    visible: Option<&Visible>,
    limit: &Thresholds,
) -> Conflicts {
    let mut found = Conflicts { semantics: visible.is_some(), ..Conflicts::default() };
    if contested.is_empty() {
        return found;
    }
    let borders = borders(calls, grain, contested);
    found.cut = borders.len() > CELLS;
    let borders = &borders[..borders.len().min(CELLS)];
    let mut search = Search {
        borders,
        cells: vec![Cell::default(); borders.len()],
        found,
        visible,
        skew: limit.clock_skew.0,
    };
    let mut steps = (calls.len() + 16) * STEPS;
    calls.each_in_order(|row| {
        let row = grain.widen(row);
        if holds(contested, &row) {
            steps = steps.saturating_sub(search.call(&row));
        }
        if steps > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    search.found.cut |= steps == 0;
    search.found
}

/// Where calls and contested stretches begin and end, within those stretches.
fn borders(calls: &Calls<'_>, grain: Grain, contested: &[(u64, u64)]) -> Vec<u64> {
    const BATCH: usize = 1 << 20;
    let mut borders: Vec<u64> = contested.iter().flat_map(|range| [range.0, range.1]).collect();
    let mut sorted = 0;
    let mut last = (0, 0);
    calls.each(|row| {
        let row = grain.widen(row);
        let both = (row.offset, row.stop());
        // Many a call uses the stripe of the one before.
        if both == last || !holds(contested, &row) {
            return;
        }
        last = both;
        borders.extend([row.offset, row.stop()]);
        // Most calls share their borders with others.
        if borders.len() >= sorted + BATCH {
            radix::sort_by_key(&mut borders, |border| *border);
            borders.dedup();
            sorted = borders.len();
        }
    });
    radix::sort_by_key(&mut borders, |border| *border);
    borders.dedup();
    borders
}

struct Search<'a> {
    /// A cell reaches from its border to the next one.
    borders: &'a [u64],
    cells: Vec<Cell>,
    found: Conflicts,
    visible: Option<&'a Visible>,
    skew: f64,
}

impl Search<'_> {
    /// Compares a call with what is known and takes it in; returns the cells it looked at.
    fn call(&mut self, row: &TraceRow) -> usize {
        let first = self.borders.partition_point(|border| *border < row.offset);
        let mut hit = [false; 3];
        let mut at = first;
        while let Some(&[start, stop]) = self.borders.get(at..at + 2)
            && stop <= row.stop()
        {
            self.compare(row, stop - start, at, &mut hit);
            at += 1;
        }
        let hazards = [&mut self.found.raw, &mut self.found.war, &mut self.found.waw];
        hazards.into_iter().zip(hit).for_each(|(hazard, hit)| hazard.calls += u64::from(hit));
        at - first + 1
    }

    fn compare(&mut self, row: &TraceRow, bytes: u64, at: usize, hit: &mut [bool; 3]) {
        let (found, cell, visible) = (&mut self.found, &mut self.cells[at], self.visible);
        if row.direction == Direction::Read {
            if let Some((writer, until)) = cell.written {
                let other = writer != row.rank;
                found.within[0] += if other { 0 } else { bytes };
                hit[0] |= other && found.raw.note(bytes, row.start - until, self.skew);
                if other {
                    found.raw.see(visible, bytes, (writer, until), row);
                }
            }
            let mine = Readers { one: row.rank, several: false, until: row.end };
            cell.read = Some(cell.read.map_or(mine, |readers| Readers {
                several: readers.several || readers.one != row.rank,
                until: readers.until.max(row.end),
                ..readers
            }));
            return;
        }
        if let Some(readers) = cell.read {
            let other = readers.several || readers.one != row.rank;
            found.within[1] += if other { 0 } else { bytes };
            hit[1] |= other && found.war.note(bytes, row.start - readers.until, self.skew);
        }
        if let Some((writer, until)) = cell.written {
            let other = writer != row.rank;
            found.within[2] += if other { 0 } else { bytes };
            hit[2] |= other && found.waw.note(bytes, row.start - until, self.skew);
            if other {
                found.waw.see(visible, bytes, (writer, until), row);
            }
        }
        *cell = Cell { written: Some((row.rank, row.end)), read: None };
    }
}

impl Hazard {
    /// Counts bytes in order that another rank's write may not have made visible.
    fn see(
        &mut self,
        visible: Option<&Visible>,
        bytes: u64,
        (writer, until): (u32, f64),
        row: &TraceRow,
    ) {
        let Some(visible) = visible.filter(|_| row.start >= until) else { return };
        if !visible.is_committed(writer, until, row.start) {
            self.uncommitted += bytes;
        }
        if !visible.is_reopened(writer, row.rank, until, row.start) {
            self.unopened += bytes;
        }
    }

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
    use super::{Conflicts, Grain};
    use crate::pattern::calls::Calls;
    use crate::pattern::random;
    use crate::pattern::traced::contested;
    use crate::{Direction, Layer, Thresholds, Trace, TraceRow};
    use netra_event::RecordId;
    use proptest::prelude::*;

    fn conflicts(rows: &[TraceRow]) -> Conflicts {
        grained(rows, Grain::BYTE)
    }

    fn grained(rows: &[TraceRow], grain: Grain) -> Conflicts {
        let mut trace = Trace::default();
        trace.file(RecordId(1));
        rows.iter().for_each(|row| trace.push(*row));
        let calls = Calls::of(&trace, trace.runs().iter().collect());
        let contested = contested(&calls, grain);
        super::conflicts(&calls, grain, &contested, None, &Thresholds::default())
    }

    fn row(rank: u32, direction: Direction, at: (f64, f64), offset: u64, length: u64) -> TraceRow {
        TraceRow {
            file: 0,
            rank,
            layer: Layer::Posix,
            direction,
            start: at.0,
            end: at.1,
            offset,
            length,
        }
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

    /// Calls split at stripes, each piece against what is known of its stripe; a stripe counts with all its bytes.
    fn by_stripe(rows: &[TraceRow], size: u64) -> Conflicts {
        let whole: Vec<TraceRow> = rows
            .iter()
            .map(|row| {
                let (first, last) = (row.offset / size, (row.stop() - 1) / size);
                TraceRow { offset: first, length: last - first + 1, ..*row }
            })
            .collect();
        let mut found = by_byte(&whole);
        for hazard in [&mut found.raw, &mut found.war, &mut found.waw] {
            for bytes in [&mut hazard.bytes, &mut hazard.racing, &mut hazard.uncertain] {
                *bytes *= size;
            }
        }
        found.within.iter_mut().for_each(|bytes| *bytes *= size);
        found
    }

    #[test]
    fn neighbours_in_one_stripe_contend_for_it_though_no_byte_is_shared() {
        use Direction::Write;
        let rows = [
            row(0, Write, (0.0, 2.0), 0, 50),
            row(1, Write, (1.0, 3.0), 50, 60),
            row(0, Write, (4.0, 5.0), 200, 50),
        ];
        assert!(!conflicts(&rows).any());
        let found = grained(&rows, Grain(100));
        assert_eq!((found.waw.bytes, found.waw.racing, found.waw.calls), (100, 100, 1));
        assert_eq!((found.raw.bytes, found.war.bytes), (0, 0));
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

        #[test]
        fn agrees_with_an_account_of_split_calls(trace in random::trace(), size in 1u64..12) {
            for file in 0..2 {
                let rows: Vec<TraceRow> =
                    trace.rows().filter(|row| row.file == file && row.length > 0).collect();
                prop_assert_eq!(grained(&rows, Grain(size)), by_stripe(&rows, size));
            }
        }
    }
}
