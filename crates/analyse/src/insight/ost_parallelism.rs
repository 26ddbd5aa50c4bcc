//! `ost-parallelism`: a file is striped over many targets, but only a few work at a time.
//!
//! Stripes help only if calls go to different targets at the same time. Requests are split at stripes, and it
//! is looked at many moments which targets have a call; the median over the moments with any counts.
//! Needs a trace and layouts.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, query};
use crate::metric::FileFacts;
use crate::{Facts, Thresholds};
use netra_event::{Kind, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "ost-parallelism",
    title: "few storage targets at a time",
    explains: &[],
    sources: &[query::LAYOUT, Source::Calls(Of::Posix, &[Kind::Read, Kind::Write])],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(active) = facts.ost_activity else { return Outcome::Silent };
    if active.stripes < limit.ost_count || facts.who.ranks < 2 {
        return Outcome::Silent;
    }
    let possible = active.stripes.min(facts.who.ranks) as f64;
    let share = active.median / possible;
    if share >= limit.ost_active_share.0 {
        return Outcome::Passed(format!(
            "{} of {} targets work at a time",
            active.median, possible
        ));
    }
    let wide = |file: &&FileFacts| {
        file.layout.as_ref().is_some_and(|layout| layout.stripe_count >= limit.ost_count)
    };
    let files: Vec<&FileFacts> = facts.files_of_ranks().iter().filter(wide).collect();
    let path = facts.cost_in(&files, |_, spent| spent.part(spent.read + spent.write));
    let lost = path.seconds * (1.0 - share / limit.ost_active_share.0);
    let says = format!(
        "files lie on up to {} targets, {} of them were ever used, and {} work at a time (at most {})",
        count(active.stripes),
        count(active.used),
        active.median,
        count(active.most),
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::User, Audience::Developer])
            .count("stripe count", active.stripes)
            .count("targets used", active.used)
            .ratio("targets at a time", active.median)
            .count("targets at a time at most", active.most)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::with(
                "let more ranks write at the same time, each to stripes of its own: one aggregator a target",
                format!("MPI_Info_set(info, \"cb_nodes\", \"{}\");", active.stripes),
            ))
            .gains(lost, "targets are equally fast and half of them are busy at any time"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// Sixteen ranks write a file of sixteen stripes for ten seconds each, so many at a time.
    fn job(at_a_time: u32) -> Sample {
        let mut job = Sample::new(16, 200.0);
        for rank in 0..16 {
            job.posix("/lus/f", rank).write.seconds = 10.0;
        }
        let osts: Vec<u64> = (0..16).collect();
        job.layout("/lus/f", 1 << 20, &osts);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        for rank in 0..16u32 {
            let start = f64::from(rank / at_a_time) * 10.0;
            job.job.trace.push(TraceRow {
                file,
                rank,
                layer: Layer::Posix,
                direction: Direction::Write,
                start,
                end: start + 10.0,
                offset: u64::from(rank) << 20,
                length: 1 << 20,
            });
        }
        job
    }

    #[test]
    fn fires_when_targets_take_turns() {
        job(1).says(
            &RULE,
            "files lie on up to 16 targets, 16 of them were ever used, and 1 work at a time (at most 1)",
        );
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(2).finds(&RULE).len(), 1);
        job(4).silent(&RULE);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
