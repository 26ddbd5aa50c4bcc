//! `redundant-writes`: the same rank writes the same bytes again and again.
//!
//! All but the last version were written for nothing. See `again` for how it is counted.

use super::{Rule, Source, again};
use crate::Direction;
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "redundant-writes",
    title: "the same bytes written again",
    explains: &[],
    sources: &[Source::Counters(
        Module::Posix,
        &["POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_MAX_BYTE_WRITTEN", "POSIX_F_WRITE_TIME"],
    )],
    check: |facts, limit| again::check("redundant-writes", Direction::Write, facts, limit),
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
            usage.write.bytes = mib << 20;
            usage.write.last_byte = Some((100 << 20) - 1);
            usage.write.seconds = 10.0;
        }
        job
    }

    #[test]
    fn fires_on_five_times() {
        job(500, 1)
            .says(&RULE, "500 MiB are written to data, which holds 100 MiB: every byte 5.0 times");
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
    fn is_silent_without_writes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
