//! `many-phases`: the job does its I/O in very many short bursts.
//!
//! Each burst starts slowly and waits for its slowest rank. Fewer and longer ones are faster. What it costs is the
//! time that the slowest rank of each phase is behind the fastest. Needs a trace.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, counted, query};
use crate::{Facts, Thresholds};
use netra_event::Seconds;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "many-phases",
    title: "very many bursts of I/O",
    explains: &[],
    sources: query::TRACED,
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(phases) = &facts.phases else { return Outcome::Silent };
    let number = phases.job.phases.len() as u64;
    let ranks = phases.job.phases.iter().map(|phase| phase.compared).max().unwrap_or(0);
    if number <= limit.phase_count || ranks < 2 {
        return Outcome::Passed(format!("{} of I/O", counted(number, "burst")));
    }
    let behind: f64 = phases
        .job
        .phases
        .iter()
        .filter(|phase| phase.compared > 1)
        .map(|phase| phase.slowest.1 - phase.fastest.1)
        .sum();
    // Ranks that do not wait for each other are added to more than any of them spends.
    let behind = facts.critical.at_most_spent(behind, facts.critical.seconds);
    let says = format!(
        "I/O comes in {} bursts; in each the slowest rank is behind the fastest, {} in all",
        count(number),
        Seconds(behind)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, behind, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::Developer])
            .count("phases", number)
            .seconds("slowest behind fastest", behind)
            .advise(Advice::new("gather several steps in memory and write them together"))
            .gains(behind, "fewer bursts lose less to their slowest rank"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// So many phases of three bursts each: 0.2 s lie between bursts, a second between phases.
    /// In each burst rank 1 is an eighth of a second slower than rank 0.
    fn job(phases: u32) -> Sample {
        let mut job = Sample::new(2, 1000.0);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        for burst in 0..phases * 3 {
            let start = f64::from(burst) * 0.45 + f64::from(burst / 3) * 0.8;
            for rank in 0..2 {
                let end = start + 0.125 + f64::from(rank) * 0.125;
                let direction = Direction::Write;
                job.job.trace.push(TraceRow {
                    file,
                    rank,
                    layer: Layer::Posix,
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
    fn fires_on_very_many_bursts() {
        job(104).says(
            &RULE,
            "I/O comes in 104 bursts; in each the slowest rank is behind the fastest, 39.0 s in all",
        );
    }

    #[test]
    fn is_silent_just_below() {
        job(100).silent(&RULE);
        assert_eq!(job(101).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
