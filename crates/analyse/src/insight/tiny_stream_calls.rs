//! `tiny-stream-calls`: a C stream is read or written a few bytes at a time.
//!
//! The stream's buffer keeps such calls away from the file system, so no rule about requests sees them. But each is a call, a
//! lock and a copy: `fread` of one byte moves a few dozen MB a second where a block moves gigabytes. Counts by the seconds
//! that the record holds: what is lost is what lies beyond the time of the same bytes in large calls.

use super::{
    Advice, Audience, Confidence, Finding, Outcome, Rule, count, counted, names, percent, query,
};
use crate::metric::{FileFacts, Spent};
use crate::{Direction, Facts, Flow, Layer, Thresholds};
use netra_event::{Bytes, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "tiny-stream-calls",
    title: "C streams used a few bytes at a time",
    explains: &["slow-stream"],
    sources: &[query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let streams = facts.files.iter().filter(|file| file.through(Layer::Stdio).is_some());
    let streams: Vec<&FileFacts> = streams.collect();
    if streams.iter().all(|file| calls(file, |_| true) == 0) {
        return Outcome::Silent;
    }
    let mut tiny: Vec<(u64, &FileFacts)> = streams
        .iter()
        .map(|file| (calls(file, |flow| is_tiny(flow, limit)), *file))
        .filter(|(calls, _)| *calls > 0)
        .collect();
    tiny.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let total: u64 = tiny.iter().map(|(calls, _)| calls).sum();
    let files: Vec<&FileFacts> = tiny.iter().map(|(_, file)| *file).collect();
    let path = facts.cost_in(&files, |file, spent| weight(file, spent, facts, limit));
    if total < limit.tiny_stream_count || facts.share(path.seconds) < limit.worth_share.0 {
        let says = format!(
            "{} of C streams with less than {} each, which cost no more than {}",
            counted(total, "call"),
            limit.tiny_stream_call,
            Seconds(path.seconds)
        );
        return Outcome::Passed(says);
    }
    let flows = || files.iter().filter_map(|file| file.through(Layer::Stdio)).flat_map(both);
    let bytes: u64 = flows().filter(|flow| is_tiny(flow, limit)).map(|flow| flow.bytes).sum();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} calls move {} at a time through C streams, most of them to and from {}: {} of the run",
        count(total),
        Bytes(bytes / total.max(1)),
        names(&list),
        percent(facts.share(path.seconds)),
    );
    let mut finding = Finding::costing(RULE.slug, path.seconds, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer])
        .count("calls", total)
        .bytes("bytes", bytes)
        .about(&files)
        .gains(
            path.seconds,
            "blocks of 1 MiB, taken apart in memory, take the time of their bytes alone",
        );
    if path.seconds > 0.0 && facts.nprocs > 1 {
        finding = finding.by(&[path.rank]);
    }
    Outcome::Found(vec![finding.advise(Advice::with(
        "read and write blocks and take them apart in memory; where that is too much, leave out the lock of each call",
        "size_t got = fread(block, 1, 1 << 20, stream);\nint byte = getc_unlocked(stream);  /* one thread uses the stream */",
    ))])
}

fn both(usage: &crate::Usage) -> impl Iterator<Item = &Flow> {
    Direction::BOTH.into_iter().map(|direction| usage.flow(direction))
}

/// Calls of the directions that the condition holds for.
fn calls(file: &FileFacts, holds: impl Fn(&Flow) -> bool) -> u64 {
    let flows = file.through(Layer::Stdio).into_iter().flat_map(both);
    flows.filter(|flow| holds(flow)).map(|flow| flow.calls).sum()
}

fn is_tiny(flow: &Flow, limit: &Thresholds) -> bool {
    flow.calls > 0 && flow.bytes / flow.calls < limit.tiny_stream_call.0
}

/// The share of a stream's time that its tiny calls cost.
fn weight(file: &FileFacts, spent: &Spent, facts: &Facts, limit: &Thresholds) -> f64 {
    let Some(usage) = file.through(Layer::Stdio).filter(|_| spent.layer == Layer::Stdio) else {
        return 0.0;
    };
    let one = |direction: Direction, seconds: f64| {
        let (flow, rate) = (usage.flow(direction), facts.rates.of(direction));
        let lost = 1.0 - flow.bytes as f64 / rate.large / flow.seconds;
        if is_tiny(flow, limit) && flow.seconds > 0.0 {
            spent.part(seconds) * lost.max(0.0)
        } else {
            0.0
        }
    };
    one(Direction::Read, spent.read) + one(Direction::Write, spent.write)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// Two ranks read a stream by so many calls of so many bytes, in ten seconds of a hundred.
    fn job(calls: u64, bytes: u64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        for rank in 0..2 {
            let usage = job.stdio("/lus/seed", rank);
            (usage.read.calls, usage.read.bytes) = (calls / 2, calls / 2 * bytes);
            usage.read.seconds = 10.0;
        }
        job
    }

    #[test]
    fn fires_on_many_calls_of_a_few_bytes() {
        job(2_000_000, 4).says(&RULE, "2,000,000 calls move 4 B at a time through C streams, most of them to and from seed: 10.0 % of the run");
        let lost = job(2_000_000, 4).finds(&RULE)[0].lost;
        // 8 MB at the assumed 200 MiB a second are 38 ms of the 20 s of both.
        assert!((lost - 9.981).abs() < 0.001, "{lost}");
    }

    #[test]
    fn is_silent_just_below_the_count_and_above_the_size() {
        job(99_998, 4).silent(&RULE);
        assert_eq!(job(100_000, 4).finds(&RULE).len(), 1);
        job(2_000_000, 64).silent(&RULE);
        assert_eq!(job(2_000_000, 63).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_streams() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
