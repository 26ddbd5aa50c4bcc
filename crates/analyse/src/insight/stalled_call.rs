//! `stalled-call`: one call took seconds for a few bytes.
//!
//! The file system stood still: its servers were busy with somebody else, a lock had to come back
//! from another client, or a target was failing. A single run cannot tell which.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::{Bytes, Module, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stalled-call",
    title: "calls that stood still",
    explains: &["straggler"],
    sources: &[
        Source::Counters(
            Module::Posix,
            &[
                "POSIX_MAX_READ_TIME_SIZE",
                "POSIX_MAX_WRITE_TIME_SIZE",
                "POSIX_F_MAX_READ_TIME",
                "POSIX_F_MAX_WRITE_TIME",
            ],
        ),
        Source::Counters(
            Module::Mpiio,
            &[
                "MPIIO_MAX_READ_TIME_SIZE",
                "MPIIO_MAX_WRITE_TIME_SIZE",
                "MPIIO_F_MAX_READ_TIME",
                "MPIIO_F_MAX_WRITE_TIME",
            ],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut stalled: Vec<(f64, u64, Direction, &FileFacts)> = Vec::new();
    let mut calls = 0;
    for file in &facts.files {
        let Some(posix) = file.through(Layer::Posix) else { continue };
        for direction in Direction::BOTH {
            let flow = posix.flow(direction);
            calls += flow.calls;
            if flow.longest >= limit.stall_seconds.0 && flow.longest_bytes < limit.small_request.0 {
                stalled.push((flow.longest, flow.longest_bytes, direction, file));
            }
        }
    }
    if calls == 0 {
        return Outcome::Silent;
    }
    stalled.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.3.path.cmp(&b.3.path)));
    let Some(&(longest, bytes, direction, worst)) = stalled.first() else {
        return Outcome::Passed(format!(
            "no call below {} took {} or more",
            limit.small_request, limit.stall_seconds
        ));
    };
    let says = format!(
        "a {} of {} to {} took {}{}: the file system stood still",
        direction.verb(),
        Bytes(bytes),
        worst.name(),
        Seconds(longest),
        if stalled.len() > 1 {
            format!(" (and {} other files had such calls)", count(stalled.len() as u64 - 1))
        } else {
            String::new()
        },
    );
    let files: Vec<&FileFacts> = stalled.iter().map(|one| one.3).collect();
    Outcome::Found(vec![
        Finding::costing(RULE.slug, longest, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::Administrator, Audience::User])
            .seconds("longest call", longest)
            .bytes("bytes it moved", bytes)
            .about(&files)
            .advise(Advice::new("run again: if it does not come back, it was the load of others; if it does, show it to the administrators"))
            .gains(longest, "the call takes no longer than others of its size"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(longest: f64, bytes: u64) -> Sample {
        let mut job = Sample::new(4, 100.0);
        let usage = job.posix("/lus/log", 2);
        usage.write.calls = 1;
        (usage.write.seconds, usage.write.longest, usage.write.longest_bytes) =
            (longest, longest, bytes);
        job
    }

    #[test]
    fn fires_on_a_small_call_of_seconds() {
        job(21.6, 40)
            .says(&RULE, "a write of 40 B to log took 21.6 s: the file system stood still");
    }

    #[test]
    fn is_silent_just_below_and_for_large_calls() {
        job(4.9, 40).silent(&RULE);
        job(21.6, 1 << 20).silent(&RULE);
    }

    #[test]
    fn is_silent_without_calls() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
