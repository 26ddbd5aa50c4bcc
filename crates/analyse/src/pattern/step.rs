//! How each rank goes through a file: from call to call on, by equal strides, forward, or back.
//!
//! A step leads from one call to the next one of the same rank, layer and direction. It is *consecutive* when it begins where the
//! last call ended, *strided* when it leaves a gap and is as long as the step before or behind it, else it goes
//! *forward* or *back*. Loops over a row of a matrix, one variable of records or the blocks of one rank in a shared file
//! are strided: every call is small and in order, and a description of the pattern would make them one.

use std::collections::HashMap;

use super::calls::Calls;
use crate::{Direction, TraceRow};

/// The steps of all ranks through one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Began where the last call ended.
    pub consecutive: u64,
    /// Left a gap, of equal length as a neighbouring step.
    pub strided: u64,
    /// Left a gap of another length.
    pub forward: u64,
    /// Began before the end of the last call.
    pub back: u64,
    /// The length of most strided steps, from begin to begin; the smallest of equally common ones.
    pub stride: u64,
}

/// Different strides that are counted; others are strided steps of unknown length.
const STRIDES: usize = 4096;

impl Steps {
    /// Steps that there were.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.consecutive + self.strided + self.forward + self.back
    }
}

/// Looks at runs of one file, layer and direction.
pub(super) fn steps(calls: &Calls<'_>, way: Direction) -> Steps {
    let mut walk = Walk::default();
    for runs in calls.by_rank_that(way) {
        walk.last = None;
        calls.each_in_order_of(&runs, |row| walk.to(row));
    }
    let most =
        walk.strides.iter().max_by_key(|(stride, times)| (**times, std::cmp::Reverse(**stride)));
    Steps { stride: most.map_or(0, |(stride, _)| *stride), ..walk.steps }
}

#[derive(Default)]
struct Walk {
    steps: Steps,
    strides: HashMap<u64, u64>,
    last: Option<Last>,
}

/// The call before, and the step that led to it.
#[derive(Clone, Copy)]
struct Last {
    offset: u64,
    stop: u64,
    /// Its length if it left a gap, and whether it has been found to be strided.
    gap: Option<(u64, bool)>,
}

impl Walk {
    fn to(&mut self, row: &TraceRow) {
        let gap = self.last.and_then(|last| self.step(last, row));
        self.last = Some(Last { offset: row.offset, stop: row.stop(), gap });
    }

    /// Counts a step; gives its length if it left a gap.
    fn step(&mut self, last: Last, row: &TraceRow) -> Option<(u64, bool)> {
        if row.offset == last.stop {
            self.steps.consecutive += 1;
            return None;
        }
        if row.offset < last.stop {
            self.steps.back += 1;
            return None;
        }
        let length = row.offset - last.offset;
        match last.gap {
            Some((before, known)) if before == length => {
                // The first of equal steps was taken for one of its own.
                let new = 1 + u64::from(!known);
                self.steps.strided += new;
                self.steps.forward -= new - 1;
                self.count(length, new);
                Some((length, true))
            }
            _ => {
                self.steps.forward += 1;
                Some((length, false))
            }
        }
    }

    fn count(&mut self, length: u64, times: u64) {
        if self.strides.len() < STRIDES || self.strides.contains_key(&length) {
            *self.strides.entry(length).or_default() += times;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Steps, steps};
    use crate::pattern::calls::Calls;
    use crate::pattern::random;
    use crate::{Direction, Layer, Trace, TraceRow};
    use netra_event::RecordId;
    use proptest::prelude::*;

    fn of(trace: &Trace, way: Direction) -> Steps {
        steps(&Calls::of(trace, trace.runs().iter().collect()), way)
    }

    #[test]
    fn blocks_of_one_rank_among_others_are_strided() {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        for block in 0..12_u32 {
            trace.push(TraceRow {
                file,
                rank: block % 4,
                layer: Layer::Posix,
                direction: Direction::Write,
                start: f64::from(block),
                end: f64::from(block) + 0.5,
                offset: u64::from(block) * 100,
                length: 100,
            });
        }
        // Three blocks of each of four ranks: two steps of 400 bytes each.
        assert_eq!(
            of(&trace, Direction::Write),
            Steps { strided: 8, stride: 400, ..Steps::default() }
        );
    }

    /// Every step against its two neighbours.
    fn by_pairs(trace: &Trace) -> Steps {
        let mut found = Steps::default();
        let mut lengths: Vec<u64> = Vec::new();
        for rank in 0..4 {
            let mut rows: Vec<TraceRow> = trace.rows().filter(|row| row.rank == rank).collect();
            rows.sort_by(|a, b| a.start.total_cmp(&b.start));
            let gap = |at: usize| -> Option<u64> {
                let (one, next) = (rows.get(at)?, rows.get(at + 1)?);
                (next.offset > one.stop()).then(|| next.offset - one.offset)
            };
            for at in 0..rows.len().saturating_sub(1) {
                let length = gap(at);
                let before = at.checked_sub(1).and_then(gap);
                match length {
                    None if rows[at + 1].offset == rows[at].stop() => found.consecutive += 1,
                    None => found.back += 1,
                    Some(length) if before == Some(length) || gap(at + 1) == Some(length) => {
                        found.strided += 1;
                        lengths.push(length);
                    }
                    Some(_) => found.forward += 1,
                }
            }
        }
        let times = |length: &u64| lengths.iter().filter(|one| *one == length).count();
        let most = lengths.iter().max_by_key(|one| (times(one), std::cmp::Reverse(**one)));
        found.stride = most.copied().unwrap_or(0);
        found
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_every_pair(trace in random::trace()) {
            for file in 0..2 {
                for direction in Direction::BOTH {
                    let mut part = Trace::default();
                    part.file(RecordId(10));
                    part.file(RecordId(11));
                    let wanted = |row: &TraceRow| row.file == file && row.direction == direction;
                    trace.rows().filter(wanted).for_each(|row| part.push(row));
                    prop_assert_eq!(of(&part, direction), by_pairs(&part));
                }
            }
        }
    }
}
