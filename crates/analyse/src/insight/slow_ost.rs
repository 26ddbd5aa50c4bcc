//! `slow-ost`: files on one Lustre target take many times longer than files on the others.
//!
//! Everybody waits for the rank whose file lies there, so the job is as slow as its slowest
//! target. Only files that lie on a single target tell: the time of a striped file belongs to all
//! of its targets. What it costs is the slowest rank's time beyond the slowest rank that has no
//! file there.

use std::collections::BTreeSet;

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::{FileFacts, OstFacts};
use crate::{Facts, Thresholds};
use netra_event::{RecordId, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "slow-ost",
    title: "a storage target slower than the others",
    explains: &[
        "straggler",
        "time-imbalance",
        "byte-imbalance",
        "stalled-call",
        "metadata-time",
        "phase-stragglers",
        "ost-imbalance",
    ],
    sources: &[query::LAYOUT, query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let osts: Vec<&OstFacts> = facts.osts.by_ost.iter().filter(|ost| ost.alone > 0).collect();
    if (osts.len() as u64) < limit.ost_count {
        return Outcome::Silent;
    }
    let median = facts.osts.seconds_median;
    let is_slow = |ost: &OstFacts| {
        ost.alone >= limit.ost_files
            && ost.seconds_mean > limit.ost_factor.0 * median
            && ost.seconds_mean - median > limit.ost_seconds.0
    };
    let mut slow: Vec<&OstFacts> = osts.iter().copied().filter(|ost| is_slow(ost)).collect();
    if slow.is_empty() {
        return Outcome::Passed(format!(
            "files on {} targets take about as long everywhere",
            osts.len()
        ));
    }
    slow.sort_by(|a, b| b.seconds_mean.total_cmp(&a.seconds_mean).then(a.ost.cmp(&b.ost)));
    Outcome::Found(vec![finding(facts, limit, &osts, &slow)])
}

fn finding(facts: &Facts, limit: &Thresholds, all: &[&OstFacts], slow: &[&OstFacts]) -> Finding {
    let numbers: BTreeSet<u64> = slow.iter().map(|ost| ost.ost).collect();
    let files: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| {
            file.layout
                .as_ref()
                .is_some_and(|layout| layout.osts.len() == 1 && numbers.contains(&layout.osts[0]))
        })
        .collect();
    let ids: BTreeSet<RecordId> = files.iter().map(|file| file.id).collect();
    let there = facts.cost(|_| 1.0);
    let elsewhere = facts.cost(|spent| if ids.contains(&spent.file) { 0.0 } else { 1.0 });
    let lost = there.seconds - elsewhere.seconds;
    let worst = slow[0];
    let rest = all
        .iter()
        .filter(|ost| !numbers.contains(&ost.ost))
        .map(|ost| ost.seconds_max)
        .fold(0.0, f64::max);
    let ranks: BTreeSet<_> = facts
        .critical
        .spent
        .iter()
        .filter(|spent| ids.contains(&spent.file) && !spent.rank.is_shared())
        .map(|spent| spent.rank)
        .collect();
    let factor = worst.seconds_mean / facts.osts.seconds_median;
    let others = if slow.len() > 1 {
        format!(" (and {} more are slow)", slow.len() - 1)
    } else {
        String::new()
    };
    let server = worst.server.as_ref().map_or(String::new(), |server| format!(" on {server}"));
    let says = format!(
        "OST {}{server} is {factor:.0} times slower than the median of {} OSTs{others}: {} a file against {}; {} of {} {} wait for it, the slowest file elsewhere took {}",
        worst.ost,
        all.len(),
        Seconds(worst.seconds_mean),
        Seconds(facts.osts.seconds_median),
        count(ranks.len() as u64),
        count(facts.nprocs),
        facts.noun(),
        Seconds(rest),
    );
    let target = format!("lfs check osts; lctl get_param osc.*OST{:04x}*.state", worst.ost);
    Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::High)
        .to(&[Audience::Administrator, Audience::User])
        .count("OST", worst.ost)
        .seconds("seconds a file there", worst.seconds_mean)
        .seconds("seconds a file on the median OST", facts.osts.seconds_median)
        .seconds("slowest file there", worst.seconds_max)
        .seconds("slowest file elsewhere", rest)
        .count("files there", worst.alone)
        .about(&files)
        .by(&ranks.into_iter().collect::<Vec<_>>())
        .advise(Advice::with(
            "tell the administrators: a disk is failing or rebuilding, or the server is overloaded",
            target,
        ))
        .advise(Advice::with(
            "until then keep new files off it, or stripe each over several targets",
            "lfs setstripe --stripe-count 4 DIRECTORY",
        ))
        .gains(lost, "files there become as fast as the slowest elsewhere")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// 48 ranks with a file each on six targets; files on target 3 take `slow` seconds, others ten.
    fn job(slow: f64) -> Sample {
        let mut job = Sample::new(48, 800.0);
        for rank in 0..48 {
            let path = format!("/lus/out.{rank}");
            let ost = (rank % 6) as u64;
            let usage = job.posix(&path, rank);
            usage.write.bytes = 1 << 28;
            usage.write.seconds = if ost == 3 { slow } else { 10.0 };
            job.layout(&path, 1 << 20, &[ost]);
        }
        job
    }

    #[test]
    fn fires_and_names_the_target() {
        job(500.0).says(
            &RULE,
            "OST 3 is 50 times slower than the median of 6 OSTs: 500 s a file against 10.0 s; 8 of 48 ranks wait for it, the slowest file elsewhere took 10.0 s",
        );
        assert_eq!(job(500.0).finds(&RULE)[0].lost, 490.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(40.0).silent(&RULE);
        assert_eq!(job(40.1).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_layouts() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
