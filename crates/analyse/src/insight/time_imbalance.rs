//! `time-imbalance`: ranks move the same amounts of a shared file, but one takes much longer.
//!
//! Then it is not the program: targets are unevenly loaded, nodes differ, or ranks queue for a
//! lock. Measured against the mean over ranks with a floor in seconds, so that neither thousands of
//! ranks hide it nor four ranks of a test invent it.

use super::byte_imbalance::{called, imbalance};
use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Seconds;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "time-imbalance",
    title: "equal ranks take different times",
    explains: &[],
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
    Outcome::from(found, || "ranks take about the same time for shared files".into())
}

fn one(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let layer = called(file)?;
    let (fastest, slowest, sum) =
        (file.fastest.get(&layer)?, file.slowest.get(&layer)?, file.through(layer)?);
    let mean = sum.seconds() / file.ranks(facts.who.ranks) as f64;
    let lost = slowest.seconds - mean;
    if imbalance(file, facts.who.ranks)? > limit.imbalance_share.0
        || lost < limit.imbalance_seconds.0
        || lost <= limit.time_imbalance.0 * slowest.seconds
    {
        return None;
    }
    let says = format!(
        "rank {} takes {} for {} and rank {} {}, though both move the same amount; the mean is {}",
        slowest.rank,
        Seconds(slowest.seconds),
        file.name(),
        fastest.rank,
        Seconds(fastest.seconds),
        Seconds(mean),
    );
    let finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::User, Audience::Administrator])
        .seconds("slowest", slowest.seconds)
        .seconds("mean", mean)
        .seconds("fastest", fastest.seconds)
        .about(&[file])
        .by(&[slowest.rank])
        .gains(lost, "every rank takes the mean time");
    Some(match &file.layout {
        Some(layout) if layer != Layer::Dfs => finding.advise(Advice::with(
            format!("{} ranks write to {} storage targets at once; spread the file over more, or let fewer ranks write", facts.who.ranks, layout.stripe_count),
            "lfs setstripe --stripe-count -1 DIRECTORY",
        )),
        _ => finding.advise(Advice::new("look at the nodes and storage targets of the slow ranks; a second run tells whether they are the same")),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// All ranks move a GiB; the mean takes 50 s, the slowest so long.
    fn job(slowest: f64) -> Sample {
        let mut job = Sample::new(100, 200.0);
        let usage = job.summed("/lus/out", (1, 20.0), (7, slowest));
        usage.write.bytes = 100 << 30;
        usage.write.seconds = 5000.0;
        if let Some((fast, slow)) = &mut usage.extremes {
            (fast.bytes, slow.bytes) = (1 << 30, 1 << 30);
        }
        job
    }

    #[test]
    fn fires_when_the_slowest_is_far_above_the_mean() {
        job(85.0).says(&RULE, "rank 7 takes 85.0 s for out and rank 1 20.0 s, though both move the same amount; the mean is 50.0 s");
        assert_eq!(job(85.0).finds(&RULE)[0].lost, 35.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(66.6).silent(&RULE);
        assert_eq!(job(66.7).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_shared_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
