//! The same block read by (nearly) every rank: one of them could read it and tell the others.

use super::traced::Rows;
use crate::Thresholds;

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
pub(super) fn common_blocks(reads: &mut Rows<'_>, nprocs: u64, limit: &Thresholds) -> CommonBlocks {
    let mut found = CommonBlocks::default();
    if nprocs < limit.common_block_ranks {
        return found;
    }
    reads.sort_by_key(|row| (row.offset, row.length, row.rank));
    let enough = (limit.common_block_share.0 * nprocs as f64).ceil() as u64;
    let mut block = Block::default();
    for row in reads.iter().filter(|row| row.length > 0) {
        if (row.offset, row.length) != (block.offset, block.length) {
            block.end(enough, &mut found);
            block = Block { offset: row.offset, length: row.length, ..Block::default() };
        }
        block.ranks += u64::from(block.last != Some(row.rank));
        block.last = Some(row.rank);
        block.calls += 1;
        block.seconds += row.end - row.start;
    }
    block.end(enough, &mut found);
    found
}

/// One block while its reads come by, rank after rank.
#[derive(Default)]
struct Block {
    offset: u64,
    length: u64,
    last: Option<u32>,
    ranks: u64,
    calls: u64,
    seconds: f64,
}

impl Block {
    /// Counts it if enough ranks have read it.
    fn end(&self, enough: u64, found: &mut CommonBlocks) {
        if self.ranks >= enough && self.calls > 0 {
            found.blocks += 1;
            found.calls += self.calls;
            found.bytes += self.calls * self.length;
            found.rank_seconds += self.seconds;
        }
    }
}
