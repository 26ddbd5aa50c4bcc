//! What the rules say of a running job: which findings stand, since when, and which are gone again.

use std::collections::BTreeMap;
use std::sync::Arc;

use netra_analyse::insight::Finding;
use netra_analyse::{Job, Report};

use super::correlate::Relation;

/// A second of a processor makes the next diagnosis wait so many.
const REST: u64 = 25;
/// Findings that are gone and still told.
const REMEMBERED: usize = 64;

/// A finding and its life.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The rule.
    pub slug: String,
    /// Which of the rule's findings, counted from 0.
    pub number: usize,
    /// What people call it.
    pub title: String,
    /// How bad: HIGH, WARN, INFO.
    pub level: &'static str,
    /// What is wrong, with numbers.
    pub says: String,
    /// Seconds it costs so far.
    pub lost: f64,
    /// When it was first found, nanoseconds since 1970.
    pub since: u64,
    /// When its words or numbers last changed.
    pub changed: u64,
    /// When it was found no more.
    pub gone: Option<u64>,
}

impl Standing {
    /// A finding that is found now.
    #[must_use]
    pub fn new(finding: &Finding, now: u64) -> Standing {
        Standing {
            slug: finding.slug.to_string(),
            number: 0,
            title: finding.title.to_string(),
            level: finding.level.name(),
            says: finding.says.clone(),
            lost: finding.lost,
            since: now,
            changed: now,
            gone: None,
        }
    }
}

/// What is known of a job's findings.
#[derive(Debug, Clone, Default)]
pub struct Diagnosis {
    /// Counts diagnoses.
    pub number: u64,
    /// When it was made, nanoseconds since 1970.
    pub at: u64,
    /// Nanoseconds of processor time it took.
    pub took: u64,
    /// The same with what was made of it since.
    pub spent: u64,
    /// The job's version that was looked at.
    pub seen: u64,
    /// When the next one may be made.
    pub due: u64,
    /// Findings that stand, costliest first, then those that are gone.
    pub standings: Vec<Standing>,
    /// What was looked at, and what was found.
    pub report: Option<Arc<(Job, Report)>>,
    /// What the system did while calls were slow.
    pub relations: Vec<Relation>,
    /// Why there is none, where it failed.
    pub failed: Option<String>,
}

impl Diagnosis {
    /// So many nanoseconds of a processor went into it, for the rules or for somebody's page: the next one waits accordingly, and so
    /// many times as long as there are jobs that share the processor's time.
    pub fn rest(&mut self, took: u64, sharers: usize) {
        self.spent = self.spent.saturating_add(took);
        let wait = self.spent.saturating_mul(REST).saturating_mul(sharers.max(1) as u64);
        self.due = self.due.max(self.at.saturating_add(wait));
    }

    /// Findings that stand now.
    pub fn standing(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|one| one.gone.is_none())
    }

    /// Takes what was found now in; findings keep the time at which they were first found.
    pub fn take(&mut self, found: impl IntoIterator<Item = Standing>, now: u64) {
        let mut before: BTreeMap<(String, usize), Standing> = BTreeMap::new();
        for one in self.standings.drain(..) {
            before.insert((one.slug.clone(), one.number), one);
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for mut one in found {
            let number = seen.entry(one.slug.clone()).or_default();
            one.number = *number;
            *number += 1;
            let known = before.remove(&(one.slug.clone(), one.number));
            if let Some(known) = known.filter(|known| known.gone.is_none()) {
                one.since = known.since;
                if (&known.says, known.lost, known.level) == (&one.says, one.lost, one.level) {
                    one.changed = known.changed;
                }
            }
            self.standings.push(one);
        }
        let mut gone: Vec<Standing> = before.into_values().collect();
        for one in &mut gone {
            one.gone.get_or_insert(now);
        }
        gone.sort_by_key(|one| std::cmp::Reverse(one.gone));
        gone.truncate(REMEMBERED);
        self.standings.extend(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(findings: &[(&str, f64)], now: u64) -> Vec<Standing> {
        let one = |&(slug, lost): &(&str, f64)| Standing {
            slug: slug.to_owned(),
            number: 0,
            title: String::new(),
            level: "WARN",
            says: String::new(),
            lost,
            since: now,
            changed: now,
            gone: None,
        };
        findings.iter().map(one).collect()
    }

    fn told(diagnosis: &Diagnosis) -> Vec<(&str, u64, u64, Option<u64>)> {
        let all = diagnosis.standings.iter();
        all.map(|one| (one.slug.as_str(), one.since, one.changed, one.gone)).collect()
    }

    #[test]
    fn what_it_took_and_what_was_made_of_it_count_and_jobs_share_the_time() {
        let mut diagnosis = Diagnosis { at: 100, due: 110, ..Diagnosis::default() };
        diagnosis.rest(0, 1);
        assert_eq!(diagnosis.due, 110);
        diagnosis.rest(10, 1);
        assert_eq!(diagnosis.due, 100 + 10 * REST);
        // A page was made of it, while three jobs run.
        diagnosis.rest(10, 3);
        assert_eq!(diagnosis.due, 100 + 20 * REST * 3);
    }

    #[test]
    fn findings_come_change_go_and_come_again() {
        let mut diagnosis = Diagnosis::default();
        let (writes, seeks) = ("small-writes", "seek-storm");
        diagnosis.take(found(&[(writes, 1.0)], 10), 10);
        diagnosis.take(found(&[(writes, 1.0), (seeks, 2.0)], 20), 20);
        assert_eq!(told(&diagnosis), [(writes, 10, 10, None), (seeks, 20, 20, None)]);
        diagnosis.take(found(&[(seeks, 3.0)], 30), 30);
        assert_eq!(told(&diagnosis), [(seeks, 20, 30, None), (writes, 10, 10, Some(30))]);
        assert_eq!(diagnosis.standing().count(), 1);
        diagnosis.take(found(&[(writes, 1.0), (seeks, 3.0)], 40), 40);
        assert_eq!(told(&diagnosis)[0], (writes, 40, 40, None));
    }

    #[test]
    fn two_findings_of_one_rule_are_two() {
        let mut diagnosis = Diagnosis::default();
        diagnosis.take(found(&[("a", 1.0), ("a", 2.0)], 1), 1);
        diagnosis.take(found(&[("a", 1.0)], 2), 2);
        assert_eq!(told(&diagnosis), [("a", 1, 1, None), ("a", 1, 1, Some(2))]);
    }
}
