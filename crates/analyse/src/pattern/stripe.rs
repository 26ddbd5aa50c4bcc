//! Stripes that several ranks write: each stripe has one lock, which then goes back and forth.
//!
//! Only the first and the last stripe of a call can be shared with a neighbour without the bytes
//! themselves overlapping, so two entries per call are enough.

use std::collections::HashMap;

use super::calls::Calls;
use crate::{Direction, TraceRow};

/// Shared stripes of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SharedStripes {
    /// Bytes in a stripe.
    pub stripe_size: u64,
    /// Stripes that a call wrote only in part.
    pub partial: u64,
    /// Of these, stripes that more than one rank wrote.
    pub shared: u64,
    /// Calls that wrote to shared stripes.
    pub calls: u64,
    /// Seconds of all ranks in these calls.
    pub rank_seconds: f64,
}

/// Stands for a stripe that more than one rank wrote.
const SEVERAL: u32 = u32::MAX;

/// Looks at the writes of one file.
pub(super) fn shared_stripes(calls: &Calls<'_>, stripe_size: u64) -> SharedStripes {
    let mut found = SharedStripes { stripe_size, ..SharedStripes::default() };
    if stripe_size == 0 {
        return found;
    }
    let mut stripes: HashMap<u64, u32> = HashMap::new();
    calls.each_that(Direction::Write, |row| {
        for stripe in partial(row, stripe_size).into_iter().flatten() {
            let writer = stripes.entry(stripe).or_insert(row.rank);
            if *writer != row.rank {
                *writer = SEVERAL;
            }
        }
    });
    found.partial = stripes.len() as u64;
    found.shared = stripes.values().filter(|writer| **writer == SEVERAL).count() as u64;
    if found.shared == 0 {
        return found;
    }
    let shared = |stripe: &u64| stripes.get(stripe) == Some(&SEVERAL);
    calls.each_that(Direction::Write, |row| {
        if partial(row, stripe_size).iter().flatten().any(shared) {
            found.calls += 1;
            found.rank_seconds += row.took();
        }
    });
    found
}

/// The stripes that a call writes only in part: its first, its last, or none.
fn partial(row: &TraceRow, size: u64) -> [Option<u64>; 2] {
    if row.length == 0 {
        return [None; 2];
    }
    let (first, last) = (row.offset / size, (row.stop() - 1) / size);
    let ends_within = !row.stop().is_multiple_of(size);
    let begins_within = !row.offset.is_multiple_of(size);
    [
        (begins_within || (first == last && ends_within)).then_some(first),
        (last != first && ends_within).then_some(last),
    ]
}

#[cfg(test)]
mod tests {
    use super::{SharedStripes, shared_stripes};
    use crate::pattern::calls::Calls;
    use crate::{Direction, Layer, Trace, TraceRow};
    use netra_event::RecordId;

    /// Calls of (rank, offset, length), a second each, over stripes of 100 bytes.
    fn found(calls: &[(u32, u64, u64)]) -> SharedStripes {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        for &(rank, offset, length) in calls {
            let (direction, layer) = (Direction::Write, Layer::Posix);
            trace.push(TraceRow {
                file,
                rank,
                layer,
                direction,
                start: 0.0,
                end: 1.0,
                offset,
                length,
            });
        }
        shared_stripes(&Calls::of(&trace, trace.runs().iter().collect()), 100)
    }

    #[test]
    fn neighbours_share_the_stripe_between_them() {
        // Blocks of 150 over stripes of 100: 0-150, 150-300: both in stripe 1.
        let found = found(&[(0, 0, 150), (1, 150, 150)]);
        assert_eq!((found.partial, found.shared, found.calls, found.rank_seconds), (1, 1, 2, 2.0));
    }

    #[test]
    fn aligned_writers_share_none() {
        let found = found(&[(0, 0, 200), (1, 200, 200)]);
        assert_eq!((found.partial, found.shared, found.calls), (0, 0, 0));
    }

    #[test]
    fn one_writer_shares_with_nobody() {
        let found = found(&[(0, 0, 150), (0, 150, 150)]);
        assert_eq!((found.partial, found.shared), (1, 0));
    }
}
