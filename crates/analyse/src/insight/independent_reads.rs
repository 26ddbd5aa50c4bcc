//! `independent-reads`: many ranks read a shared file through MPI-IO without working together.
//!
//! See `together` for how it is counted and what it costs.

use super::{Rule, query, together};
use crate::Direction;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "independent-reads",
    title: "MPI-IO reads that are not collective",
    explains: &["no-mpiio"],
    sources: &[query::MPIIO],
    check: |facts, limit| together::check("independent-reads", Direction::Read, facts, limit),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Layer;
    use crate::sample::Sample;

    fn job(independent: u64, collective: u64) -> Sample {
        let mut job = Sample::new(16, 100.0);
        let usage = job.summed_as(Layer::Mpiio, "/lus/data.h5", (0, 18.0), (3, 20.0));
        usage.read.seconds = 300.0;
        usage.read.calls = independent + collective;
        (usage.read.independent, usage.read.collective) = (independent, collective);
        job
    }

    #[test]
    fn fires_when_one_collective_call_hides_thousands() {
        job(9_999, 1).says(
            &RULE,
            "9,999 MPI-IO reads of data.h5 are independent, 1 collective (below 0.1 %)",
        );
        assert!((job(9_999, 1).finds(&RULE)[0].lost - 19.998).abs() < 1e-6);
    }

    #[test]
    fn is_silent_just_below() {
        job(1_000, 0).silent(&RULE);
        job(2_000, 2_000).silent(&RULE);
    }

    #[test]
    fn is_silent_without_mpi_io() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
