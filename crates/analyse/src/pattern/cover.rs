//! Which bytes of a file calls cover, and which of them more than once.
//!
//! Calls are taken in batches: each is sorted and merged into ranges that are kept apart and in
//! order, so that memory follows the gaps in what is covered, not the number of calls.

use crate::{Direction, TraceRow};

/// Ranges of bytes, apart and in order.
pub(crate) type Ranges = Vec<(u64, u64)>;

/// What is covered so far.
#[derive(Debug, Default)]
pub(super) struct Cover {
    once: Ranges,
    twice: Ranges,
    batch: Ranges,
}

/// Ranges that are sorted at a time.
const BATCH: usize = 1 << 18;

impl Cover {
    /// Takes in a call; one that follows the last call's bytes costs nothing.
    pub(super) fn add(&mut self, row: &TraceRow) {
        if row.length == 0 {
            return;
        }
        match self.batch.last_mut() {
            Some(last) if last.1 == row.offset => last.1 = row.stop(),
            _ => self.batch.push((row.offset, row.stop())),
        }
        if self.batch.len() >= BATCH {
            self.merge();
        }
    }

    /// The bytes that are covered, and those that are covered more than once.
    pub(super) fn ranges(mut self) -> (Ranges, Ranges) {
        self.merge();
        (self.once, self.twice)
    }

    fn merge(&mut self) {
        self.batch.sort_unstable();
        let (mut once, mut twice): (Ranges, Ranges) = (Vec::new(), Vec::new());
        for &(start, stop) in &self.batch {
            let until = once.last().map_or(0, |last| last.1);
            if start < until {
                join(&mut twice, (start, stop.min(until)));
            }
            join(&mut once, (start, stop));
        }
        self.batch.clear();
        let again = common(&self.once, &once);
        self.twice = union(&union(&self.twice, &twice), &again);
        self.once = union(&self.once, &once);
    }
}

/// Finds the bytes that calls write and read, or write twice: nothing else can be in dispute.
#[derive(Debug, Default)]
pub(crate) struct Contested {
    read: Cover,
    written: Cover,
}

impl Contested {
    pub(crate) fn add(&mut self, row: &TraceRow) {
        match row.direction {
            Direction::Read => self.read.add(row),
            Direction::Write => self.written.add(row),
        }
    }

    pub(crate) fn ranges(self) -> Ranges {
        let (read, _) = self.read.ranges();
        let (once, twice) = self.written.ranges();
        used_again(&read, &once, &twice)
    }
}

/// Bytes that are written and read, or written twice.
pub(super) fn used_again(read: &[(u64, u64)], once: &[(u64, u64)], twice: &[(u64, u64)]) -> Ranges {
    union(twice, &common(once, read))
}

/// Adds a range that begins no earlier than the last one.
pub(crate) fn join(ranges: &mut Ranges, range: (u64, u64)) {
    match ranges.last_mut() {
        Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
        _ => ranges.push(range),
    }
}

/// What is in either.
pub(super) fn union(a: &[(u64, u64)], b: &[(u64, u64)]) -> Ranges {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut ranges = Vec::new();
    loop {
        let first = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
            (_, Some(_)) => b.next(),
            _ => a.next(),
        };
        match first {
            Some(&range) => join(&mut ranges, range),
            None => return ranges,
        }
    }
}

/// What is in both.
pub(super) fn common(mut a: &[(u64, u64)], mut b: &[(u64, u64)]) -> Ranges {
    let mut ranges = Vec::new();
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        let (start, stop) = (x.0.max(y.0), x.1.min(y.1));
        if start < stop {
            join(&mut ranges, (start, stop));
        }
        if x.1 <= y.1 {
            a = rest_of_a;
        } else {
            b = rest_of_b;
        }
    }
    ranges
}

/// Bytes in all ranges.
pub(super) fn bytes(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|range| range.1 - range.0).sum()
}

/// Whether a call reaches into one of them.
pub(crate) fn holds(ranges: &[(u64, u64)], row: &TraceRow) -> bool {
    let behind = ranges.partition_point(|range| range.1 <= row.offset);
    row.length > 0 && ranges.get(behind).is_some_and(|range| range.0 < row.stop())
}

#[cfg(test)]
mod tests {
    use super::{Cover, bytes, common, union};
    use crate::pattern::random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_marking_bytes(trace in random::trace(), step in 1usize..10) {
            let times = |byte: u64| {
                trace.rows().filter(|row| (row.offset..row.stop()).contains(&byte)).count()
            };
            let mut cover = Cover::default();
            for (at, row) in trace.rows().enumerate() {
                cover.add(&row);
                // As if batches were short.
                if at % step == 0 {
                    cover.merge();
                }
            }
            let (once, twice) = cover.ranges();
            let marked = |least: usize| (0..100).filter(|&byte| times(byte) >= least).count() as u64;
            prop_assert_eq!((bytes(&once), bytes(&twice)), (marked(1), marked(2)));
        }
    }

    #[test]
    fn ranges_join_where_they_touch() {
        assert_eq!(union(&[(0, 5), (9, 10)], &[(5, 7), (20, 21)]), [(0, 7), (9, 10), (20, 21)]);
        assert_eq!(common(&[(0, 5), (9, 20)], &[(4, 10), (12, 13)]), [(4, 5), (9, 10), (12, 13)]);
        assert_eq!(union(&[], &[]), []);
    }
}
