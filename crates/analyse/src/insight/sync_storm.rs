//! `sync-storm`: a rank flushes to the device after every few bytes.
//!
//! `fsync` waits for the servers' disks and defeats every cache; once per checkpoint is enough. Counters add its time
//! to that of the writes, so that from them alone the cost is not known and the finding is no more than good to know. Where
//! call sites tell flushes apart they say what it costs, and then few flushes that take long count too.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names, percent};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Module};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "sync-storm",
    title: "flushes after every few bytes",
    explains: &[],
    sources: &[Source::Counters(
        Module::Posix,
        &["POSIX_FSYNCS", "POSIX_FDSYNCS", "POSIX_WRITES", "POSIX_BYTES_WRITTEN"],
    )],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let flushed: Vec<(&FileFacts, u64, u64)> = facts
        .files
        .iter()
        .filter_map(|file| {
            file.through(Layer::Posix).map(|usage| (file, usage.syncs, usage.write.bytes))
        })
        .filter(|(_, syncs, _)| *syncs > 0)
        .collect();
    if flushed.is_empty() {
        return Outcome::Silent;
    }
    let often: Vec<&FileFacts> =
        flushed.iter().filter(|(_, _, bytes)| *bytes > 0).map(|one| one.0).collect();
    let cost = facts.cost_in(&often, |file, spent| {
        if spent.layer == Layer::Posix { spent.part(spent.write) * file.flushing } else { 0.0 }
    });
    let costly = facts.share(cost.seconds) >= limit.worth_share.0;
    let mut found: Vec<_> = flushed
        .iter()
        .copied()
        .filter(|(file, syncs, bytes)| {
            let many = syncs / file.ranks(facts.nprocs) >= limit.sync_count;
            // A flush at the end is what a checkpoint needs.
            let few = *syncs > 2 * file.ranks(facts.nprocs) && file.flushing > 0.5;
            (many || costly && few) && bytes / syncs < limit.sync_bytes.0
        })
        .collect();
    if found.is_empty() {
        return Outcome::Passed("files are flushed seldom".into());
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.1));
    let (worst, syncs, bytes) = found[0];
    let files: Vec<&FileFacts> = found.iter().map(|one| one.0).collect();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} is flushed {} times, every {} ({})",
        worst.name(),
        count(syncs),
        Bytes(bytes / syncs),
        names(&list)
    );
    let finding = if costly {
        let says = format!("{says}: flushes are {} of the writing", percent(worst.flushing));
        Finding::costing(RULE.slug, cost.seconds, says, facts, limit)
            .by(&[cost.rank])
            .gains(cost.seconds, "a flush at the end takes little beside them")
    } else {
        Finding::note(RULE.slug, says)
    };
    Outcome::Found(vec![
        finding
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("flushes", syncs)
            .bytes("bytes a flush", bytes / syncs)
            .about(&files)
            .advise(Advice::new("call fsync once, when the file is complete")),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::SiteUse;
    use crate::sample::Sample;
    use netra_event::Function;

    fn job(syncs: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/log", 0);
        (usage.syncs, usage.write.bytes) = (syncs, 1000 * syncs);
        job
    }

    #[test]
    fn fires_on_many_flushes() {
        job(5_000).says(&RULE, "log is flushed 5,000 times, every 1000 B (log)");
    }

    /// 63 flushes of a file; of twenty seconds of writing call sites know so many in `fsync`.
    fn known(flushing: f64) -> Sample {
        let mut job = job(63);
        let file = job.id("/lus/log");
        job.job.usages[0].write.seconds = 20.0;
        let (place, calls, failed, bytes, seconds) = (0, 63, 0, 0, flushing);
        let (function, file) = (Function::Fsync, Some(file));
        job.job.sites.push(SiteUse { place, function, file, calls, failed, bytes, seconds });
        job
    }

    #[test]
    fn few_flushes_that_take_long_cost_what_they_take() {
        known(18.0).says(
            &RULE,
            "log is flushed 63 times, every 1000 B (log): flushes are 90 % of the writing",
        );
        assert_eq!(known(18.0).finds(&RULE)[0].lost, 18.0);
        known(9.0).silent(&RULE);
    }

    #[test]
    fn is_silent_just_below() {
        job(99).silent(&RULE);
    }

    #[test]
    fn is_silent_without_flushes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
