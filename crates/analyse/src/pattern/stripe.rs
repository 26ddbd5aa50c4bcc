//! Stripes that several ranks write: each stripe has one lock, which then goes back and forth.
//!
//! Only the first and the last stripe of a call can be shared with a neighbour without the bytes
//! themselves overlapping, so two entries per call are enough.

use super::traced::Rows;

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

/// Looks at the writes of one file.
pub(super) fn shared_stripes(writes: &Rows<'_>, stripe_size: u64) -> SharedStripes {
    let mut found = SharedStripes { stripe_size, ..SharedStripes::default() };
    if stripe_size == 0 {
        return found;
    }
    let mut touched: Vec<(u64, u32, u32)> = Vec::new();
    for (call, row) in (0u32..).zip(writes.iter()).filter(|(_, row)| row.length > 0) {
        let (first, last) = (row.offset / stripe_size, (row.stop() - 1) / stripe_size);
        if row.offset % stripe_size != 0 || (first == last && row.stop() % stripe_size != 0) {
            touched.push((first, row.rank, call));
        }
        if last != first && row.stop() % stripe_size != 0 {
            touched.push((last, row.rank, call));
        }
    }
    touched.sort_unstable();
    let mut calls: Vec<u32> = Vec::new();
    for stripe in touched.chunk_by(|a, b| a.0 == b.0) {
        found.partial += 1;
        if stripe[0].1 != stripe[stripe.len() - 1].1 {
            found.shared += 1;
            calls.extend(stripe.iter().map(|entry| entry.2));
        }
    }
    calls.sort_unstable();
    calls.dedup();
    found.calls = calls.len() as u64;
    let seconds = |call: u32| {
        let row = writes.trace.row(writes.numbers[call as usize] as usize);
        row.end - row.start
    };
    found.rank_seconds = calls.iter().map(|&call| seconds(call)).sum();
    found
}

#[cfg(test)]
mod tests {
    use super::{SharedStripes, shared_stripes};
    use crate::pattern::traced::Rows;
    use crate::{Direction, Trace, TraceRow};
    use netra_event::RecordId;

    /// Calls of (rank, offset, length), a second each, over stripes of 100 bytes.
    fn found(calls: &[(u32, u64, u64)]) -> SharedStripes {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        for &(rank, offset, length) in calls {
            let (direction, mpiio) = (Direction::Write, false);
            trace.push(TraceRow {
                file,
                rank,
                mpiio,
                direction,
                start: 0.0,
                end: 1.0,
                offset,
                length,
            });
        }
        let mut numbers: Vec<u32> = (0..trace.len() as u32).collect();
        shared_stripes(&Rows { trace: &trace, numbers: &mut numbers }, 100)
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
