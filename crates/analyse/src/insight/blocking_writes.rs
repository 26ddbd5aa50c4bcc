//! `blocking-writes`: writes that could go on while the job computes.
//!
//! See `overlap` for when this is said and how it is counted.

use super::{Rule, Source, overlap, query};
use crate::Direction;
use netra_event::{Kind, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "blocking-writes",
    title: "writes that could go on while the program computes",
    explains: &[],
    sources: &[query::MPIIO, query::POSIX, Source::Calls(Of::Posix, &[Kind::Write])],
    check: |facts, limit| overlap::check("blocking-writes", Direction::Write, facts, limit),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, Threaded, TraceRow};

    /// Five phases of writes of so many seconds, one every hundred seconds.
    fn job(took: f64) -> Sample {
        let mut job = Sample::new(1, 500.0);
        let id = job.id("/lus/data");
        let file = job.job.trace.file(id);
        for phase in 0..5 {
            let start = f64::from(phase) * 100.0 + 50.0;
            let direction = Direction::Write;
            let end = start + took;
            job.job.trace.push(TraceRow {
                file,
                rank: 0,
                layer: Layer::Posix,
                direction,
                start,
                end,
                offset: 0,
                length: 1,
            });
        }
        job
    }

    #[test]
    fn fires_when_phases_could_be_hidden() {
        job(10.0).says(&RULE, "50.0 s of writes in 5 phases are followed by quiet time that could hide them (10 % of the run)");
    }

    #[test]
    fn is_silent_just_below() {
        job(4.9).silent(&RULE);
        assert_eq!(job(5.1).finds(&RULE).len(), 1);
    }

    #[test]
    fn no_more_can_be_hidden_than_a_rank_spends() {
        let mut job = job(10.0);
        // Of the fifty seconds of phases, so much is in calls.
        job.posix("/lus/data", 0).write.seconds = 30.0;
        assert_eq!(job.finds(&RULE)[0].lost, 30.0);
    }

    #[test]
    fn a_thread_that_writes_beside_the_first_is_no_waste() {
        let mut job = job(10.0);
        job.job.threaded = Some(Threaded { first: [500, 6], others: [0, 94] });
        assert_eq!(job.finds(&RULE).len(), 1);
        job.job.threaded = Some(Threaded { first: [500, 5], others: [0, 95] });
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
