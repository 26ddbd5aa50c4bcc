//! Findings that somebody wants to be told of: each once for a job, and not too many at a time.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::State;

/// Findings that are remembered as told; beyond that the oldest keys go, and might be told again.
const REMEMBERED: usize = 100_000;
const MINUTE: u64 = 60_000_000_000;

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

/// Who was told what.
#[derive(Debug)]
pub struct Alerts {
    /// At most so many a minute.
    most: usize,
    told: BTreeSet<(String, String)>,
    /// When the last ones were told.
    lately: Vec<u64>,
}

impl Alerts {
    /// At most so many a minute; what is beyond waits.
    #[must_use]
    pub fn new(most: usize) -> Alerts {
        Alerts { most, told: BTreeSet::new(), lately: Vec::new() }
    }

    /// What is to be told now: findings that matter, each rule once for each job.
    pub fn due(&mut self, state: &State, now: u64) -> Vec<Alert> {
        self.lately.retain(|&at| now.saturating_sub(at) < MINUTE);
        let mut due = Vec::new();
        for job in state.jobs.values() {
            for one in job.diagnosis.standing().filter(|one| one.level != "INFO") {
                let key = (job.key.clone(), one.slug.clone());
                if self.told.contains(&key) || self.lately.len() >= self.most {
                    continue;
                }
                if self.told.len() >= REMEMBERED {
                    self.told.pop_first();
                }
                self.told.insert(key);
                self.lately.push(now);
                let command = job.first().map(|first| first.about.command.clone());
                due.push(Alert {
                    job: job.key.clone(),
                    uid: job.uid(),
                    command: String::from_utf8_lossy(&command.unwrap_or_default()).into_owned(),
                    slug: one.slug.clone(),
                    title: one.title.clone(),
                    level: one.level,
                    says: one.says.clone(),
                    lost: one.lost,
                    since: one.since,
                });
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Job, Standing};
    use super::*;

    fn state(slugs: &[(&str, &'static str)]) -> State {
        let mut job = Job::new("slurm.7");
        let found = slugs.iter().map(|&(slug, level)| Standing {
            slug: slug.to_owned(),
            number: 0,
            title: String::new(),
            level,
            says: String::new(),
            lost: 1.0,
            since: 5,
            changed: 5,
            gone: None,
        });
        job.diagnosis.take(found, 5);
        let mut state = State::default();
        state.jobs.insert(job.key.clone(), job);
        state
    }

    #[test]
    fn each_is_told_once_and_notes_never() {
        let mut alerts = Alerts::new(10);
        let state = state(&[("small-writes", "HIGH"), ("seek-storm", "INFO")]);
        let slugs = |due: &[Alert]| due.iter().map(|one| one.slug.clone()).collect::<Vec<_>>();
        assert_eq!(slugs(&alerts.due(&state, 1)), ["small-writes"]);
        assert!(alerts.due(&state, 2).is_empty());
    }

    #[test]
    fn what_is_beyond_the_limit_waits_a_minute() {
        let mut alerts = Alerts::new(1);
        let state = state(&[("a", "HIGH"), ("b", "WARN")]);
        assert_eq!(alerts.due(&state, 0).len(), 1);
        assert_eq!(alerts.due(&state, MINUTE - 1).len(), 0);
        assert_eq!(alerts.due(&state, MINUTE).len(), 1);
        assert_eq!(alerts.due(&state, 3 * MINUTE).len(), 0);
    }
}
