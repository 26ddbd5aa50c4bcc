//! `redundant-reads`: the same rank reads the same bytes again and again.
//!
//! What was read once can be kept, in memory or on the node. See `again` for how it is counted.

use super::{Rule, Source, again};
use crate::Direction;
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "redundant-reads",
    title: "the same bytes read again",
    explains: &[],
    sources: &[Source::Counters(
        Module::Posix,
        &["POSIX_READS", "POSIX_BYTES_READ", "POSIX_MAX_BYTE_READ", "POSIX_F_READ_TIME"],
    )],
    check: |facts, limit| again::check("redundant-reads", Direction::Read, facts, limit),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// A file of 100 MiB of which each rank moves so many MiB in ten seconds.
    fn job(mib: u64, ranks: u64) -> Sample {
        let mut job = Sample::new(ranks, 100.0);
        for rank in 0..ranks {
            let usage = job.posix("/lus/data", rank.cast_signed());
            usage.read.bytes = mib << 20;
            usage.read.last_byte = Some((100 << 20) - 1);
            usage.read.seconds = 10.0;
        }
        job
    }

    #[test]
    fn fires_on_five_times() {
        job(500, 1)
            .says(&RULE, "500 MiB are read from data, which holds 100 MiB: every byte 5.0 times");
        assert_eq!(job(500, 1).finds(&RULE)[0].lost, 8.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(149, 1).silent(&RULE);
        job(163, 1).silent(&RULE);
        assert_eq!(job(164, 1).finds(&RULE).len(), 1);
    }

    #[test]
    fn once_by_every_rank_is_not_again() {
        job(100, 8).silent(&RULE);
    }

    #[test]
    fn is_silent_without_reads() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
