//! `phase-stragglers`: in each burst of I/O the others wait for one slow rank.
//!
//! A rank may be slowest in one burst and fast in the next, so that sums over the run look even. Per phase
//! the slowest rank's time is compared with that of the fastest; what it costs is the sum. Needs a trace.

use std::collections::BTreeMap;

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, percent, query};
use crate::metric::FileFacts;
use crate::pattern::Phase;
use crate::{Facts, Thresholds};
use netra_event::{Rank, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "phase-stragglers",
    title: "a slow rank in each burst",
    explains: &["straggler"],
    sources: query::TRACED,
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(phases) = &facts.phases else { return Outcome::Silent };
    let together: Vec<&Phase> = phases
        .job
        .phases
        .iter()
        .filter(|phase| phase.compared * 2 >= facts.who.ranks && phase.compared > 1)
        .collect();
    // Very many are another rule's.
    if together.len() < 2 || together.len() as u64 > limit.phase_count {
        return Outcome::Silent;
    }
    let behind = |phase: &Phase| phase.slowest.1 - phase.fastest.1;
    let uneven = |phase: &&&Phase| {
        behind(phase) > limit.straggler_ratio.0 * phase.slowest.1
            && behind(phase) >= limit.floor_seconds.0
    };
    let slow: Vec<&Phase> = together.iter().filter(uneven).copied().collect();
    let lost: f64 = slow.iter().map(|phase| behind(phase)).sum();
    if slow.len() * 2 < together.len() || facts.share(lost) < limit.warn_share.0 {
        return Outcome::Passed(format!(
            "in {} of {} bursts one rank is far behind, {} in all",
            slow.len(),
            together.len(),
            Seconds(lost)
        ));
    }
    let mut whose: BTreeMap<Rank, u64> = BTreeMap::new();
    slow.iter().for_each(|phase| *whose.entry(phase.slowest.0).or_default() += 1);
    let usual = whose.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
    let who = match usual {
        Some((rank, times)) if *times * 2 > slow.len() as u64 => format!("mostly rank {rank}"),
        _ => format!("{} different ranks", whose.len()),
    };
    let says = format!(
        "in {} of {} bursts one rank takes far longer than the fastest ({who}): {} in all ({} of the run)",
        count(slow.len() as u64),
        count(together.len() as u64),
        Seconds(lost),
        percent(facts.share(lost)),
    );
    let ranks: Vec<Rank> = whose.into_keys().collect();
    // Phases are of all files; those that the slowest rank spends its time on stand for them.
    let files = facts.critical.by_file();
    let files: Vec<&FileFacts> =
        files.iter().take(10).filter_map(|(file, _)| facts.file(*file)).collect();
    let mut finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::Low)
        .to(&[Audience::Developer, Audience::User])
        .count("bursts", together.len() as u64)
        .count("bursts with a slow rank", slow.len() as u64)
        .seconds("slowest behind fastest", lost)
        .about(&files)
        .by(&ranks)
        .advise(Advice::new(
            "give every rank the same share of the bytes; if shares are equal, look at node and target of the slow ranks",
        ))
        .gains(lost, "in each burst all ranks take as long as the fastest");
    finding.window = slow.first().zip(slow.last()).map(|(first, last)| (first.start, last.end));
    Outcome::Found(vec![finding])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// Four bursts of two ranks; rank 1 takes so many seconds, rank 0 one.
    fn job(slow: f64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        for burst in 0..4 {
            for rank in 0..2 {
                let start = f64::from(burst) * 25.0;
                let end = start + if rank == 1 { slow } else { 1.0 };
                let (layer, direction) = (Layer::Posix, Direction::Write);
                job.job.trace.push(TraceRow {
                    file,
                    rank,
                    layer,
                    direction,
                    start,
                    end,
                    offset: 0,
                    length: 1,
                });
            }
        }
        job
    }

    #[test]
    fn fires_when_each_burst_waits() {
        job(6.0).says(
            &RULE,
            "in 4 of 4 bursts one rank takes far longer than the fastest (mostly rank 1): 20.0 s in all (20 % of the run)",
        );
        assert_eq!(job(6.0).finds(&RULE)[0].window, Some((0.0, 81.0)));
    }

    #[test]
    fn is_silent_just_below() {
        job(2.0).silent(&RULE);
        assert_eq!(job(2.1).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
