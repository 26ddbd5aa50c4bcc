//! The rules. Each is one file named for its slug: its page (the module comment), its check and
//! its tests. A rule that does not apply is silent; one that applies and finds nothing wrong
//! says what it checked.

mod again;
mod cause;
mod custom;
mod finding;
mod jump;
mod line;
mod overlap;
mod query;
mod small;
mod together;

pub mod aggregators;
pub mod attribute_churn;
pub mod awaited_rank;
pub mod blocking_reads;
pub mod blocking_writes;
pub mod byte_imbalance;
pub mod call_mix;
pub mod checkpoint_overwrite;
pub mod common_blocks;
pub mod conflicts;
pub mod data_sieving;
pub mod failed_calls;
pub mod file_per_process;
pub mod hdf5_collective_lost;
pub mod independent_reads;
pub mod independent_writes;
pub mod many_phases;
pub mod metadata_time;
pub mod misaligned_file;
pub mod misaligned_memory;
pub mod narrow_stripe;
pub mod no_mpiio;
pub mod one_rank_heavy;
pub mod open_storm;
pub mod ost_imbalance;
pub mod ost_parallelism;
pub mod phase_stragglers;
pub mod random_reads;
pub mod random_writes;
pub mod redundant_reads;
pub mod redundant_writes;
pub mod seek_storm;
pub mod shared_stripes;
pub mod slow_ost;
pub mod slow_stream;
pub mod small_reads;
pub mod small_shared_reads;
pub mod small_shared_writes;
pub mod small_writes;
pub mod stage_file;
pub mod stalled_call;
pub mod stat_storm;
pub mod stdio_heavy;
pub mod stdout_bulk;
pub mod straggler;
pub mod stripe_mismatch;
pub mod sync_storm;
pub mod time_between_layers;
pub mod time_imbalance;
pub mod tiny_stream_calls;
pub mod unclosed_files;
pub mod waits_in_open;

/// Every rule, in no order that matters: findings are ranked by what they cost.
pub const RULES: &[&Rule] = &[
    &aggregators::RULE,
    &attribute_churn::RULE,
    &awaited_rank::RULE,
    &blocking_reads::RULE,
    &blocking_writes::RULE,
    &byte_imbalance::RULE,
    &call_mix::RULE,
    &checkpoint_overwrite::RULE,
    &common_blocks::RULE,
    &conflicts::RULE,
    &data_sieving::RULE,
    &failed_calls::RULE,
    &file_per_process::RULE,
    &hdf5_collective_lost::RULE,
    &independent_reads::RULE,
    &independent_writes::RULE,
    &many_phases::RULE,
    &metadata_time::RULE,
    &misaligned_file::RULE,
    &misaligned_memory::RULE,
    &narrow_stripe::RULE,
    &no_mpiio::RULE,
    &one_rank_heavy::RULE,
    &open_storm::RULE,
    &ost_imbalance::RULE,
    &ost_parallelism::RULE,
    &phase_stragglers::RULE,
    &random_reads::RULE,
    &random_writes::RULE,
    &redundant_reads::RULE,
    &redundant_writes::RULE,
    &seek_storm::RULE,
    &shared_stripes::RULE,
    &slow_ost::RULE,
    &slow_stream::RULE,
    &small_reads::RULE,
    &small_shared_reads::RULE,
    &small_shared_writes::RULE,
    &small_writes::RULE,
    &stage_file::RULE,
    &stalled_call::RULE,
    &stat_storm::RULE,
    &stdio_heavy::RULE,
    &stdout_bulk::RULE,
    &straggler::RULE,
    &stripe_mismatch::RULE,
    &sync_storm::RULE,
    &time_between_layers::RULE,
    &time_imbalance::RULE,
    &tiny_stream_calls::RULE,
    &unclosed_files::RULE,
    &waits_in_open::RULE,
];

pub use cause::group;
pub use custom::{Custom, Draft, Fault, NAMES};
pub use finding::{Advice, Audience, Confidence, Evidence, Finding, Gain, Level, Line, Value};
pub(crate) use line::lines;
pub(crate) use query::queries;
pub use query::{Files, Query, Source};

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
    /// Where its numbers come from.
    pub sources: &'static [Source],
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

/// A number of things: `1 file`, `2,048 files`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
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
    use super::{RULES, count, counted, names, percent, rule};
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_a_rule_is_asked() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/insight");
        for entry in std::fs::read_dir(folder).expect("this folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_none_or(|end| end != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            if !text.contains("\npub const RULE: Rule") {
                continue;
            }
            let slug = path.file_stem().expect("a name").to_string_lossy().replace('_', "-");
            assert!(
                RULES.iter().any(|rule| rule.slug == slug),
                "{slug} needs a row in RULES (docs/adding-a-rule.md)"
            );
        }
    }

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
    fn every_file_with_a_rule_is_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/insight");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .filter(|path| {
                std::fs::read_to_string(path).unwrap().contains("\npub const RULE: Rule")
            })
            .map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-"))
            .collect();
        files.sort();
        let slugs: Vec<&str> = RULES.iter().map(|rule| rule.slug).collect();
        assert_eq!(files, slugs);
    }

    #[test]
    fn people_read_numbers() {
        assert_eq!(percent(0.99806), "99.8 %");
        assert_eq!(percent(0.0004), "below 0.1 %");
        assert_eq!(percent(0.426), "43 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(count(1_114_112), "1,114,112");
        assert_eq!(count(999), "999");
        assert_eq!(
            (counted(1, "file"), counted(2048, "file")),
            ("1 file".into(), "2,048 files".into())
        );
        assert_eq!(names(&["a", "b", "c", "d"]), "a, b and 2 more");
    }
}
