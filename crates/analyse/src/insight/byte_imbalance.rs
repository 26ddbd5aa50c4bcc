//! `byte-imbalance`: one rank moves much more of a shared file than the mean, and takes longer.
//!
//! Measured at the layer the program calls, because below MPI-IO aggregators move everybody's
//! bytes by design, and against the mean over ranks, so that the number of ranks does not dilute it.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, percent, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "byte-imbalance",
    title: "ranks move different amounts",
    explains: &["time-imbalance"],
    sources: query::EXTREMES,
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let files: Vec<&FileFacts> =
        facts.files_of_ranks().iter().filter(|file| file.is_shared() && file.bytes() > 0).collect();
    if files.is_empty() {
        return Outcome::Silent;
    }
    let mut found: Vec<Finding> = files.iter().filter_map(|file| one(file, facts, limit)).collect();
    found.sort_by(|a, b| b.lost.total_cmp(&a.lost));
    found.truncate(1);
    Outcome::from(found, || {
        "ranks move about the same amounts of shared files, or it costs nothing".into()
    })
}

/// The layer that the program calls.
pub(super) fn called(file: &FileFacts) -> Option<Layer> {
    [Layer::Mpiio, Layer::Dfs, Layer::Posix]
        .into_iter()
        .find(|layer| file.layers.contains_key(layer))
}

/// How far the heaviest rank is above the mean, as a share of its own bytes.
pub(super) fn imbalance(file: &FileFacts, nprocs: u64) -> Option<f64> {
    let layer = called(file)?;
    let (heavy, sum) = file.heaviest.get(&layer).zip(file.through(layer))?;
    let mean = sum.bytes() as f64 / file.ranks(nprocs) as f64;
    (heavy.bytes > 0).then(|| 1.0 - mean / heavy.bytes as f64)
}

fn one(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let layer = called(file)?;
    let imbalance = imbalance(file, facts.who.ranks)?;
    let (heavy, slowest, sum) =
        (file.heaviest.get(&layer)?, file.slowest.get(&layer)?, file.through(layer)?);
    let ranks = file.ranks(facts.who.ranks) as f64;
    let lost = slowest.seconds - sum.seconds() / ranks;
    // A rank that moves most but is not the slowest costs nobody anything.
    if imbalance <= limit.imbalance_share.0
        || heavy.rank != slowest.rank
        || lost < limit.imbalance_seconds.0
    {
        return None;
    }
    let mean = sum.bytes() as f64 / ranks;
    let says = format!(
        "rank {} moves {} of {} where the mean is {}, and takes {} where the mean is {}",
        heavy.rank,
        Bytes(heavy.bytes),
        file.name(),
        Bytes(mean as u64),
        Seconds(slowest.seconds),
        Seconds(sum.seconds() / ranks),
    );
    Some(
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::High)
            .to(&[Audience::Developer])
            .bytes("bytes of that rank", heavy.bytes)
            .bytes("bytes of the mean rank", mean as u64)
            .ratio("imbalance", imbalance)
            .about(&[file])
            .by(&[heavy.rank])
            .advise(Advice::new(format!(
                "spread the data evenly: {} of that rank's bytes are above the mean",
                percent(imbalance)
            )))
            .gains(lost, "every rank takes the mean time"),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// Ten ranks of 100 MiB and one second each, but rank 4 has so many MiB and as many hundredths of a second.
    fn job(mib: u64) -> Sample {
        let mut job = Sample::new(10, 100.0);
        for rank in 0..10 {
            let usage = job.posix("/lus/out", rank);
            let mib = if rank == 4 { mib } else { 100 };
            usage.write.bytes = mib << 20;
            usage.write.seconds = mib as f64 / 100.0;
        }
        job
    }

    #[test]
    fn fires_on_the_heavy_rank() {
        job(500).says(&RULE, "rank 4 moves 500 MiB of out where the mean is 140 MiB, and takes 5.00 s where the mean is 1.40 s");
        assert!((job(500).finds(&RULE)[0].lost - 3.6).abs() < 1e-9);
    }

    #[test]
    fn is_silent_just_below_a_second() {
        job(210).silent(&RULE);
        assert_eq!(job(212).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_shared_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }

    #[test]
    fn only_ranks_are_compared() {
        assert_eq!(job(400).finds(&RULE).len(), 1);
        job(400).unranked().silent(&RULE);
        // A copy that a script makes of a file that ranks wrote evenly.
        let mut job = job(100).beside(1);
        let copy = job.posix("/lus/out", 10);
        (copy.read.bytes, copy.read.seconds) = (1000 << 20, 20.0);
        job.silent(&RULE);
    }
}
