//! `stdout-bulk`: bulk output through standard output or error.
//!
//! In a job it is redirected into a file, or sent through the launcher to one; every line of every rank
//! then passes one process.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stdout-bulk",
    title: "bulk output through standard output",
    explains: &[],
    sources: &[query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let streams: Vec<&FileFacts> =
        facts.files.iter().filter(|file| file.is_standard_stream()).collect();
    let bytes: u64 = streams
        .iter()
        .filter_map(|file| file.through(Layer::Stdio))
        .map(|usage| usage.write.bytes)
        .sum();
    if bytes == 0 {
        return Outcome::Silent;
    }
    if bytes < limit.stdout_bytes.0 {
        return Outcome::Passed(format!("{} go to standard output and error", Bytes(bytes)));
    }
    let path = facts.cost_in(&streams, |_, _| 1.0);
    Outcome::Found(vec![
        Finding::costing(
            RULE.slug,
            path.seconds,
            format!("{} go through standard output and error", Bytes(bytes)),
            facts,
            limit,
        )
        .sure(Confidence::High)
        .to(&[Audience::Developer, Audience::User])
        .bytes("bytes", bytes)
        .about(&streams)
        .by(&[path.rank])
        .advise(Advice::new(format!(
            "write data into a file of its own, and print from one {} only",
            facts.one()
        )))
        .gains(path.seconds, "output takes no time elsewhere"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(mib: u64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        job.stdio("<STDOUT>", 0).write.bytes = mib << 20;
        job
    }

    #[test]
    fn fires_on_bulk_output() {
        job(100).says(&RULE, "100 MiB go through standard output and error");
    }

    #[test]
    fn is_silent_just_below() {
        job(63).silent(&RULE);
    }

    #[test]
    fn is_silent_without_output() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
