//! The rules. Each is one file named for its slug: its page (the module comment), its check and
//! its tests. A rule that does not apply is silent; one that applies and finds nothing wrong
//! says what it checked.

mod again;
mod cause;
mod finding;
mod jump;
mod overlap;
mod small;
mod together;

macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*
        /// Every rule, in no order that matters: findings are ranked by what they cost.
        pub const RULES: &[&Rule] = &[$(&$module::RULE),*];
    };
}

rules! {
    aggregators,
    blocking_reads,
    blocking_writes,
    byte_imbalance,
    call_mix,
    checkpoint_overwrite,
    common_blocks,
    conflicts,
    data_sieving,
    file_per_process,
    hdf5_collective_lost,
    independent_reads,
    independent_writes,
    many_phases,
    metadata_time,
    misaligned_file,
    misaligned_memory,
    narrow_stripe,
    no_mpiio,
    one_rank_heavy,
    open_storm,
    random_reads,
    random_writes,
    redundant_reads,
    redundant_writes,
    seek_storm,
    shared_stripes,
    slow_ost,
    slow_stream,
    small_reads,
    small_shared_reads,
    small_shared_writes,
    small_writes,
    stage_file,
    stalled_call,
    stdio_heavy,
    stdout_bulk,
    straggler,
    sync_storm,
    time_between_layers,
    time_imbalance,
    waits_in_open,
}

pub use cause::group;
pub use finding::{Advice, Audience, Confidence, Evidence, Finding, Gain, Level, Value};

use crate::{Facts, Thresholds};

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name, stable for ever: the file's name with dashes.
    pub slug: &'static str,
    /// What it looks for, in a few words.
    pub title: &'static str,
    /// Rules whose findings about the same files are symptoms of this one's.
    pub explains: &'static [&'static str],
    /// Looks at the facts.
    pub check: fn(&Facts, &Thresholds) -> Outcome,
}

/// What a rule has to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It does not apply to this job.
    Silent,
    /// It applies and nothing is wrong; says what was checked.
    Passed(String),
    /// What is wrong.
    Found(Vec<Finding>),
}

impl Outcome {
    /// Findings if there are any, else that the check passed.
    fn from(findings: Vec<Finding>, passed: impl FnOnce() -> String) -> Outcome {
        if findings.is_empty() { Outcome::Passed(passed()) } else { Outcome::Found(findings) }
    }
}

/// The rule with this slug.
#[must_use]
pub fn rule(slug: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.slug == slug)
}

/// A share as people read it: `12 %`, `0.3 %`, `99.7 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if v <= 0.0 => "0 %".into(),
        v if v < 0.1 => "below 0.1 %".into(),
        v if (10.0..=99.0).contains(&v) => format!("{v:.0} %"),
        v if v >= 99.95 => "100 %".into(),
        v => format!("{v:.1} %"),
    }
}

/// A number with separators between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A few names, and how many more there are.
pub(crate) fn names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", count(rest.len() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::{RULES, count, names, percent, rule};
    use std::collections::BTreeSet;

    #[test]
    fn slugs_are_unique_and_explain_rules_that_exist() {
        let slugs: BTreeSet<&str> = RULES.iter().map(|rule| rule.slug).collect();
        assert_eq!(slugs.len(), RULES.len());
        for one in RULES {
            assert!(
                one.slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            );
            for other in one.explains {
                assert!(rule(other).is_some(), "{} explains {other}", one.slug);
            }
        }
    }

    #[test]
    fn people_read_numbers() {
        assert_eq!(percent(0.99806), "99.8 %");
        assert_eq!(percent(0.0004), "below 0.1 %");
        assert_eq!(percent(0.426), "43 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(count(1_114_112), "1,114,112");
        assert_eq!(count(999), "999");
        assert_eq!(names(&["a", "b", "c", "d"]), "a, b and 2 more");
    }
}
