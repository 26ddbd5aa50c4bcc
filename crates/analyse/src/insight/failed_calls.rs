//! `failed-calls`: a good part of the calls fail.
//!
//! A program that looks for a file in one folder after another asks the metadata server each time, and
//! on many ranks at once that is a storm. What it costs is the time of the failed calls, as
//! the mean call of their function takes, spread over the ranks. Needs netra's own trace.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, percent};
use crate::{Facts, FunctionUse, Thresholds};
use netra_event::{Kind, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "failed-calls",
    title: "many calls that fail",
    explains: &[],
    sources: &[Source::Failures],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let asked = |one: &&FunctionUse| {
        matches!(
            one.function.kind(),
            Kind::Open | Kind::Stat | Kind::Read | Kind::Write | Kind::Meta | Kind::Sync
        ) && one.traced > 0
    };
    let seconds = |one: &FunctionUse| one.seconds * one.failed as f64 / one.traced.max(1) as f64;
    let functions: Vec<&FunctionUse> = facts.functions.iter().filter(asked).collect();
    if functions.is_empty() {
        return Outcome::Silent;
    }
    let many = |one: &&FunctionUse| {
        one.failed >= limit.failed_count
            && one.failed as f64 >= limit.failed_share.0 * one.traced as f64
    };
    let mut found: Vec<&FunctionUse> = functions.iter().copied().filter(many).collect();
    if found.is_empty() {
        let failed: u64 = functions.iter().map(|one| one.failed).sum();
        let traced: u64 = functions.iter().map(|one| one.traced).sum();
        let lost = facts.on_slowest(functions.iter().map(|one| seconds(one)).sum());
        return Outcome::Passed(format!(
            "{} of {} calls fail, and take {}",
            count(failed),
            count(traced),
            Seconds(lost)
        ));
    }
    found.sort_by(|a, b| b.failed.cmp(&a.failed).then(a.function.cmp(&b.function)));
    let worst = found[0];
    let lost = facts.on_slowest(found.iter().map(|one| seconds(one)).sum());
    let error = worst
        .errors
        .first()
        .map_or(String::new(), |(error, _)| format!(", most with {}", name(*error)));
    let says = format!(
        "{} of {} calls of {} fail ({}){error}",
        count(worst.failed),
        count(worst.traced),
        worst.function.name(),
        percent(worst.failed as f64 / worst.traced as f64),
    );
    let total: u64 = found.iter().map(|one| one.failed).sum();
    Outcome::Found(vec![
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer, Audience::User])
            .count("calls that fail", total)
            .seconds(format!("seconds in them per {}", facts.one()), lost)
            .advise(Advice::new(format!("look files up once and keep the path; let one {} search and tell the others", facts.one())))
            .advise(Advice::with(
                "for Python and shells: shorten the search paths",
                "export PYTHONPATH=…  # only what is needed; see also PYTHONNOUSERSITE, LD_LIBRARY_PATH",
            ))
            .gains(lost, format!("failed calls take as long as others, {} a {}", Seconds(lost), facts.one())),
    ])
}

/// An error number by the name that manuals use.
fn name(error: u32) -> String {
    match error {
        1 => "EPERM (not permitted)".into(),
        2 => "ENOENT (no such file)".into(),
        4 => "EINTR (interrupted)".into(),
        5 => "EIO (input/output error)".into(),
        9 => "EBADF (not open)".into(),
        11 => "EAGAIN (try again)".into(),
        13 => "EACCES (no permission)".into(),
        17 => "EEXIST (exists already)".into(),
        20 => "ENOTDIR (not a folder)".into(),
        22 => "EINVAL (invalid argument)".into(),
        25 => "ENOTTY (not a terminal)".into(),
        28 => "ENOSPC (no space left)".into(),
        29 => "ESPIPE (can not seek)".into(),
        30 => "EROFS (read-only)".into(),
        116 => "ESTALE (stale file handle)".into(),
        122 => "EDQUOT (quota exceeded)".into(),
        other => format!("error {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::FunctionUse;
    use crate::sample::Sample;
    use netra_event::Function;

    fn job(failed: u64) -> Sample {
        let mut job = Sample::new(2, 10.0);
        let mut function = FunctionUse::new(Function::Open);
        (function.calls, function.traced, function.failed, function.seconds) =
            (4000, 4000, failed, 4.0);
        function.errors = vec![(2, failed)];
        job.job.functions.push(function);
        job
    }

    #[test]
    fn fires_on_many_that_fail() {
        job(2000).says(
            &RULE,
            "2,000 of 4,000 calls of open fail (50 %), most with ENOENT (no such file)",
        );
        assert_eq!(job(2000).finds(&RULE)[0].lost, 1.0);
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(1000).finds(&RULE).len(), 1);
        job(999).silent(&RULE);
    }

    #[test]
    fn is_silent_without_functions() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
