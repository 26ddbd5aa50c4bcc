//! `small-shared-reads`: most reads from shared files are too small for a parallel file system.
//!
//! Each call costs a round trip whatever its size, so below a stripe the cost is latency, not
//! bandwidth. Fires on share *and* number: ten small calls for a header hurt nobody. A call of
//! exactly the limit is not small. In a shared file collective calls can gather them.

use super::Rule;
use super::query;
use super::small::{self, Case};
use crate::Direction;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "small-shared-reads",
    title: "small reads from shared files",
    explains: &["independent-reads", "misaligned-file", "random-reads", "no-mpiio"],
    sources: &[query::READ_SIZES],
    check: |facts, limit| small::check(&CASE, facts, limit),
};

const CASE: Case = Case { slug: "small-shared-reads", direction: Direction::Read, shared: true };

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(reads: u64) -> Sample {
        let mut job = Sample::new(8, 100.0);
        let usage = job.summed("/lus/in.dat", (0, 9.0), (3, 10.0));
        usage.read.calls = reads;
        usage.read.seconds = 76.0;
        usage.read.bins = Some([reads, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        job
    }

    #[test]
    fn fires_on_a_shared_file_with_the_slowest_ranks_time() {
        let found = job(5_000).finds(&RULE);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].lost, 10.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(999).silent(&RULE);
    }

    #[test]
    fn is_silent_without_reads() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
