//! `stripe-mismatch`: the most common request does not fit the stripes of a file.
//!
//! A request that is larger than a stripe but no multiple of it, or a stripe no multiple of the request, makes
//! calls straddle two targets, each with a lock. Only what is known exactly is compared: the most
//! common size of the calls, and the layout.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Layout, Thresholds};
use netra_event::{Bytes, Module};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stripe-mismatch",
    title: "requests that do not fit the stripes",
    explains: &["misaligned-file"],
    sources: &[
        query::LAYOUT,
        Source::Counters(
            Module::Posix,
            &[
                "POSIX_ACCESS1_ACCESS",
                "POSIX_ACCESS1_COUNT",
                "POSIX_ACCESS2_ACCESS",
                "POSIX_ACCESS2_COUNT",
                "POSIX_ACCESS3_ACCESS",
                "POSIX_ACCESS3_COUNT",
                "POSIX_ACCESS4_ACCESS",
                "POSIX_ACCESS4_COUNT",
            ],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let known: Vec<(&FileFacts, &Layout, u64, u64)> = facts
        .files
        .iter()
        .filter_map(|file| {
            let usage = file.through(Layer::Posix)?;
            let layout = file.layout.as_ref().filter(|layout| layout.stripe_count > 1)?;
            let &(size, calls) = usage.common.iter().max_by_key(|common| common.1)?;
            let most = calls as f64 > 0.5 * (usage.read.calls + usage.write.calls) as f64;
            (most && layout.stripe_size > 0).then_some((file, layout, size, calls))
        })
        .filter(|(file, ..)| file.is_shared())
        .collect();
    if known.is_empty() {
        return Outcome::Silent;
    }
    let straddles = |layout: &Layout, size: u64| {
        let stripe = layout.stripe_size;
        size >= stripe / 16 && !size.is_multiple_of(stripe) && !stripe.is_multiple_of(size.max(1))
    };
    let found: Vec<_> = known
        .iter()
        .filter(|(_, layout, size, calls)| *calls >= limit.stripe_calls && straddles(layout, *size))
        .collect();
    let Some(&&(worst, layout, size, calls)) = found.iter().max_by_key(|one| one.3) else {
        return Outcome::Passed("the most common requests fit the stripes".into());
    };
    let files: Vec<&FileFacts> = found.iter().map(|one| one.0).collect();
    let stripe = layout.stripe_size;
    // Of requests that begin anywhere, this part reaches into a second stripe for nothing.
    let extra = (size % stripe).min(stripe) as f64 / stripe as f64;
    let path = facts.cost_in(&files, |_, spent| spent.part(spent.read + spent.write));
    let requests = (size as f64 / stripe as f64).ceil();
    let lost = path.seconds * extra / (requests + 1.0);
    let says = format!(
        "{} calls on {} move {} each, which does not fit its stripes of {}",
        count(calls),
        worst.name(),
        Bytes(size),
        Bytes(stripe),
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::User, Audience::Developer])
            .bytes("most common request", size)
            .bytes("stripe", stripe)
            .count("calls of that size", calls)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::with(
                "make the stripe a multiple of the request, or the request a multiple of the stripe",
                format!("lfs setstripe --stripe-size {} DIRECTORY", fitting(size)),
            ))
            .gains(lost, "no call straddles two stripes"),
    ])
}

/// A stripe that holds whole requests: the next multiple of 64 KiB, as Lustre wants it.
fn fitting(size: u64) -> u64 {
    size.next_multiple_of(1 << 16)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(size: u64, calls: u64) -> Sample {
        let mut job = Sample::new(4, 100.0);
        let usage = job.summed("/lus/f", (0, 10.0), (1, 20.0));
        (usage.write.calls, usage.write.seconds) = (calls, 60.0);
        usage.common[0] = (size, calls);
        job.layout("/lus/f", 1 << 20, &[0, 1]);
        job
    }

    #[test]
    fn fires_on_requests_across_stripes() {
        job(1_500_000, 2000).says(
            &RULE,
            "2,000 calls on f move 1.43 MiB each, which does not fit its stripes of 1.00 MiB",
        );
    }

    #[test]
    fn is_silent_just_below_and_where_they_fit() {
        job(1_500_000, 999).silent(&RULE);
        job(4 << 20, 2000).silent(&RULE);
        job(1 << 18, 2000).silent(&RULE);
    }

    #[test]
    fn is_silent_without_layouts() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
