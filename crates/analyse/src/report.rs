//! The report: facts, findings by what they cost, what passed, and whether to trust it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use netra_event::Rank;

use crate::detail::{Budget, Detail};
use crate::insight::{Custom, Finding, Outcome, RULES, Source, group, lines, queries};
use crate::pattern::parallel;
use crate::{Facts, Job, Thresholds};

/// Traced calls from which pictures are worth a thread of their own.
const WORTH_DRAWING_ASIDE: usize = 1 << 13;

/// Everything that is said about a job.
#[derive(Debug, Clone)]
pub struct Report {
    /// The facts behind it.
    pub facts: Facts,
    /// Causes, costliest first, with their symptoms.
    pub findings: Vec<Finding>,
    /// What was checked and found in order, by slug.
    pub passed: Vec<(Cow<'static, str>, String)>,
    /// Rules that were not asked.
    pub silenced: Vec<String>,
}

/// How a job is looked at.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Limits that rules compare with.
    pub limits: Thresholds,
    /// Rules that are not asked.
    pub silenced: BTreeSet<String>,
    /// Rules that a site or a user has added.
    pub rules: Vec<Custom>,
}

/// Looks at a job with the rules that are compiled in, except those that are silenced.
#[must_use]
pub fn diagnose(job: &Job, limit: &Thresholds, silenced: &BTreeSet<String>) -> Report {
    let setup = Setup { limits: limit.clone(), silenced: silenced.clone(), ..Setup::default() };
    diagnose_with(job, &setup)
}

/// A rule that has spoken.
struct Heard {
    slug: Cow<'static, str>,
    title: Cow<'static, str>,
}

/// Looks at a job with every rule that is not silenced.
#[must_use]
pub fn diagnose_with(job: &Job, setup: &Setup) -> Report {
    let limit = &setup.limits;
    let facts = Facts::of(job, limit);
    let mut findings = Vec::new();
    let mut passed = Vec::new();
    let mut hear = |name: Heard, sources: &[Source], outcome: Outcome| match outcome {
        Outcome::Silent => {}
        Outcome::Passed(says) => passed.push((name.slug, says)),
        Outcome::Found(found) => findings.extend(found.into_iter().map(|finding| {
            let queries = queries(&finding, sources, job);
            let lines = lines(&finding, job);
            // Rules name whom they mean by number.
            let (ranks, others): (Vec<Rank>, Vec<Rank>) =
                finding.ranks.iter().partition(|number| facts.who.is_rank(**number));
            let processes = others.into_iter().map(|other| facts.who.called(other)).collect();
            let title = name.title.clone();
            Finding { title, queries, lines, ranks, processes, ..finding }
        })),
    };
    for rule in RULES.iter().filter(|rule| !setup.silenced.contains(rule.slug)) {
        let name = Heard { slug: rule.slug.into(), title: rule.title.into() };
        hear(name, rule.sources, (rule.check)(&facts, limit));
    }
    for rule in setup.rules.iter().filter(|rule| !setup.silenced.contains(&rule.slug)) {
        let name = Heard { slug: rule.slug.clone().into(), title: rule.title.clone().into() };
        hear(name, Custom::SOURCES, rule.check(&facts, limit));
    }
    Report {
        facts,
        findings: group(findings),
        passed,
        silenced: setup.silenced.iter().cloned().collect(),
    }
}

/// The same, and at the same time what a page shows of the job: neither needs the other.
#[must_use]
pub fn diagnose_and_draw(job: &Job, setup: &Setup, budget: Budget) -> (Report, Detail) {
    let (detail, report) = parallel::both(
        job.trace.len() >= WORTH_DRAWING_ASIDE,
        || Detail::of(job, budget),
        || diagnose_with(job, setup),
    );
    (report, detail)
}

#[cfg(test)]
mod tests {
    use super::diagnose;
    use crate::{Job, Thresholds};
    use std::collections::BTreeSet;

    #[test]
    fn an_empty_job_has_nothing_to_say() {
        let report = diagnose(&Job::default(), &Thresholds::default(), &BTreeSet::new());
        assert!(report.findings.is_empty());
        assert!(report.passed.is_empty(), "{:?}", report.passed);
        assert_eq!(report.facts.critical.seconds, 0.0);
    }

    #[test]
    fn silenced_rules_say_nothing() {
        let mut job = crate::sample::Sample::new(1, 100.0);
        let usage = job.posix("/f", 0);
        usage.seeks = 1_000_000;
        (usage.read.calls, usage.meta) = (10, 50.0);
        let slugs = |silenced: &[&str]| -> Vec<String> {
            let silenced = silenced.iter().map(|slug| (*slug).to_owned()).collect();
            let report = diagnose(&job.job, &Thresholds::default(), &silenced);
            report.findings.iter().map(|finding| finding.slug.to_string()).collect()
        };
        assert!(slugs(&[]).contains(&"seek-storm".to_owned()));
        assert!(!slugs(&["seek-storm"]).contains(&"seek-storm".to_owned()));
    }
}
