//! Stripes that several ranks write: each stripe has one lock, which then goes back and forth.
//!
//! Only the first and the last stripe of a call can be shared with a neighbour without the bytes
//! themselves overlapping, so two entries per call are enough.

use crate::TraceRow;

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
pub(super) fn shared_stripes(writes: &[TraceRow], stripe_size: u64) -> SharedStripes {
    let mut found = SharedStripes { stripe_size, ..SharedStripes::default() };
    if stripe_size == 0 {
        return found;
    }
    let mut touched: Vec<(u64, u32, u32)> = Vec::new();
    for (call, row) in (0u32..).zip(writes).filter(|(_, row)| row.length > 0) {
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
    found.rank_seconds =
        calls.iter().map(|&call| writes[call as usize]).map(|row| row.end - row.start).sum();
    found
}

#[cfg(test)]
mod tests {
    use super::shared_stripes;
    use crate::{Direction, TraceRow};

    fn write(rank: u32, offset: u64, length: u64) -> TraceRow {
        let direction = Direction::Write;
        TraceRow { file: 0, rank, mpiio: false, direction, start: 0.0, end: 1.0, offset, length }
    }

    #[test]
    fn neighbours_share_the_stripe_between_them() {
        // Blocks of 150 over stripes of 100: 0-150, 150-300: both in stripe 1.
        let found = shared_stripes(&[write(0, 0, 150), write(1, 150, 150)], 100);
        assert_eq!((found.partial, found.shared, found.calls, found.rank_seconds), (1, 1, 2, 2.0));
    }

    #[test]
    fn aligned_writers_share_none() {
        let found = shared_stripes(&[write(0, 0, 200), write(1, 200, 200)], 100);
        assert_eq!((found.partial, found.shared, found.calls), (0, 0, 0));
    }

    #[test]
    fn one_writer_shares_with_nobody() {
        let found = shared_stripes(&[write(0, 0, 150), write(0, 150, 150)], 100);
        assert_eq!((found.partial, found.shared), (1, 0));
    }
}
