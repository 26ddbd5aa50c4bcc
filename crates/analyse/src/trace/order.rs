//! Runs merged by the starts of their calls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Rows, TraceRow};

/// Calls of several runs in the order of their starts.
#[derive(Debug)]
pub struct InOrder<'a> {
    runs: Vec<Rows<'a>>,
    /// The next call of every run but the one that is being read.
    waiting: BinaryHeap<Reverse<Next>>,
    /// The run that is being read, and its next call.
    now: Option<(Next, TraceRow)>,
    ahead: Vec<Option<TraceRow>>,
}

/// When a run's next call begins, as a number that sorts, and which run that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    start: u64,
    run: u32,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(mut runs: Vec<Rows<'a>>) -> InOrder<'a> {
        let ahead: Vec<Option<TraceRow>> = runs.iter_mut().map(Iterator::next).collect();
        let first = (0u32..).zip(&ahead);
        let mut waiting: BinaryHeap<Reverse<Next>> = first
            .filter_map(|(run, row)| {
                Some(Reverse(Next { start: sortable(row.as_ref()?.start), run }))
            })
            .collect();
        let mut ahead = ahead;
        let now = waiting
            .pop()
            .and_then(|Reverse(next)| Some((next, ahead.get_mut(next.run as usize)?.take()?)));
        InOrder { runs, waiting, now, ahead }
    }
}

impl Iterator for InOrder<'_> {
    type Item = TraceRow;

    fn next(&mut self) -> Option<TraceRow> {
        let (place, row) = self.now.take()?;
        let run = place.run as usize;
        let following = self.runs.get_mut(run).and_then(Iterator::next);
        let following =
            following.map(|row| (Next { start: sortable(row.start), run: place.run }, row));
        // A run often goes on for a while before another one's turn: then nothing has to move.
        self.now = match (following, self.waiting.peek()) {
            (Some((next, row)), Some(Reverse(other))) if *other < next => {
                self.ahead[run] = Some(row);
                let mut top = self.waiting.peek_mut()?;
                let Reverse(other) = std::mem::replace(&mut *top, Reverse(next));
                drop(top);
                self.ahead[other.run as usize].take().map(|row| (other, row))
            }
            (Some(next), _) => Some(next),
            (None, _) => self
                .waiting
                .pop()
                .and_then(|Reverse(next)| Some((next, self.ahead[next.run as usize].take()?))),
        };
        Some(row)
    }
}

/// The order of floats as the order of numbers: negative ones turned round, below the others.
pub(crate) fn sortable(time: f64) -> u64 {
    let bits = time.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}
