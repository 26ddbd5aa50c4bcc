//! `call-mix`: whether the job mostly reads or mostly writes, by calls and by bytes.
//!
//! Good to know and never a fault: it says which half of the advice matters.

use super::{Confidence, Finding, Outcome, Rule, count, percent, query};
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "call-mix",
    title: "the job mostly reads, or mostly writes",
    explains: &[],
    sources: &[query::POSIX, query::STDIO, query::DFS],
    check,
};

/// How much more of one than of the other it takes, as a share of both.
const MORE: f64 = 0.10;

fn check(facts: &Facts, _: &Thresholds) -> Outcome {
    let layers = [Layer::Posix, Layer::Stdio, Layer::Dfs].map(|layer| facts.layer(layer));
    let sum = |of: fn(&crate::metric::LayerFacts) -> u64| layers.iter().map(of).sum::<u64>();
    let (reads, writes) = (sum(|layer| layer.reads), sum(|layer| layer.writes));
    let (read, written) = (sum(|layer| layer.bytes_read), sum(|layer| layer.bytes_written));
    let calls = lead(reads, writes).map(|(share, kind)| {
        format!("{} of {} reads and writes are {kind}", percent(share), count(reads + writes))
    });
    let bytes = lead(read, written).map(|(share, kind)| {
        let done = if kind == "reads" { "read" } else { "written" };
        format!("{} of the {} moved are {done}", percent(share), Bytes(read + written))
    });
    let says: Vec<String> = calls.into_iter().chain(bytes).collect();
    if says.is_empty() {
        return Outcome::Silent;
    }
    Outcome::Found(vec![
        Finding::note(RULE.slug, says.join(", and "))
            .sure(Confidence::High)
            .count("reads", reads)
            .count("writes", writes)
            .bytes("bytes read", read)
            .bytes("bytes written", written),
    ])
}

/// The larger of two as a share of both, if it leads clearly.
fn lead(reads: u64, writes: u64) -> Option<(f64, &'static str)> {
    let total = (reads + writes) as f64;
    if total == 0.0 || reads.abs_diff(writes) as f64 / total <= MORE {
        return None;
    }
    Some((reads.max(writes) as f64 / total, if reads > writes { "reads" } else { "writes" }))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(reads: u64, writes: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/f", 0);
        (usage.read.calls, usage.write.calls) = (reads, writes);
        job
    }

    #[test]
    fn fires_and_says_what_leads() {
        job(900, 100).says(&RULE, "90 % of 1,000 reads and writes are reads");
    }

    #[test]
    fn is_silent_just_below() {
        job(550, 450).silent(&RULE);
        assert_eq!(job(551, 449).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_calls() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
