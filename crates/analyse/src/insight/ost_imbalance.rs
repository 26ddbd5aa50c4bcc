//! `ost-imbalance`: one Lustre target gets far more of the bytes than the others.
//!
//! All wait for the fullest target. Bytes of a file are shared out over its targets as its stripes are.
//! What it costs is the time of the data calls beyond what the mean target would need.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::FileFacts;
use crate::{Facts, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "ost-imbalance",
    title: "bytes unevenly on storage targets",
    explains: &[],
    sources: &[query::LAYOUT, query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let osts = &facts.osts.by_ost;
    let total: u64 = osts.iter().map(|ost| ost.bytes).sum();
    if (osts.len() as u64) < limit.ost_count || total == 0 {
        return Outcome::Silent;
    }
    let mean = total as f64 / osts.len() as f64;
    let Some(fullest) = osts.iter().max_by(|a, b| a.bytes.cmp(&b.bytes).then(b.ost.cmp(&a.ost)))
    else {
        return Outcome::Silent;
    };
    let factor = fullest.bytes as f64 / mean;
    if factor <= limit.ost_bytes_factor.0 || fullest.bytes < limit.narrow_bytes.0 {
        return Outcome::Passed(format!(
            "the fullest of {} targets has {factor:.1} times the mean",
            osts.len()
        ));
    }
    let there = |file: &&FileFacts| {
        file.layout.as_ref().is_some_and(|layout| layout.osts.contains(&fullest.ost))
    };
    let files: Vec<&FileFacts> = facts.files.iter().filter(there).collect();
    let path = facts.cost_in(&files, |_, spent| spent.part(spent.read + spent.write));
    let lost = path.seconds * (1.0 - 1.0 / factor);
    let server = fullest.server.as_ref().map_or(String::new(), |server| format!(" on {server}"));
    let says = format!(
        "OST {}{server} gets {} of {}, {factor:.1} times the mean of {} targets",
        fullest.ost,
        Bytes(fullest.bytes),
        Bytes(total),
        count(osts.len() as u64),
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::User, Audience::Administrator])
            .count("OST", fullest.ost)
            .bytes("bytes there", fullest.bytes)
            .ratio("times the mean", factor)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::with(
                "stripe the large files over all targets",
                "lfs setstripe --stripe-count -1 DIRECTORY",
            ))
            .gains(lost, "the bytes spread evenly and the targets are equally fast"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// Eight files of 1 GiB on eight targets, and one more of so many GiB on target 3.
    fn job(more: u64) -> Sample {
        let mut job = Sample::new(8, 100.0);
        for rank in 0..8u64 {
            let path = format!("/lus/{rank}");
            let usage = job.posix(&path, rank.cast_signed());
            (usage.write.bytes, usage.write.seconds) = (1 << 30, 10.0);
            job.layout(&path, 1 << 20, &[rank]);
        }
        let usage = job.posix("/lus/more", 0);
        (usage.write.bytes, usage.write.seconds) = (more << 30, 30.0);
        job.layout("/lus/more", 1 << 20, &[3]);
        job
    }

    #[test]
    fn fires_on_the_fullest_target() {
        job(8).says(&RULE, "OST 3 gets 9.00 GiB of 16.0 GiB, 4.5 times the mean of 8 targets");
    }

    #[test]
    fn is_silent_just_below() {
        // 3 of 10 GiB are 2.4 times the mean, 5 of 12 are 3.3 times.
        job(2).silent(&RULE);
        assert_eq!(job(4).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_layouts() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
