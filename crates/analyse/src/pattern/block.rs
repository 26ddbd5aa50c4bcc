//! The same block read by (nearly) every rank: one of them could read it and tell the others.

use crate::{Thresholds, TraceRow};

/// Blocks of one file that nearly every rank reads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CommonBlocks {
    /// Different (offset, length) pairs.
    pub blocks: u64,
    /// Calls that read them.
    pub calls: u64,
    /// Bytes that these calls moved.
    pub bytes: u64,
    /// Seconds of all ranks in these calls.
    pub rank_seconds: f64,
}

/// Finds such blocks among the reads of one file. Sorts.
pub(super) fn common_blocks(
    reads: &mut [TraceRow],
    nprocs: u64,
    limit: &Thresholds,
) -> CommonBlocks {
    let mut found = CommonBlocks::default();
    if nprocs < limit.common_block_ranks {
        return found;
    }
    reads.sort_by_key(|row| (row.offset, row.length, row.rank));
    let enough = (limit.common_block_share.0 * nprocs as f64).ceil() as usize;
    for block in reads.chunk_by(|a, b| (a.offset, a.length) == (b.offset, b.length)) {
        let ranks = block.chunk_by(|a, b| a.rank == b.rank).count();
        if ranks >= enough && block[0].length > 0 {
            found.blocks += 1;
            found.calls += block.len() as u64;
            found.bytes += block.iter().map(|row| row.length).sum::<u64>();
            found.rank_seconds += block.iter().map(|row| row.end - row.start).sum::<f64>();
        }
    }
    found
}
