//! `random-writes`: many writes jump backwards in their file.
//!
//! See `jump` for what counts and what it costs. That writes go forward is what the passed check says.

use super::{Rule, Source, jump};
use crate::Direction;
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "random-writes",
    title: "random writes",
    explains: &["seek-storm"],
    sources: &[Source::Counters(
        Module::Posix,
        &[
            "POSIX_OPENS",
            "POSIX_WRITES",
            "POSIX_SEQ_WRITES",
            "POSIX_CONSEC_WRITES",
            "POSIX_BYTES_WRITTEN",
            "POSIX_MAX_BYTE_WRITTEN",
            "POSIX_F_WRITE_TIME",
        ],
    )],
    check: |facts, limit| jump::check("random-writes", Direction::Write, facts, limit),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// 10,000 writes in ten seconds, so many of them forward.
    fn job(forward: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/table", 0);
        usage.write.calls = 10_000;
        usage.write.sequential = forward;
        usage.write.seconds = 10.0;
        usage.write.bytes = 10_000;
        usage.write.last_byte = Some(1 << 30);
        usage.opens = 1;
        job
    }

    #[test]
    fn fires_on_backward_jumps() {
        job(4_999).says(&RULE, "50 % of 10,000 writes jump backwards, most of them in table");
    }

    #[test]
    fn is_silent_just_below() {
        job(7_999).silent(&RULE);
        assert_eq!(job(7_998).finds(&RULE).len(), 1);
    }

    #[test]
    fn going_through_a_file_twice_is_not_random() {
        let mut job = job(0);
        job.job.usages[0].write.last_byte = Some(0);
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_writes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
