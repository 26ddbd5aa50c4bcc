//! `data-sieving`: MPI-IO reads and writes more than it was asked for.
//!
//! When pieces leave holes, ROMIO reads a whole block, puts the pieces in and writes the block
//! back. POSIX then moves more bytes than MPI-IO was asked to, and reads a file that the program
//! only writes. Both happen in the busiest rank's time, which is what it costs.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "data-sieving",
    title: "MPI-IO moves more than it was asked for",
    explains: &[
        "small-reads",
        "small-writes",
        "small-shared-reads",
        "small-shared-writes",
        "random-reads",
        "random-writes",
        "redundant-reads",
        "redundant-writes",
        "misaligned-file",
        "misaligned-memory",
        "conflicts",
    ],
    sources: &[query::MPIIO, query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let files: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| file.layers.contains_key(&Layer::Posix))
        .filter(|file| file.through(Layer::Mpiio).is_some_and(|usage| usage.write.bytes > 0))
        .collect();
    if files.is_empty() {
        return Outcome::Silent;
    }
    let mut found: Vec<Finding> = files.iter().filter_map(|file| one(file, facts, limit)).collect();
    found.sort_by(|a, b| b.lost.total_cmp(&a.lost));
    // One sentence for the costliest file; the others are its kin.
    let files: Vec<_> = found.iter().flat_map(|one| one.files.clone()).collect();
    let first = found.into_iter().next().map(|first| Finding { files, ..first });
    Outcome::from(first.into_iter().collect(), || {
        "POSIX moves no more than MPI-IO was asked to write".into()
    })
}

fn one(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let (above, below) = file.through(Layer::Mpiio).zip(file.through(Layer::Posix))?;
    let busiest = file.slowest.get(&Layer::Posix)?;
    let extra = below.write.bytes.saturating_sub(above.write.bytes);
    let amplified = below.write.bytes as f64 > limit.sieving_factor.0 * above.write.bytes as f64
        && extra >= limit.sieving_bytes.0;
    let reads_back = above.read.calls == 0
        && below.read.calls > 0
        && (below.read.calls >= limit.small_count || below.read.bytes >= limit.sieving_bytes.0);
    if !amplified && !reads_back {
        return None;
    }
    let written = if amplified {
        extra as f64 / below.write.bytes.max(1) as f64 * below.write.seconds
    } else {
        0.0
    };
    let read = if reads_back { below.read.seconds } else { 0.0 };
    let lost = if below.seconds() > 0.0 {
        (written + read) / below.seconds() * busiest.seconds
    } else {
        0.0
    };
    let mut says = format!(
        "POSIX writes {} to {} where MPI-IO was asked for {}",
        Bytes(below.write.bytes),
        file.name(),
        Bytes(above.write.bytes)
    );
    if reads_back {
        says.push_str(&format!(
            ", and reads it {} times although the program does not",
            count(below.read.calls)
        ));
    }
    Some(
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::High)
            .to(&[Audience::User, Audience::Developer])
            .bytes("MPI-IO bytes written", above.write.bytes)
            .bytes("POSIX bytes written", below.write.bytes)
            .count("POSIX reads", below.read.calls)
            .seconds("POSIX rank seconds in reads", below.read.seconds)
            .about(&[file])
            .by(&[busiest.rank])
            .advise(Advice::with(
                "turn data sieving off for writes",
                "MPI_Info_set(info, \"romio_ds_write\", \"disable\");",
            ))
            .advise(Advice::with(
                "or let collective buffers end where stripes end",
                "MPI_Info_set(info, \"cb_buffer_size\", \"<stripe size>\");",
            ))
            .gains(lost, "without holes to fill only the bytes asked for are written"),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// MPI-IO writes 100 MiB; POSIX so many, and reads so often.
    fn job(written: u64, reads: u64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        job.mpiio("/lus/out", 0).write.bytes = 100 << 20;
        let below = job.posix("/lus/out", 0);
        below.write.bytes = written << 20;
        below.write.seconds = 20.0;
        below.read.calls = reads;
        below.read.seconds = if reads > 0 { 30.0 } else { 0.0 };
        job
    }

    #[test]
    fn fires_on_amplified_writes_and_on_reads_that_nobody_asked_for() {
        job(400, 5000).says(
            &RULE,
            "POSIX writes 400 MiB to out where MPI-IO was asked for 100 MiB, and reads it 5,000 times although the program does not",
        );
        assert_eq!(job(400, 5000).finds(&RULE)[0].lost, 45.0);
        assert_eq!(job(100, 5000).finds(&RULE)[0].lost, 30.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(120, 999).silent(&RULE);
        assert_eq!(job(121, 0).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_mpi_io() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
