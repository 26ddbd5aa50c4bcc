//! `unclosed-files`: files are opened and never closed.
//!
//! Each open file holds a lock or a lease on the server and buffers in the client, and data that is not
//! flushed by a close may be lost with the process. Needs netra's own trace: counters do not count closes.

use super::{Advice, Audience, Confidence, Finding, Level, Outcome, Rule, Source, count};
use crate::{Facts, FunctionUse, Thresholds};
use netra_event::{Kind, Layer, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "unclosed-files",
    title: "files that stay open",
    explains: &[],
    sources: &[
        Source::Calls(Of::Posix, &[Kind::Open, Kind::Close]),
        Source::Calls(Of::Stdio, &[Kind::Open, Kind::Close]),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut left: Vec<(u64, u64, Layer)> = Vec::new();
    let mut opened = 0;
    for layer in [Layer::Posix, Layer::Stdio, Layer::Mpiio] {
        let sum = |kind: Kind| -> u64 {
            let of =
                |one: &&FunctionUse| one.function.layer() == layer && one.function.kind() == kind;
            facts.functions.iter().filter(of).map(|one| one.calls.saturating_sub(one.failed)).sum()
        };
        let (opens, closes) = (sum(Kind::Open), sum(Kind::Close));
        opened += opens;
        // Where descriptors are made in other ways too (dup, inherited), closes may exceed opens.
        if opens.saturating_sub(closes) >= limit.unclosed_count * facts.nprocs {
            left.push((opens - closes, opens, layer));
        }
    }
    if opened == 0 {
        return Outcome::Silent;
    }
    let Some(&(open, opens, layer)) = left.iter().max_by_key(|one| one.0) else {
        return Outcome::Passed("what is opened is closed".into());
    };
    let says = format!(
        "{} of {} opens through {} are never closed",
        count(open),
        count(opens),
        layer.name()
    );
    Outcome::Found(vec![
        Finding { level: Level::Info, ..Finding::note(RULE.slug, says) }
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("opens", opens)
            .count("never closed", open)
            .advise(Advice::new(
                "close files when they are no longer used, before the next are opened",
            )),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::FunctionUse;
    use crate::sample::Sample;
    use netra_event::Function;

    fn job(closes: u64) -> Sample {
        let mut job = Sample::new(2, 10.0);
        for (function, calls) in [(Function::Open, 500), (Function::Close, closes)] {
            let mut one = FunctionUse::new(function);
            (one.calls, one.traced) = (calls, calls);
            job.job.functions.push(one);
        }
        job
    }

    #[test]
    fn fires_on_files_that_stay_open() {
        job(100).says(&RULE, "400 of 500 opens through POSIX are never closed");
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(300).finds(&RULE).len(), 1);
        job(301).silent(&RULE);
        job(900).silent(&RULE);
    }

    #[test]
    fn is_silent_without_functions() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
