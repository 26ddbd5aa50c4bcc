//! Who is at work alone: stretches in which one rank goes on while all others have finished.
//!
//! A rank that computes between its calls spends little time in them, so that neither its sums nor its share of
//! a burst show that the others wait for it. What shows it is the order: the others' last call ends, this rank
//! makes call after call, and only then do the others go on. Calls are looked at once, in the order of their starts.

use std::collections::BTreeMap;

use super::median;
use crate::TraceRow;

/// What a rank did while all others had finished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lone {
    /// Who.
    pub rank: u32,
    /// From the others' last end to its own, over all stretches.
    pub seconds: f64,
    /// How many stretches.
    pub stretches: u64,
    /// Bytes that it moved in them.
    pub bytes: u64,
    /// From the beginning of the first to the end of the last.
    pub window: (f64, f64),
}

/// The rank that is longest at work alone, beside the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Longest {
    /// What it did alone.
    pub alone: Lone,
    /// All its calls and bytes.
    pub all: Share,
    /// The median rank's calls and bytes.
    pub usual: Share,
    /// The median of the seconds that the other ranks were alone.
    pub others: f64,
    /// Ranks with calls.
    pub ranks: u64,
}

/// What a rank did in the whole job.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// Calls.
    pub calls: u64,
    /// Bytes, through every traced layer.
    pub bytes: u64,
}

/// Stretches, found call by call.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// The latest end, and the latest one of another rank.
    latest: Option<(u32, f64)>,
    other: Option<f64>,
    stretch: Option<Stretch>,
    found: BTreeMap<u32, Lone>,
    /// Seconds below which a stretch is none.
    least: f64,
}

/// Calls of one rank with none of another between them.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    rank: u32,
    /// When the others had finished.
    since: f64,
    end: f64,
    calls: u64,
    bytes: u64,
    /// The longest time without a call.
    pause: f64,
}

impl Finder {
    pub(super) fn new(least: f64) -> Finder {
        Finder { least, ..Finder::default() }
    }

    /// The next call by its start.
    pub(super) fn see(&mut self, row: &TraceRow) {
        match &mut self.stretch {
            Some(stretch) if stretch.rank == row.rank => stretch.go_on(row),
            _ => {
                self.end();
                let since = match self.latest {
                    Some((rank, _)) if rank == row.rank => self.other,
                    latest => latest.map(|latest| latest.1),
                };
                self.stretch = since.map(|since| Stretch::begin(row, since));
            }
        }
        self.remember(row);
    }

    /// Keeps the two latest ends of different ranks.
    fn remember(&mut self, row: &TraceRow) {
        match &mut self.latest {
            Some((rank, end)) if *rank == row.rank => *end = end.max(row.end),
            Some((rank, end)) if row.end > *end => {
                self.other = Some(*end);
                (*rank, *end) = (row.rank, row.end);
            }
            Some(_) => self.other = Some(self.other.unwrap_or(row.end).max(row.end)),
            None => self.latest = Some((row.rank, row.end)),
        }
    }

    /// Another rank goes on: what was a stretch is kept.
    fn end(&mut self) {
        let Some(stretch) = self.stretch.take() else { return };
        let seconds = stretch.end - stretch.since;
        // Two calls with nothing but a long time between them are no work that anybody waits for.
        if stretch.calls < 2 || seconds < self.least || stretch.pause * 2.0 > seconds {
            return;
        }
        let window = (stretch.since, stretch.end);
        let none = Lone { rank: stretch.rank, seconds: 0.0, stretches: 0, bytes: 0, window };
        let lone = self.found.entry(stretch.rank).or_insert(none);
        lone.seconds += seconds;
        lone.stretches += 1;
        lone.bytes = lone.bytes.saturating_add(stretch.bytes);
        lone.window.1 = stretch.end;
    }

    /// The rank that was alone longest, where several ranks made calls.
    pub(super) fn longest(mut self, shares: &BTreeMap<u32, Share>) -> Option<Longest> {
        self.end();
        let by = |a: &&Lone, b: &&Lone| a.seconds.total_cmp(&b.seconds).then(b.rank.cmp(&a.rank));
        let alone = *self.found.values().max_by(by)?;
        let middle = |values: &mut dyn Iterator<Item = u64>| -> u64 {
            let mut values: Vec<u64> = values.collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        let mut others: Vec<f64> = shares
            .keys()
            .filter(|rank| **rank != alone.rank)
            .map(|rank| self.found.get(rank).map_or(0.0, |lone| lone.seconds))
            .collect();
        let rest = || shares.iter().filter(|share| *share.0 != alone.rank).map(|share| share.1);
        Some(Longest {
            alone,
            all: shares.get(&alone.rank).copied().unwrap_or_default(),
            usual: Share {
                calls: middle(&mut rest().map(|share| share.calls)),
                bytes: middle(&mut rest().map(|share| share.bytes)),
            },
            others: median(&mut others)?,
            ranks: shares.len() as u64,
        })
    }
}

impl Stretch {
    fn begin(row: &TraceRow, since: f64) -> Stretch {
        let pause = (row.start - since).max(0.0);
        let (rank, end, bytes) = (row.rank, row.end, row.length);
        Stretch { rank, since, end, calls: 1, bytes, pause }
    }

    fn go_on(&mut self, row: &TraceRow) {
        // What lies before the others' end is no time alone.
        self.pause = self.pause.max(row.start - self.end.max(self.since));
        self.end = self.end.max(row.end);
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(row.length);
    }
}

#[cfg(test)]
mod tests {
    use super::{Finder, Lone, Share};
    use crate::pattern::random;
    use crate::{Direction, Layer, TraceRow};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn row(rank: u32, start: f64, end: f64) -> TraceRow {
        let (layer, direction) = (Layer::Posix, Direction::Write);
        TraceRow { file: 0, rank, layer, direction, start, end, offset: 0, length: 8 }
    }

    fn found(rows: &[TraceRow]) -> Vec<Lone> {
        let mut finder = Finder::new(1.0);
        rows.iter().for_each(|row| finder.see(row));
        finder.end();
        finder.found.into_values().collect()
    }

    #[test]
    fn one_goes_on_while_the_others_have_finished() {
        let rows = [row(0, 0.0, 1.0), row(1, 0.0, 2.0), row(0, 2.0, 3.0), row(0, 4.0, 6.0)];
        let rows = [&rows[..], &[row(1, 6.0, 7.0), row(0, 6.5, 8.0)]].concat();
        let window = (2.0, 6.0);
        assert_eq!(found(&rows), [Lone { rank: 0, seconds: 4.0, stretches: 1, bytes: 16, window }]);
    }

    #[test]
    fn a_call_long_after_is_not_waited_for() {
        assert_eq!(found(&[row(1, 0.0, 1.0), row(0, 8.0, 8.5), row(0, 9.0, 9.5)]), []);
        assert_eq!(found(&[row(1, 0.0, 1.0), row(0, 1.0, 9.0)]), [], "a single call");
    }

    #[test]
    fn while_another_call_lasts_nobody_is_alone() {
        assert_eq!(found(&[row(1, 0.0, 9.0), row(0, 1.0, 2.0), row(0, 3.0, 4.0)]), []);
    }

    #[test]
    fn the_longest_stands_beside_the_median_of_the_others() {
        let mut finder = Finder::new(1.0);
        for rank in [2, 1] {
            finder.see(&row(rank, 0.0, 1.0));
        }
        for at in 1..9 {
            finder.see(&row(0, f64::from(at), f64::from(at) + 1.0));
        }
        let share = |calls| Share { calls, bytes: calls * 8 };
        let shares = BTreeMap::from([(0, share(8)), (1, share(1)), (2, share(1))]);
        let longest = finder.longest(&shares).unwrap();
        assert_eq!((longest.alone.rank, longest.alone.seconds, longest.ranks), (0, 8.0, 3));
        assert_eq!((longest.all, longest.usual, longest.others), (share(8), share(1), 0.0));
    }

    proptest! {
        /// For each maximal row of calls by one rank, the others' latest end is looked for anew.
        #[test]
        fn agrees_with_looking_back_each_time(trace in random::trace()) {
            let rows: Vec<TraceRow> = trace.in_order(trace.runs()).collect();
            let mut want: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
            let mut at = 0;
            for calls in rows.chunk_by(|a, b| a.rank == b.rank) {
                let rank = calls[0].rank;
                let before = rows[..at].iter().filter(|row| row.rank != rank);
                let since = before.map(|row| row.end).fold(f64::NEG_INFINITY, f64::max);
                at += calls.len();
                let end = calls.iter().map(|row| row.end).fold(since, f64::max);
                // Of each moment without a call of this rank, how long it lasts.
                let mut pause: f64 = 0.0;
                for row in calls {
                    let ended = calls.iter().filter(|other| other.start < row.start || std::ptr::eq(*other, row));
                    let ended = ended.filter(|other| !std::ptr::eq(*other, row)).map(|other| other.end);
                    pause = pause.max(row.start - ended.fold(since, f64::max));
                }
                if since.is_finite() && calls.len() > 1 && end - since >= 1.0 && pause * 2.0 <= end - since {
                    let sum = want.entry(rank).or_default();
                    *sum = (sum.0 + end - since, sum.1 + 1);
                }
            }
            let got: BTreeMap<u32, (f64, u64)> =
                found(&rows).iter().map(|one| (one.rank, (one.seconds, one.stretches))).collect();
            prop_assert_eq!(got, want);
        }
    }
}
