//! `sync-storm`: a rank flushes to the device after every few bytes.
//!
//! `fsync` waits for the servers' disks and defeats every cache; once per checkpoint is enough. Its time is
//! counted with the writes, so the cost is not known apart and the finding is no more than good to know.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names};
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
    let mut found: Vec<_> = flushed
        .iter()
        .copied()
        .filter(|(file, syncs, bytes)| {
            syncs / file.ranks(facts.nprocs) >= limit.sync_count
                && bytes / syncs < limit.sync_bytes.0
        })
        .collect();
    if found.is_empty() {
        return Outcome::Passed("files are flushed seldom".into());
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.1));
    let (worst, syncs, bytes) = found[0];
    let files: Vec<&FileFacts> = found.iter().map(|one| one.0).collect();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    Outcome::Found(vec![
        Finding::note(
            RULE.slug,
            format!(
                "{} is flushed {} times, every {} ({})",
                worst.name(),
                count(syncs),
                Bytes(bytes / syncs),
                names(&list)
            ),
        )
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
    use crate::sample::Sample;

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

    #[test]
    fn is_silent_just_below() {
        job(99).silent(&RULE);
    }

    #[test]
    fn is_silent_without_flushes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
