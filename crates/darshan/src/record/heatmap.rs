//! Heat maps: bytes written and read in each slice of time. Head, write bins, read bins.

use super::put;
use netra_event::{Rank, RecordId};

/// Bytes of the head. Its last sixteen are pointers of the process that wrote it, and mean nothing.
pub const HEAD: usize = 48;
/// Offset of a bin's width in seconds.
pub const WIDTH_AT: usize = 16;
/// Offset of the number of bins of each kind.
pub const BINS_AT: usize = 24;

/// Encodes a head.
#[must_use]
pub fn head(id: RecordId, rank: Rank, width_seconds: f64, bins: u64) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    put(&mut bytes, 0, id.0);
    put(&mut bytes, 8, rank.0.cast_unsigned());
    put(&mut bytes, WIDTH_AT, width_seconds.to_bits());
    put(&mut bytes, BINS_AT, bins);
    bytes
}
