//! `blocking-reads`: reads that could be done ahead while the job computes.
//!
//! See `overlap` for when this is said and how it is counted.

use super::{Rule, Source, overlap, query};
use crate::Direction;
use netra_event::{Kind, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "blocking-reads",
    title: "reads that could go on while the program computes",
    explains: &[],
    sources: &[query::MPIIO, query::POSIX, Source::Calls(Of::Posix, &[Kind::Read])],
    check: |facts, limit| overlap::check("blocking-reads", Direction::Read, facts, limit),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// Five phases of reads of so many seconds, one every hundred seconds.
    fn job(took: f64) -> Sample {
        let mut job = Sample::new(1, 500.0);
        let id = job.id("/lus/data");
        let file = job.job.trace.file(id);
        for phase in 0..5 {
            let start = f64::from(phase) * 100.0 + 50.0;
            let direction = Direction::Read;
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
        job(10.0).says(
            &RULE,
            "50.0 s of reads in 5 phases follow quiet time that could hide them (10 % of the run)",
        );
    }

    #[test]
    fn is_silent_just_below() {
        job(4.9).silent(&RULE);
        assert_eq!(job(5.1).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
