//! `stat-storm`: files are asked about far more often than they are used.
//!
//! `stat` and relatives are a round trip to the metadata server each. A program that asks before every
//! read or in a loop that waits for a file makes a storm of them on many ranks.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stat-storm",
    title: "files asked about again and again",
    explains: &["metadata-time"],
    sources: &[Source::Counters(
        Module::Posix,
        &["POSIX_STATS", "POSIX_OPENS", "POSIX_READS", "POSIX_WRITES", "POSIX_F_META_TIME"],
    )],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let stats = |file: &FileFacts| file.through(Layer::Posix).map_or(0, |usage| usage.stats);
    let uses = |file: &FileFacts| {
        file.through(Layer::Posix)
            .map_or(0, |usage| usage.opens + usage.read.calls + usage.write.calls)
    };
    let total: u64 = facts.files.iter().map(stats).sum();
    if total == 0 {
        return Outcome::Silent;
    }
    let mut found: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| {
            stats(file) / file.ranks(facts.nprocs).max(1) >= limit.stats_per_rank
                && stats(file) > uses(file)
        })
        .collect();
    if found.is_empty() {
        return Outcome::Passed(format!("{} stats, none of them a storm", count(total)));
    }
    found.sort_by_key(|file| std::cmp::Reverse(stats(file)));
    let path = facts.cost_in(&found, |file, spent| {
        let Some(usage) = file.through(Layer::Posix) else { return 0.0 };
        let calls = usage.stats + usage.opens + usage.seeks;
        spent.part(spent.meta) * usage.stats as f64 / calls.max(1) as f64
    });
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let asked: u64 = found.iter().map(|file| stats(file)).sum();
    let says = format!("{} stats of {}, more than all uses of them", count(asked), names(&list));
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("stats", asked)
            .count("opens, reads and writes", found.iter().map(|file| uses(file)).sum())
            .about(&found)
            .by(&[path.rank])
            .advise(Advice::new(format!(
                "ask once and remember; to wait for a file, let one {} look and tell the others",
                facts.one()
            )))
            .gains(path.seconds, "stats cost as much as other metadata calls of the file"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(stats: u64) -> Sample {
        let mut job = Sample::new(4, 100.0);
        let usage = job.posix("/lus/ready", 0);
        (usage.stats, usage.opens, usage.meta) = (stats, 1, 20.0);
        job
    }

    #[test]
    fn fires_on_a_file_that_is_waited_for() {
        job(5000).says(&RULE, "5,000 stats of ready, more than all uses of them");
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(1000).finds(&RULE).len(), 1);
        job(999).silent(&RULE);
    }

    #[test]
    fn is_silent_without_stats() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
