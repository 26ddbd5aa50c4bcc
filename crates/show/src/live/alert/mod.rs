//! Findings that somebody wants to be told of: each once for a job, not too many at a time, and again where it did not get
//! through. Each recipient has its own [`Alerts`].

mod told;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Job, Standing, State};
pub use told::{Recalled, Told};

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
/// How often a finding is tried that does not get through: for about an hour, as pauses grow.
const TRIES: u32 = 10;
/// The first pause, and the longest.
const PAUSES: (u64, u64) = (2 * SECOND, 15 * MINUTE);

/// A finding to tell of.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// The job.
    pub job: String,
    /// Its user.
    pub uid: Option<u32>,
    /// Its command.
    pub command: String,
    /// The rule.
    pub slug: String,
    /// What people call it.
    pub title: String,
    /// HIGH or WARN.
    pub level: &'static str,
    /// What is wrong, with numbers.
    pub says: String,
    /// Seconds it has cost so far.
    pub lost: f64,
    /// When it was found, nanoseconds since 1970.
    pub since: u64,
}

impl Alert {
    fn new(job: &Job, one: &Standing) -> Alert {
        let command = job.first().map(|first| first.about.command.clone());
        Alert {
            job: job.key.clone(),
            uid: job.uid(),
            command: String::from_utf8_lossy(&command.unwrap_or_default()).into_owned(),
            slug: one.slug.clone(),
            title: one.title.clone(),
            level: one.level,
            says: one.says.clone(),
            lost: one.lost,
            since: one.since,
        }
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "job": self.job, "uid": self.uid, "command": self.command, "rule": self.slug,
            "title": self.title, "level": self.level, "says": self.says,
            "lost_seconds": self.lost, "since_ns": self.since,
        })
    }
}

/// What one recipient was told, and what not yet.
#[derive(Debug)]
pub struct Alerts {
    /// At most so many a minute.
    most: usize,
    told: Told,
    /// When it was last tried to tell something.
    lately: Vec<u64>,
    /// What did not get through, by job and rule.
    failed: BTreeMap<String, BTreeMap<String, Failed>>,
}

/// A finding that did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Failed {
    tries: u32,
    at: u64,
}

impl Failed {
    /// Whether it is tried again now: each pause is three times the one before.
    fn is_due(self, now: u64) -> bool {
        let (first, longest) = PAUSES;
        let pause = first.saturating_mul(3_u64.saturating_pow(self.tries.saturating_sub(1)));
        // A clock that was set back makes nobody wait.
        let waited = now < self.at || now - self.at >= pause.min(longest);
        self.tries < TRIES && waited
    }
}

/// What becomes of a finding that did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is tried again, and this was the first time.
    First,
    /// It is tried again.
    Again,
    /// It was tried so many times, and is not any more.
    GivenUp(u32),
}

impl Alerts {
    /// At most so many a minute; what is beyond waits. What was told before is not told again, and counts for this minute.
    #[must_use]
    pub fn new(most: usize, told: Told) -> Alerts {
        let lately = told.times().collect();
        Alerts { most, told, lately, failed: BTreeMap::new() }
    }

    /// What was told.
    #[must_use]
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// Forgets jobs that have been gone for long.
    pub fn forget(&mut self, now: u64) {
        self.told.forget(now);
    }

    /// What is to be tried now: findings that matter, each rule once for each job; new ones before those that did not get
    /// through, and of these the oldest.
    pub fn next(&mut self, state: &State, now: u64) -> Option<Alert> {
        self.told.see(|job| state.jobs.contains_key(job), now);
        self.failed.retain(|job, _| state.jobs.contains_key(job));
        self.lately.retain(|&at| at <= now && now - at < MINUTE);
        if self.lately.len() >= self.most {
            return None;
        }
        let all = state.jobs.values();
        let all = all.flat_map(|job| job.diagnosis.standing().map(move |one| (job, one)));
        let due = all.filter(|(job, one)| one.level != "INFO" && self.is_due(job, one, now));
        let rank = |(job, one): &(&Job, &Standing)| {
            (self.tries(job, one), one.since, job.key.clone(), one.slug.clone())
        };
        let (job, one) = due.min_by_key(rank)?;
        self.lately.push(now);
        Some(Alert::new(job, one))
    }

    /// It got through; gives the line that says so.
    pub fn got_through(&mut self, alert: &Alert, now: u64) -> String {
        if let Some(rules) = self.failed.get_mut(&alert.job) {
            rules.remove(&alert.slug);
        }
        self.told.insert(&alert.job, &alert.slug, now)
    }

    /// It did not.
    pub fn did_not(&mut self, alert: &Alert, now: u64) -> Fate {
        let rules = self.failed.entry(alert.job.clone()).or_default();
        let failed = rules.entry(alert.slug.clone()).or_insert(Failed { tries: 0, at: now });
        *failed = Failed { tries: failed.tries.saturating_add(1), at: now };
        match failed.tries {
            TRIES.. => Fate::GivenUp(failed.tries),
            1 => Fate::First,
            _ => Fate::Again,
        }
    }

    fn failed(&self, job: &Job, one: &Standing) -> Option<&Failed> {
        self.failed.get(&job.key)?.get(&one.slug)
    }

    fn tries(&self, job: &Job, one: &Standing) -> u32 {
        self.failed(job, one).map_or(0, |failed| failed.tries)
    }

    fn is_due(&self, job: &Job, one: &Standing, now: u64) -> bool {
        let waits = self.failed(job, one).is_some_and(|failed| !failed.is_due(now));
        !waits && !self.told.contains(&job.key, &one.slug)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Job, Standing};
    use super::*;

    /// A job and its findings: rule, level, since when.
    fn job(key: &str, found: &[(&str, &'static str, u64)]) -> Job {
        let mut job = Job::new(key);
        let found = found.iter().map(|&(slug, level, since)| Standing {
            slug: slug.to_owned(),
            number: 0,
            title: String::new(),
            level,
            says: String::new(),
            lost: 1.0,
            since,
            changed: since,
            gone: None,
        });
        job.diagnosis.take(found, 5);
        job
    }

    fn state(jobs: Vec<Job>) -> State {
        let mut state = State::default();
        state.jobs.extend(jobs.into_iter().map(|job| (job.key.clone(), job)));
        state
    }

    /// Tells what is due at this moment, and everything gets through.
    fn tell(alerts: &mut Alerts, state: &State, now: u64) -> Vec<(String, String)> {
        let mut told = Vec::new();
        while let Some(alert) = alerts.next(state, now) {
            alerts.got_through(&alert, now);
            told.push((alert.job, alert.slug));
        }
        told
    }

    fn pair(job: &str, rule: &str) -> (String, String) {
        (job.to_owned(), rule.to_owned())
    }

    #[test]
    fn each_is_told_once_and_notes_never() {
        let mut alerts = Alerts::new(10, Told::default());
        let found = [("small-writes", "HIGH", 5), ("seek-storm", "INFO", 5)];
        let state = state(vec![job("slurm.7", &found)]);
        assert_eq!(tell(&mut alerts, &state, 1), [pair("slurm.7", "small-writes")]);
        assert!(tell(&mut alerts, &state, 2).is_empty());
    }

    #[test]
    fn two_findings_of_a_rule_are_told_once() {
        let mut alerts = Alerts::new(10, Told::default());
        let state = state(vec![job("a", &[("x", "HIGH", 5), ("x", "WARN", 5)])]);
        assert_eq!(tell(&mut alerts, &state, 1), [pair("a", "x")]);
    }

    #[test]
    fn what_is_beyond_the_limit_waits_a_minute_and_the_oldest_go_first() {
        let mut alerts = Alerts::new(1, Told::default());
        let (late, early) = (job("a", &[("x", "HIGH", 9)]), job("b", &[("x", "WARN", 8)]));
        let state = state(vec![late, early]);
        assert_eq!(tell(&mut alerts, &state, 0), [pair("b", "x")]);
        assert!(tell(&mut alerts, &state, MINUTE - 1).is_empty());
        assert_eq!(tell(&mut alerts, &state, MINUTE), [pair("a", "x")]);
        assert!(tell(&mut alerts, &state, 3 * MINUTE).is_empty());
    }

    #[test]
    fn a_restart_tells_nothing_twice_and_keeps_the_limit() {
        let mut alerts = Alerts::new(2, Told::default());
        let before = state(vec![job("a", &[("x", "HIGH", 1), ("y", "HIGH", 2)])]);
        assert_eq!(tell(&mut alerts, &before, 100).len(), 2);
        let kept = alerts.told().text();
        let mut alerts = Alerts::new(2, Told::read(kept.as_bytes(), 101).told);
        let after = state(vec![job("a", &[("x", "HIGH", 1), ("z", "HIGH", 2)])]);
        assert!(tell(&mut alerts, &after, 101).is_empty());
        assert_eq!(tell(&mut alerts, &after, 100 + MINUTE), [pair("a", "z")]);
    }

    #[test]
    fn a_clock_that_was_set_back_holds_nothing_back() {
        let mut alerts = Alerts::new(1, Told::default());
        let state = state(vec![job("a", &[("x", "HIGH", 1), ("y", "HIGH", 2)])]);
        assert_eq!(tell(&mut alerts, &state, 60 * MINUTE), [pair("a", "x")]);
        let alert = alerts.next(&state, 5).unwrap();
        alerts.did_not(&alert, 5);
        assert_eq!(alerts.next(&state, 4 + 2 * SECOND), None);
        assert_eq!(tell(&mut alerts, &state, 3), [pair("a", "y")]);
    }

    #[test]
    fn what_does_not_get_through_is_tried_again_with_growing_pauses_and_then_given_up() {
        let mut alerts = Alerts::new(10, Told::default());
        let state = state(vec![job("a", &[("x", "HIGH", 1)])]);
        let (mut now, mut pauses, mut fates) = (0, Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let begun = now;
            let alert = loop {
                match alerts.next(&state, now) {
                    Some(alert) => break alert,
                    None => now += SECOND,
                }
            };
            pauses.push((now - begun) / SECOND);
            fates.push(alerts.did_not(&alert, now));
        }
        assert_eq!(pauses, [0, 2, 6, 18, 54, 162, 486, 900, 900, 900]);
        assert_eq!((fates[0], fates[1]), (Fate::First, Fate::Again));
        assert_eq!(fates[9], Fate::GivenUp(10));
        assert_eq!(alerts.next(&state, now + 1000 * MINUTE), None);
        assert_eq!(alerts.told().count(), 0);
    }

    #[test]
    fn what_got_through_at_last_is_not_told_again_and_new_findings_go_first() {
        let mut alerts = Alerts::new(10, Told::default());
        let state = state(vec![job("a", &[("x", "HIGH", 1), ("y", "HIGH", 2)])]);
        let alert = alerts.next(&state, 0).unwrap();
        assert_eq!(alert.slug, "x");
        alerts.did_not(&alert, 0);
        assert_eq!(tell(&mut alerts, &state, 3 * SECOND), [pair("a", "y"), pair("a", "x")]);
        assert!(tell(&mut alerts, &state, 9 * MINUTE).is_empty());
    }

    #[test]
    fn tries_count_for_the_limit() {
        let mut alerts = Alerts::new(1, Told::default());
        let state = state(vec![job("a", &[("x", "HIGH", 1)])]);
        let alert = alerts.next(&state, 0).unwrap();
        alerts.did_not(&alert, 0);
        assert_eq!(alerts.next(&state, MINUTE - 1), None);
        assert_eq!(alerts.next(&state, MINUTE), Some(alert));
    }
}
