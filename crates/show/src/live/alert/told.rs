//! What somebody was told: which rules of which jobs. It has a bound, and forgets jobs that have not been there for a
//! week. As text it is a line of JSON each, so that a new one is added behind the others; nothing here opens a file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Findings that are remembered; beyond that go those whose jobs have not been there for longest.
const MOST: usize = 20_000;
/// How long a job that is gone is remembered, in nanoseconds: a week.
const KEPT: u64 = 7 * 86_400_000_000_000;
/// What the text begins with.
const HEAD: &str = r#"{"format":"netra alerts","version":1}"#;

/// What was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    jobs: BTreeMap<String, Known>,
}

/// A job of which something was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    /// When it was last there, nanoseconds since 1970.
    seen: u64,
    /// When its rules were told.
    rules: BTreeMap<String, u64>,
}

/// What a text held.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// What could be read.
    pub told: Told,
    /// Lines behind the head.
    pub lines: usize,
    /// What is wrong with the text. An end that was cut off is not: that is a line whose writer was killed.
    pub flaw: Option<String>,
}

impl Told {
    /// How many findings.
    #[must_use]
    pub fn count(&self) -> usize {
        self.jobs.values().map(|job| job.rules.len()).sum()
    }

    /// Whether this was told.
    #[must_use]
    pub fn contains(&self, job: &str, rule: &str) -> bool {
        self.jobs.get(job).is_some_and(|job| job.rules.contains_key(rule))
    }

    /// It was told now; gives its line.
    pub fn insert(&mut self, job: &str, rule: &str, now: u64) -> String {
        self.add(job, rule, (now, now));
        self.bound(MOST);
        line(job, rule, (now, now))
    }

    /// Jobs that are there now; a clock that was set back does not make them older.
    pub fn see(&mut self, is_there: impl Fn(&str) -> bool, now: u64) {
        for (_, job) in self.jobs.iter_mut().filter(|(key, _)| is_there(key)) {
            job.seen = now;
        }
    }

    /// Forgets jobs that have been gone for a week.
    pub fn forget(&mut self, now: u64) {
        self.jobs.retain(|_, job| now.saturating_sub(job.seen) < KEPT);
    }

    /// When everything was told.
    pub fn times(&self) -> impl Iterator<Item = u64> {
        self.jobs.values().flat_map(|job| job.rules.values().copied())
    }

    /// All of it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (key, job) in &self.jobs {
            for (rule, &told) in &job.rules {
                text.push_str(&line(key, rule, (told, job.seen)));
            }
        }
        text
    }

    /// Reads a text, as much of it as can be read. Times that are still to come are taken as now: the clock that gave them
    /// was wrong.
    #[must_use]
    pub fn read(bytes: &[u8], now: u64) -> Recalled {
        let mut recalled = Recalled::default();
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        let whole = bytes.get(..whole).unwrap_or_default();
        for (number, bytes) in (1..).zip(whole.split(|&byte| byte == b'\n')) {
            if number == 1 && (bytes == HEAD.as_bytes() || whole.is_empty()) {
                continue;
            }
            recalled.lines += 1;
            match entry(bytes) {
                Some((job, rule, told, seen)) => {
                    recalled.told.add(&job, &rule, (told.min(now), seen.min(now)));
                }
                None => {
                    let flaw = || format!("line {number} is not what netra writes there");
                    recalled.flaw.get_or_insert_with(flaw);
                }
            }
        }
        recalled.told.forget(now);
        recalled.told.bound(MOST);
        recalled
    }

    fn add(&mut self, job: &str, rule: &str, (told, seen): (u64, u64)) {
        let known = self.jobs.entry(job.to_owned()).or_default();
        known.seen = known.seen.max(seen);
        known.rules.insert(rule.to_owned(), told);
    }

    /// Those who have not been there for longest go, whatever they are called.
    fn bound(&mut self, most: usize) {
        let mut over = self.count().saturating_sub(most);
        if over == 0 {
            return;
        }
        let age = |(key, job): (&String, &Known)| {
            (job.seen, job.rules.values().max().copied(), key.clone())
        };
        let mut oldest: Vec<_> = self.jobs.iter().map(age).collect();
        oldest.sort_unstable();
        for (_, _, key) in oldest {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(self.jobs.remove(&key).map_or(0, |job| job.rules.len()));
        }
    }
}

fn line(job: &str, rule: &str, (told, seen): (u64, u64)) -> String {
    format!("{}\n", json!({ "told_ns": told, "seen_ns": seen, "job": job, "rule": rule }))
}

fn entry(bytes: &[u8]) -> Option<(String, String, u64, u64)> {
    let line: Value = serde_json::from_slice(bytes).ok()?;
    let text = |name: &str| line.get(name)?.as_str().map(str::to_owned);
    let number = |name: &str| line.get(name)?.as_u64();
    Some((text("job")?, text("rule")?, number("told_ns")?, number("seen_ns")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(entries: &[(&str, &str, u64)]) -> Told {
        let mut told = Told::default();
        for &(job, rule, at) in entries {
            told.insert(job, rule, at);
        }
        told
    }

    #[test]
    fn a_text_is_read_as_it_was_written_whatever_jobs_are_called() {
        let odd = "slurm.7\n\"α\" \u{0}";
        let mut all = told(&[(odd, "small-writes", 5), (odd, "seek-storm", 6), ("a", "b", 7)]);
        all.see(|job| job == "a", 9);
        let recalled = Told::read(all.text().as_bytes(), 10);
        assert_eq!(recalled, Recalled { told: all, lines: 3, flaw: None });
    }

    #[test]
    fn lines_that_were_added_one_by_one_are_the_whole_text() {
        let mut all = told(&[("a", "x", 1)]);
        let mut text = all.text();
        text.push_str(&all.insert("b", "y", 2));
        assert_eq!(Told::read(text.as_bytes(), 3).told, all);
        assert_eq!(text, all.text());
    }

    #[test]
    fn an_end_that_was_cut_off_is_left_out_without_a_word() {
        let text = told(&[("a", "x", 1), ("b", "y", 2)]).text();
        let cut_within_the_last = text.len() - HEAD.len()..text.len();
        for end in cut_within_the_last {
            let recalled = Told::read(&text.as_bytes()[..end], 3);
            assert_eq!((recalled.told, recalled.flaw), (told(&[("a", "x", 1)]), None), "{end}");
        }
        for nothing in [&b""[..], b"{\"for", b"\0\0\0"] {
            assert_eq!(Told::read(nothing, 3), Recalled::default());
        }
        let mut zeros = text.clone().into_bytes();
        zeros.extend([0; 100]);
        assert_eq!(Told::read(&zeros, 3).flaw, None);
    }

    #[test]
    fn damage_is_named_by_its_line_and_the_rest_is_read() {
        let all = told(&[("a", "x", 1), ("b", "y", 2), ("c", "z", 3)]);
        let text = all.text().replace("\"b\"", "\u{0}b\u{0}");
        let recalled = Told::read(text.as_bytes(), 4);
        assert_eq!(recalled.told, told(&[("a", "x", 1), ("c", "z", 3)]));
        assert_eq!(recalled.flaw.unwrap(), "line 3 is not what netra writes there");
        let other = Told::read(b"something else\n\xff\n", 4);
        assert_eq!(other.told, Told::default());
        assert_eq!(other.flaw.unwrap(), "line 1 is not what netra writes there");
    }

    #[test]
    fn a_job_is_forgotten_when_it_has_been_gone_for_a_week_and_not_while_it_is_there() {
        let mut all = told(&[("gone", "x", 0), ("runs", "x", 0)]);
        all.see(|job| job == "runs", 10);
        all.forget(KEPT);
        assert!(!all.contains("gone", "x") && all.contains("runs", "x"));
        let text = all.text();
        assert_eq!(Told::read(text.as_bytes(), KEPT + 9).told.count(), 1);
        assert_eq!(Told::read(text.as_bytes(), KEPT + 10).told.count(), 0);
    }

    #[test]
    fn a_time_that_is_still_to_come_is_now() {
        let text = told(&[("a", "x", 1_000)]).text();
        let recalled = Told::read(text.as_bytes(), 7).told;
        assert_eq!(recalled, told(&[("a", "x", 7)]));
    }

    #[test]
    fn where_there_are_too_many_the_oldest_go_and_not_the_first_in_the_alphabet() {
        let mut all = told(&[("z", "x", 1), ("a", "x", 2), ("m", "x", 3), ("m", "y", 3)]);
        all.bound(3);
        assert!(!all.contains("z", "x") && all.contains("a", "x"));
        // An old one that is still there stays.
        all.see(|job| job == "a", 4);
        all.bound(1);
        assert!(all.contains("a", "x") && all.count() == 1);
    }
}
