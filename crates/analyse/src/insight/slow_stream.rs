//! `slow-stream`: seconds in one C stream for next to no bytes.
//!
//! Flushing after each line, opening the stream again for each line, or a file system that is busy with
//! the job's own bulk output: a log file then holds up the rank that writes it.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, counted, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "slow-stream",
    title: "a slow log file",
    explains: &[
        "metadata-time",
        "straggler",
        "stdio-heavy",
        "sync-storm",
        "open-storm",
        "stdout-bulk",
    ],
    sources: &[query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut slow: Vec<(f64, &FileFacts)> = Vec::new();
    let mut streams = 0;
    for file in &facts.files {
        let Some((usage, slowest)) =
            file.through(Layer::Stdio).zip(file.slowest.get(&Layer::Stdio))
        else {
            continue;
        };
        streams += 1;
        if slowest.seconds >= limit.stream_seconds.0
            && (usage.bytes() as f64) < limit.stream_rate.0 as f64 * slowest.seconds
        {
            slow.push((slowest.seconds, file));
        }
    }
    if streams == 0 {
        return Outcome::Silent;
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let found: Vec<Finding> = slow
        .first()
        .and_then(|(seconds, file)| one(*seconds, file, facts, limit))
        .into_iter()
        .collect();
    Outcome::from(found, || {
        format!("none of {} streams holds a {} up", count(streams), facts.one())
    })
}

fn one(seconds: f64, file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let (usage, slowest) = file.through(Layer::Stdio).zip(file.slowest.get(&Layer::Stdio))?;
    let says = format!(
        "{} spends {} in the stream {} for {} ({}, {} and {})",
        facts.who.called(slowest.rank),
        Seconds(seconds),
        file.name(),
        Bytes(usage.bytes()),
        counted(usage.write.calls, "write"),
        if usage.syncs == 1 { "1 flush".into() } else { format!("{} flushes", count(usage.syncs)) },
        counted(usage.opens, "open"),
    );
    Some(
        Finding::costing(RULE.slug, seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .seconds("seconds", seconds)
            .bytes("bytes", usage.bytes())
            .count("flushes", usage.syncs)
            .count("opens", usage.opens)
            .about(&[file])
            .by(&[slowest.rank])
            .advise(Advice::with("keep the stream open, flush it seldom, and put it on another file system than the bulk data", "setvbuf(log, NULL, _IOFBF, 1 << 20);  /* no fflush() after each line */"))
            .gains(seconds, "a buffered stream takes next to nothing"),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(seconds: f64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        let usage = job.stdio("/lus/run.log", 0);
        usage.write.seconds = seconds;
        (usage.write.bytes, usage.write.calls, usage.syncs, usage.opens) = (44_784, 956, 176, 1);
        job
    }

    #[test]
    fn fires_on_seconds_for_kilobytes() {
        job(80.0).says(&RULE, "rank 0 spends 80.0 s in the stream run.log for 43.7 KiB (956 writes, 176 flushes and 1 open)");
    }

    #[test]
    fn is_silent_just_below() {
        job(4.9).silent(&RULE);
    }

    #[test]
    fn is_silent_without_streams() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
