//! What the ranks of each node did, where the source names the hosts of ranks.

use std::collections::BTreeMap;

use netra_event::Rank;

use super::Ranks;
use crate::Job;

/// One node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeFacts {
    /// Its name.
    pub name: String,
    /// Ranks that ran on it.
    pub ranks: u64,
    /// Reads through POSIX and streams, as far as they are known by rank.
    pub reads: u64,
    /// Writes, alike.
    pub writes: u64,
    /// Bytes, alike.
    pub bytes: u64,
    /// Seconds of its ranks in I/O of their own.
    pub rank_seconds: f64,
    /// The rank that spent most of them, and how much.
    pub slowest: Option<(Rank, f64)>,
}

/// Nodes by name.
pub(super) fn all(job: &Job, ranks: &Ranks) -> Vec<NodeFacts> {
    let mut nodes: BTreeMap<&str, NodeFacts> = BTreeMap::new();
    for (rank, host) in &job.hosts {
        let node = nodes
            .entry(host)
            .or_insert_with(|| NodeFacts { name: host.clone(), ..NodeFacts::default() });
        node.ranks += 1;
        let rank = Rank(i64::from(*rank));
        let Some(did) = ranks.by_rank.get(&rank) else { continue };
        node.reads += did.reads;
        node.writes += did.writes;
        node.bytes = node.bytes.saturating_add(did.bytes);
        node.rank_seconds += did.seconds;
        if node.slowest.is_none_or(|slowest| did.seconds > slowest.1) {
            node.slowest = Some((rank, did.seconds));
        }
    }
    nodes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::NodeFacts;
    use crate::sample::Sample;
    use netra_event::Rank;

    #[test]
    fn ranks_are_added_up_by_their_hosts() {
        let mut job = Sample::new(3, 10.0);
        for rank in 0..3_u32 {
            let usage = job.posix("/lus/f", i64::from(rank));
            let many = u64::from(rank) + 1;
            (usage.read.calls, usage.read.bytes) = (many, many * 10);
            usage.read.seconds = f64::from(rank) + 0.5;
            let host = if rank < 2 { "n1" } else { "n2" };
            job.job.hosts.insert(rank, host.into());
        }
        let want = |name: &str, ranks, reads, bytes, rank_seconds, slowest| {
            let (name, writes, slowest) = (name.to_owned(), 0, Some(slowest));
            NodeFacts { name, ranks, reads, writes, bytes, rank_seconds, slowest }
        };
        assert_eq!(
            job.facts().hosts,
            [want("n1", 2, 3, 30, 2.0, (Rank(1), 1.5)), want("n2", 1, 3, 30, 2.5, (Rank(2), 2.5))]
        );
        assert_eq!(Sample::new(3, 10.0).facts().hosts, []);
    }
}
