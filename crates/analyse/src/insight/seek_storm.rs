//! `seek-storm`: many more seeks than reads and writes.
//!
//! A seek that is followed by another was for nothing; libraries that probe a file's size or parse archives do it
//! tens of thousands of times.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "seek-storm",
    title: "seeks without reads and writes",
    explains: &[],
    sources: &[
        Source::Counters(
            Module::Posix,
            &["POSIX_SEEKS", "POSIX_READS", "POSIX_WRITES", "POSIX_F_META_TIME"],
        ),
        Source::Counters(
            Module::Stdio,
            &["STDIO_SEEKS", "STDIO_READS", "STDIO_WRITES", "STDIO_F_META_TIME"],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let posix: Vec<(&FileFacts, u64, u64)> = facts
        .files
        .iter()
        .filter_map(|file| {
            let usage = file.through(Layer::Posix)?;
            (usage.seeks > 0).then_some((file, usage.seeks, usage.read.calls + usage.write.calls))
        })
        .collect();
    if posix.is_empty() {
        return Outcome::Silent;
    }
    let mut stormy: Vec<_> = posix
        .iter()
        .copied()
        .filter(|(_, seeks, calls)| *seeks as f64 > limit.seeks_per_call.0 * *calls as f64)
        .collect();
    let (seeks, calls) = stormy.iter().fold((0, 0), |sum, one| (sum.0 + one.1, sum.1 + one.2));
    if seeks < limit.seek_count {
        return Outcome::Passed("seeks are followed by reads and writes".into());
    }
    stormy.sort_by_key(|one| std::cmp::Reverse(one.1));
    let files: Vec<&FileFacts> = stormy.iter().map(|one| one.0).collect();
    let path = facts.cost_in(&files, |file, spent| {
        file.through(Layer::Posix).map_or(0.0, |usage| {
            let all = usage.seeks + usage.opens + usage.stats;
            spent.part(spent.meta) * usage.seeks as f64 / all.max(1) as f64
        })
    });
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} seeks around {} reads and writes in {}",
        count(seeks),
        count(calls),
        names(&list)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::Developer])
            .count("seeks", seeks)
            .count("reads and writes", calls)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::new("read at an offset (pread) instead of seeking, or read the file's index once and keep it"))
            .gains(path.seconds, "no seeks are needed"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(seeks: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/data.npz", 0);
        (usage.seeks, usage.read.calls) = (seeks, 100);
        job
    }

    #[test]
    fn fires_on_many_seeks() {
        job(42_565).says(&RULE, "42,565 seeks around 100 reads and writes in data.npz");
    }

    #[test]
    fn is_silent_just_below() {
        job(9_999).silent(&RULE);
    }

    #[test]
    fn is_silent_without_seeks() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
