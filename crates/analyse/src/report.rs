//! The report: facts, findings by what they cost, what passed, and whether to trust it.

use std::collections::BTreeSet;

use crate::insight::{Finding, Outcome, RULES, group};
use crate::{Facts, Job, Thresholds};

/// Everything that is said about a job.
#[derive(Debug, Clone)]
pub struct Report {
    /// The facts behind it.
    pub facts: Facts,
    /// Causes, costliest first, with their symptoms.
    pub findings: Vec<Finding>,
    /// What was checked and found in order, by slug.
    pub passed: Vec<(&'static str, String)>,
    /// Rules that were not asked.
    pub silenced: Vec<String>,
}

/// Looks at a job with every rule that is not silenced.
#[must_use]
pub fn diagnose(job: &Job, limit: &Thresholds, silenced: &BTreeSet<String>) -> Report {
    let facts = Facts::of(job, limit);
    let mut findings = Vec::new();
    let mut passed = Vec::new();
    for rule in RULES.iter().filter(|rule| !silenced.contains(rule.slug)) {
        match (rule.check)(&facts, limit) {
            Outcome::Silent => {}
            Outcome::Passed(says) => passed.push((rule.slug, says)),
            Outcome::Found(found) => findings.extend(found),
        }
    }
    Report {
        facts,
        findings: group(findings),
        passed,
        silenced: silenced.iter().cloned().collect(),
    }
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
        let slugs = |silenced: &[&str]| -> Vec<&str> {
            let silenced = silenced.iter().map(|slug| (*slug).to_owned()).collect();
            let report = diagnose(&job.job, &Thresholds::default(), &silenced);
            report.findings.iter().map(|finding| finding.slug).collect()
        };
        assert!(slugs(&[]).contains(&"seek-storm"));
        assert!(!slugs(&["seek-storm"]).contains(&"seek-storm"));
    }
}
