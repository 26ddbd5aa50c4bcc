//! `small-writes`: most writes by one rank are too small for a parallel file system.
//!
//! Each call costs a round trip whatever its size, so below a stripe the cost is latency, not
//! bandwidth. Fires on share *and* number: ten small calls for a header hurt nobody. A call of
//! exactly the limit is not small. Files of several ranks have their own rule.

use super::Rule;
use super::query;
use super::small::{self, Case};
use crate::Direction;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "small-writes",
    title: "small writes by one process",
    explains: &["misaligned-file", "random-writes"],
    sources: &[query::WRITE_SIZES],
    check: |facts, limit| small::check(&CASE, facts, limit),
};

const CASE: Case = Case { slug: "small-writes", direction: Direction::Write, shared: false };

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(writes: u64, exactly_one_mib: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/out.dat", 0);
        usage.write.calls = writes;
        usage.write.seconds = 10.0;
        usage.write.bins = Some([0, 0, 0, 0, writes, 0, 0, 0, 0, 0]);
        usage.common[0] = (1 << 20, exactly_one_mib);
        job
    }

    #[test]
    fn fires_on_many_small_writes() {
        job(10_000, 0).says(
            &RULE,
            "100 % of 10,000 writes to out.dat are below 1.00 MiB (most often 1.00 MiB)",
        );
    }

    #[test]
    fn exactly_one_mebibyte_is_not_small() {
        job(10_000, 9_001).silent(&RULE);
        assert_eq!(job(10_000, 8_999).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_writes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
