//! The same block read by (nearly) every rank: one of them could read it and tell the others.

use std::collections::HashMap;

use super::calls::Calls;
use crate::{Direction, Thresholds, TraceRow};

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

/// One block while its reads come by, rank after rank.
#[derive(Debug, Clone, Copy)]
struct Block {
    last: u32,
    ranks: u64,
    calls: u64,
    seconds: f64,
}

/// Finds such blocks among the reads of one file.
///
/// Ranks come one after another. A block that nearly every rank reads is read by one of the first
/// few, so only those make entries; the others only count.
pub(super) fn common_blocks(calls: &Calls<'_>, ranks: u64, limit: &Thresholds) -> CommonBlocks {
    let enough = (limit.common_block_share.0 * ranks as f64).ceil() as u64;
    let mut readers = calls.by_rank_that(Direction::Read);
    let is_rank = |run: &usize| u64::from(calls.runs()[*run].rank) < ranks;
    readers.retain(|runs| runs.first().is_some_and(is_rank));
    if ranks < limit.common_block_ranks || (readers.len() as u64) < enough {
        return CommonBlocks::default();
    }
    let first_few = readers.len() as u64 - enough + 1;
    let mut blocks: HashMap<(u64, u64), Block> = HashMap::new();
    for (place, runs) in (0..).zip(readers) {
        let mut see = |row: &TraceRow| {
            if row.length == 0 {
                return;
            }
            let (key, rank) = ((row.offset, row.length), row.rank);
            let new = Block { last: rank, ranks: 1, calls: 0, seconds: 0.0 };
            let block = if place < first_few {
                Some(blocks.entry(key).or_insert(new))
            } else {
                blocks.get_mut(&key)
            };
            let Some(block) = block else { return };
            block.ranks += u64::from(block.last != rank);
            block.last = rank;
            block.calls += 1;
            block.seconds += row.took();
        };
        runs.into_iter().for_each(|run| calls.each_of_run(run, &mut see));
    }
    sum(blocks, enough)
}

/// Adds up those that enough ranks have read, in the order of their place: sums of floats depend on it.
fn sum(blocks: HashMap<(u64, u64), Block>, enough: u64) -> CommonBlocks {
    let mut read: Vec<((u64, u64), Block)> =
        blocks.into_iter().filter(|(_, block)| block.ranks >= enough).collect();
    read.sort_unstable_by_key(|block| block.0);
    let mut found = CommonBlocks::default();
    for ((_, length), block) in read {
        found.blocks += 1;
        found.calls += block.calls;
        found.bytes += block.calls * length;
        found.rank_seconds += block.seconds;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{CommonBlocks, common_blocks};
    use crate::pattern::calls::Calls;
    use crate::pattern::random;
    use crate::{Direction, Thresholds, Trace, TraceRow};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Every pair of offset and length, and who reads it.
    fn counted(trace: &Trace, ranks: u64, enough: usize) -> CommonBlocks {
        let read = |row: &TraceRow| {
            let is_rank = u64::from(row.rank) < ranks;
            row.length > 0 && row.direction == Direction::Read && is_rank
        };
        let rows: Vec<TraceRow> = trace.rows().filter(read).collect();
        let blocks: BTreeSet<(u64, u64)> =
            rows.iter().map(|row| (row.offset, row.length)).collect();
        let mut found = CommonBlocks::default();
        for block in blocks {
            let reads: Vec<&TraceRow> =
                rows.iter().filter(|row| (row.offset, row.length) == block).collect();
            let ranks: BTreeSet<u32> = reads.iter().map(|row| row.rank).collect();
            if ranks.len() >= enough {
                found.blocks += 1;
                found.calls += reads.len() as u64;
                found.bytes += reads.len() as u64 * block.1;
                found.rank_seconds += reads.iter().map(|row| row.took()).sum::<f64>();
            }
        }
        found
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_every_block(trace in random::trace()) {
            let limit = Thresholds { common_block_ranks: 2, ..Thresholds::default() };
            let calls = Calls::of(&trace, trace.runs().iter().collect());
            for ranks in [2, 3, 4] {
                let enough = (0.9 * ranks as f64).ceil() as usize;
                let want = counted(&trace, ranks, enough);
                prop_assert_eq!(common_blocks(&calls, ranks, &limit), want);
            }
        }
    }
}
