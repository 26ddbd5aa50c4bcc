//! `attribute-churn`: HDF5 attributes are opened and closed more often than they are read or written.
//!
//! Each open looks the attribute up in the object's header. Libraries above HDF5 often open one for
//! every element of a loop. Needs netra's own trace.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count};
use crate::{Facts, FunctionUse, Thresholds};
use netra_event::{Kind, Layer as Of};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "attribute-churn",
    title: "attributes opened more often than used",
    explains: &[],
    sources: &[Source::Calls(Of::Hdf5, &[Kind::Open, Kind::Close, Kind::Read, Kind::Write])],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let of = |words: &'static [&'static str]| {
        facts
            .functions
            .iter()
            .filter(move |one| words.iter().any(|word| one.function.name().starts_with(word)))
    };
    let sum = |words| of(words).map(|one| one.calls).sum::<u64>();
    let opens = sum(&["H5Aopen", "H5Acreate"]);
    if opens == 0 {
        return Outcome::Silent;
    }
    let uses = sum(&["H5Aread", "H5Awrite"]);
    if opens < limit.attribute_count || (opens as f64) < limit.attribute_factor.0 * uses as f64 {
        return Outcome::Passed(format!(
            "attributes are opened {} times and used {}",
            count(opens),
            count(uses)
        ));
    }
    let seconds = |one: &FunctionUse| one.seconds;
    let spent: f64 = of(&["H5Aopen", "H5Aclose"]).map(seconds).sum();
    let idle = 1.0 - uses as f64 / opens as f64;
    let lost = facts.on_slowest(spent * idle);
    let says = format!(
        "attributes are opened {} times and read or written {} times",
        count(opens),
        count(uses)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("opens", opens)
            .count("reads and writes", uses)
            .advise(Advice::with(
                "keep attributes open while they are needed, or ask whether one exists without opening it",
                "H5Aexists(object, name);",
            ))
            .gains(lost, "attributes are opened as often as they are used"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::FunctionUse;
    use crate::sample::Sample;
    use netra_event::Function;

    fn job(uses: u64) -> Sample {
        let mut job = Sample::new(1, 10.0);
        for (function, calls) in [(Function::H5Aopen, 4000), (Function::H5Aread, uses)] {
            let mut one = FunctionUse::new(function);
            (one.calls, one.traced, one.seconds) = (calls, calls, 4.0);
            job.job.functions.push(one);
        }
        job
    }

    #[test]
    fn fires_on_attributes_that_are_hardly_used() {
        job(1000).says(&RULE, "attributes are opened 4,000 times and read or written 1,000 times");
        assert_eq!(job(1000).finds(&RULE)[0].lost, 3.0);
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(2000).finds(&RULE).len(), 1);
        job(2001).silent(&RULE);
    }

    #[test]
    fn is_silent_without_attributes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
