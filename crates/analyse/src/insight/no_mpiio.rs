//! `no-mpiio`: many ranks share a file through plain POSIX calls.
//!
//! Not using MPI-IO is no fault of a job that has no shared file, or whose shared file costs nothing. This
//! rule speaks where at least sixteen ranks spend a second and more in one. It gives no cost of its own:
//! what is wrong with the calls has rules of its own.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, names, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "no-mpiio",
    title: "shared files without MPI-IO",
    explains: &[],
    sources: &[query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let plain = |file: &&FileFacts| {
        file.ranks(facts.who.ranks) >= limit.shared_posix_ranks
            && !file.layers.contains_key(&Layer::Mpiio)
            && file.through(Layer::Posix).is_some_and(|usage| usage.write.calls > 0)
            && file
                .slowest
                .get(&Layer::Posix)
                .is_some_and(|slowest| slowest.seconds >= limit.shared_posix_seconds.0)
    };
    let found: Vec<&FileFacts> = facts.files_of_ranks().iter().filter(plain).collect();
    if found.is_empty() || !facts.has_mpi() {
        return Outcome::Silent;
    }
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} ranks write {} through POSIX alone",
        count(found[0].ranks(facts.who.ranks)),
        names(&list)
    );
    Outcome::Found(vec![
        Finding::note(RULE.slug, says)
            .sure(Confidence::Low)
            .to(&[Audience::Developer])
            .count("files", found.len() as u64)
            .about(&found)
            .advise(Advice::with("MPI-IO can gather what ranks write and keep them out of each other's way", "MPI_File_open(comm, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &fh);\nMPI_File_write_at_all(fh, offset, buffer, count, type, &status);")),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(seconds: f64) -> Sample {
        let mut job = Sample::new(16, 100.0);
        let usage = job.summed("/lus/out", (1, 0.5), (0, seconds));
        (usage.write.calls, usage.write.seconds) = (16, 8.0);
        job
    }

    #[test]
    fn fires_on_a_shared_file_that_costs_time() {
        job(2.0).says(&RULE, "16 ranks write out through POSIX alone");
    }

    #[test]
    fn is_silent_just_below_and_with_mpi_io() {
        job(0.99).silent(&RULE);
        let mut over = job(2.0);
        over.mpiio("/lus/out", 0);
        over.silent(&RULE);
    }

    #[test]
    fn is_silent_without_shared_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
