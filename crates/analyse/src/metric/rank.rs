//! What each rank did for itself. Records that were summed over ranks are not in here, and
//! [`Ranks::complete`] says whether that matters.

use std::collections::BTreeMap;

use netra_event::Rank;

use super::Critical;
use crate::{Layer, Usage};

/// One rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RankFacts {
    /// Reads through POSIX and streams.
    pub reads: u64,
    /// Writes through POSIX and streams.
    pub writes: u64,
    /// Bytes through POSIX and streams.
    pub bytes: u64,
    /// Seconds in I/O.
    pub seconds: f64,
}

/// Ranks that have records of their own.
#[derive(Debug, Clone, Default)]
pub struct Ranks {
    /// By rank.
    pub by_rank: BTreeMap<Rank, RankFacts>,
    /// Whether no record was summed over ranks, so that this is all there is.
    pub complete: bool,
}

impl Ranks {
    pub(super) fn of(critical: &Critical, usages: &[Usage]) -> Ranks {
        let mut ranks = Ranks { by_rank: BTreeMap::new(), complete: true };
        for usage in usages {
            if usage.rank.is_shared() {
                ranks.complete = false;
            } else if matches!(usage.layer, Layer::Posix | Layer::Stdio) {
                let rank = ranks.by_rank.entry(usage.rank).or_default();
                rank.reads += usage.read.calls;
                rank.writes += usage.write.calls;
                rank.bytes = rank.bytes.saturating_add(usage.bytes());
            }
        }
        for spent in critical.spent.iter().filter(|spent| !spent.rank.is_shared()) {
            ranks.by_rank.entry(spent.rank).or_default().seconds += spent.total();
        }
        ranks
    }
}
