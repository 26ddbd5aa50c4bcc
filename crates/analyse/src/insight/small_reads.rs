//! `small-reads`: most reads by one rank are too small for a parallel file system.
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
    slug: "small-reads",
    title: "small reads by one process",
    explains: &["misaligned-file", "random-reads"],
    sources: &[query::READ_SIZES],
    check: |facts, limit| small::check(&CASE, facts, limit),
};

const CASE: Case = Case { slug: "small-reads", direction: Direction::Read, shared: false };

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Layer, Usage};
    use netra_event::Rank;

    /// A file of one rank with these reads, so many of them small, in ten seconds of a hundred.
    fn job(reads: u64, small: u64) -> Sample {
        let mut job = Sample::new(4, 100.0);
        let usage = job.posix("/lus/in.dat", 0);
        usage.read.calls = reads;
        usage.read.seconds = 10.0;
        usage.read.bins = Some([0, 0, small, 0, 0, reads - small, 0, 0, 0, 0]);
        usage.common[0] = (4096, small);
        job
    }

    #[test]
    fn fires_on_many_small_reads() {
        job(10_000, 9_000)
            .says(&RULE, "90 % of 10,000 reads to in.dat are below 1.00 MiB (most often 4.00 KiB)");
        let found = job(10_000, 9_000).finds(&RULE);
        assert_eq!(found[0].lost, 9.0);
    }

    #[test]
    fn advice_is_for_the_library_that_the_file_was_used_through() {
        let code = |job: &Sample| job.finds(&RULE)[0].advice[0].code.clone().unwrap();
        let mut plain = job(10_000, 9_000);
        // Another file of the job is HDF5's, which does not help this one.
        let other = plain.id("/lus/other.h5");
        plain.job.usages.push(Usage::new(Layer::H5d, other, Rank(0)));
        assert!(code(&plain).starts_with("char block["), "{}", code(&plain));
        // HDF5 of one process has nobody to be collective with.
        let mut serial = job(10_000, 9_000);
        let file = serial.id("/lus/in.dat");
        serial.job.usages.push(Usage::new(Layer::H5d, file, Rank(0)));
        assert!(code(&serial).starts_with("H5Pset_chunk_cache"), "{}", code(&serial));
        serial.mpiio("/lus/in.dat", 0);
        assert!(code(&serial).starts_with("H5Pset_dxpl_mpio"), "{}", code(&serial));
    }

    #[test]
    fn is_silent_just_below_the_count_and_the_share() {
        job(999, 999).silent(&RULE);
        job(20_000, 2_000).silent(&RULE);
    }

    #[test]
    fn is_silent_without_reads() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
