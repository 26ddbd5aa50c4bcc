//! `shared-stripes`: ranks write to the same stripes of a file.
//!
//! A stripe (a block on GPFS) has one lock. Where two ranks write different parts of it, the lock goes back and
//! forth between their nodes though no byte is written twice. Calls are split at stripes and taken in the order of time: how often
//! a stripe passed to another rank, and how often while its last user was still at it, is the evidence. Needs a trace and a layout.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, percent, query};
use crate::metric::FileFacts;
use crate::pattern::{Contention, SharedStripes};
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Kind, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "shared-stripes",
    title: "several processes write to the same stripes",
    explains: &["misaligned-file"],
    sources: &[
        query::LAYOUT,
        Source::Calls(Of::Posix, &[Kind::Write]),
        Source::Calls(Of::Mpiio, &[Kind::Write]),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(traced) = &facts.traced else { return Outcome::Silent };
    let known: Vec<(&FileFacts, SharedStripes, Contention)> = traced
        .files
        .iter()
        .filter(|file| file.bytes[1] > 0)
        .filter_map(|file| Some((facts.file(file.file)?, file.stripes?, file.contention?)))
        .filter(|(file, ..)| file.is_shared())
        .collect();
    if known.is_empty() {
        return Outcome::Silent;
    }
    let found = known
        .iter()
        .filter(|(file, stripes, _)| {
            let writes = file.through(Layer::Posix).map_or(0, |usage| usage.write.calls);
            stripes.calls >= limit.stripe_calls
                && stripes.calls as f64 > limit.stripe_share.0 * writes as f64
        })
        .map(|(file, stripes, contention)| {
            one(file, stripes, facts, limit)
                .count(
                    format!("stripes that passed to another {}", facts.one()),
                    contention.handovers(),
                )
                .count("of them while still in use", contention.contested())
        })
        .collect();
    Outcome::from(found, || format!("{} keep to stripes of their own", facts.noun()))
}

fn one(file: &FileFacts, stripes: &SharedStripes, facts: &Facts, limit: &Thresholds) -> Finding {
    let writes = file.through(Layer::Posix).map_or(0, |usage| usage.write.calls).max(1);
    let lost = stripes.rank_seconds / file.ranks(facts.nprocs) as f64;
    let says = format!(
        "{} of the writes to {} ({}) go to stripes of {} that other {} write too",
        percent(stripes.calls as f64 / writes as f64),
        file.name(),
        count(stripes.calls),
        Bytes(stripes.stripe_size),
        facts.noun(),
    );
    Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer, Audience::User])
        .count("writes to shared stripes", stripes.calls)
        .count("shared stripes", stripes.shared)
        .bytes("stripe", stripes.stripe_size)
        .seconds("rank seconds", stripes.rank_seconds)
        .about(&[file])
        .advise(Advice::with(
            format!("let {} write whole stripes", facts.noun()),
            format!(
                "H5Pset_alignment(fapl, 0, {0});  /* or pad each part to a multiple of {0} */",
                stripes.stripe_size
            ),
        ))
        .advise(Advice::new("or use collective calls: aggregators keep to stripes of their own"))
        .gains(lost, "writes to stripes of one's own take no time beyond the wire")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// Ranks that take turns in writing so many blocks of half a stripe.
    fn job(blocks: u64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        job.layout("/lus/out", 1000, &[1, 2]);
        let id = job.id("/lus/out");
        for rank in 0..2 {
            job.posix("/lus/out", rank).write.calls = blocks / 2;
        }
        let file = job.job.trace.file(id);
        for block in 0..blocks {
            let rank = (block % 2) as u32;
            let start = block as f64 / 100.0;
            job.job.trace.push(TraceRow {
                file,
                rank,
                layer: Layer::Posix,
                direction: Direction::Write,
                start,
                end: start + 0.01,
                offset: block * 500,
                length: 500,
            });
        }
        job
    }

    #[test]
    fn fires_on_halves_of_stripes() {
        job(2_000).says(
            &RULE,
            "100 % of the writes to out (2,000) go to stripes of 1000 B that other ranks write too",
        );
    }

    #[test]
    fn counts_how_often_stripes_pass_from_rank_to_rank() {
        let found = job(2_000).finds(&RULE);
        let value = |name: &str| {
            let all = found[0].evidence.iter();
            all.clone().find(|one| one.name == name).map(|one| one.value.to_string()).unwrap()
        };
        // Two halves of each of a thousand stripes, the second after the first.
        assert_eq!(value("stripes that passed to another rank"), "1,000");
        assert_eq!(value("of them while still in use"), "0");
    }

    #[test]
    fn is_silent_just_below() {
        job(998).silent(&RULE);
        assert_eq!(job(1_000).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
