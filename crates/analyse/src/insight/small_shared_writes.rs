//! `small-shared-writes`: most writes to shared files are too small for a parallel file system.
//!
//! Each call costs a round trip whatever its size, so below a stripe the cost is latency, not
//! bandwidth. Fires on share *and* number: ten small calls for a header hurt nobody. A call of
//! exactly the limit is not small. In a shared file they also make ranks fight for locks.

use super::Rule;
use super::query;
use super::small::{self, Case};
use crate::Direction;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "small-shared-writes",
    title: "small writes to shared files",
    explains: &[
        "independent-writes",
        "misaligned-file",
        "random-writes",
        "no-mpiio",
        "shared-stripes",
    ],
    sources: &[query::WRITE_SIZES],
    check: |facts, limit| small::check(&CASE, facts, limit),
};

const CASE: Case = Case { slug: "small-shared-writes", direction: Direction::Write, shared: true };

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Layer;
    use crate::sample::Sample;

    fn job(writes: u64) -> Sample {
        let mut job = Sample::new(8, 100.0);
        let usage = job.summed("/lus/out.dat", (0, 1.0), (3, 10.0));
        usage.write.calls = writes;
        usage.write.seconds = 40.0;
        usage.write.bins = Some([0, writes, 0, 0, 0, 0, 0, 0, 0, 0]);
        job
    }

    #[test]
    fn fires_on_a_shared_file() {
        assert_eq!(job(5_000).finds(&RULE)[0].lost, 10.0);
    }

    #[test]
    fn under_collective_calls_only_the_time_below_counts() {
        let mut job = job(5_000);
        let above = job.summed_as(Layer::Mpiio, "/lus/out.dat", (0, 38.0), (3, 40.0));
        above.write.seconds = 312.0;
        (above.write.calls, above.write.collective) = (800, 800);
        assert_eq!(job.finds(&RULE)[0].lost, 10.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(999).silent(&RULE);
    }

    #[test]
    fn is_silent_without_writes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
