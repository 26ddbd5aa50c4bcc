//! What was seen of a run, by topic, and how one run is compared with several others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{calls, pattern::Pattern, state};

/// A topic's lines. The first word of a topic is its kind, which says how it is compared.
pub(crate) type Sheet = BTreeMap<String, Vec<String>>;

/// Runs without netra.
#[derive(Debug, Default)]
pub(crate) struct Known {
    sheets: Vec<Sheet>,
}

/// Something that was otherwise under netra.
#[derive(Debug)]
pub(crate) struct Difference {
    /// What it is about.
    pub(crate) topic: String,
    /// What is otherwise.
    pub(crate) what: String,
}

impl Known {
    /// One more run without netra.
    pub(crate) fn add(&mut self, sheet: Sheet) {
        self.sheets.push(sheet);
    }

    /// How many there were.
    pub(crate) fn runs(&self) -> usize {
        self.sheets.len()
    }

    /// What each run had, by topic; a topic that not all runs have is not among them.
    pub(crate) fn topics(&self) -> impl Iterator<Item = (&String, Vec<&[String]>)> {
        let first = self.sheets.iter().take(1).flatten();
        first.filter_map(|(topic, _)| {
            let all = self.sheets.iter().map(|sheet| sheet.get(topic).map(Vec::as_slice));
            Some((topic, all.collect::<Option<Vec<_>>>()?))
        })
    }

    /// Kinds of topics that come and go without netra.
    fn comes_and_goes(&self, topic: &str) -> bool {
        let kind = kind(topic);
        let mine = |sheet: &Sheet| -> BTreeSet<String> {
            sheet.keys().filter(|topic| self::kind(topic) == kind).cloned().collect()
        };
        let sets: BTreeSet<_> = self.sheets.iter().map(mine).collect();
        sets.len() > 1
    }

    /// How a run under netra differs.
    pub(crate) fn differences(&self, sheet: &Sheet) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut add = |topic: &String, what| found.push(Difference { topic: topic.clone(), what });
        for (topic, runs) in self.topics() {
            match sheet.get(topic) {
                None => add(topic, "is not there".to_owned()),
                Some(lines) => {
                    if let Some(what) = difference(topic, &runs, lines) {
                        add(topic, what);
                    }
                }
            }
        }
        let known = |topic: &&String| self.sheets.iter().any(|sheet| sheet.contains_key(*topic));
        for topic in sheet.keys().filter(|topic| !known(topic)) {
            if !self.comes_and_goes(topic) {
                add(topic, "is there, without it not".to_owned());
            }
        }
        found
    }

    /// Writes all runs of a topic into a folder, to be compared by a person: `with` and `bare0`, `bare1`.
    pub(crate) fn write(&self, sheet: &Sheet, topic: &str, folder: &Path) -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let text =
            |sheet: &Sheet| sheet.get(topic).map(|lines| lines.join("\n")).unwrap_or_default();
        for (number, bare) in self.sheets.iter().enumerate() {
            fs::write(folder.join(format!("bare{number}")), text(bare))?;
        }
        fs::write(folder.join("with"), text(sheet))
    }

    /// What is not, or not wholly, compared because it is otherwise each time.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let mut said = BTreeMap::new();
        for (topic, runs) in self.topics() {
            let why = match kind(topic) {
                "calls" => calls::left_out(&runs),
                "resources" => None,
                _ => Pattern::learn(runs).left_out(),
            };
            if let Some(why) = why {
                said.insert(topic.clone(), format!("{topic}: {why}"));
            }
        }
        let all: BTreeSet<&String> = self.sheets.iter().flat_map(Sheet::keys).collect();
        for topic in all {
            if !self.sheets.iter().all(|sheet| sheet.contains_key(topic)) {
                said.insert(topic.clone(), format!("{topic}: not in every run"));
            }
        }
        said.into_values().collect()
    }
}

fn difference(topic: &str, runs: &[&[String]], lines: &[String]) -> Option<String> {
    match kind(topic) {
        // Which of several threads takes a piece of work is another one each time.
        "calls" if topic.contains('t') && calls::left_out(runs).is_some() => None,
        "calls" => calls::difference(runs, lines),
        "resources" => state::excess(runs, lines),
        _ => Pattern::learn(runs.iter().copied()).difference(lines),
    }
}

fn kind(topic: &str) -> &str {
    topic.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(rows: &[(&str, &str)]) -> Sheet {
        let row = |&(topic, text): &(&str, &str)| {
            (topic.to_owned(), text.lines().map(str::to_owned).collect())
        };
        rows.iter().map(row).collect()
    }

    fn known(sheets: &[Sheet]) -> Known {
        Known { sheets: sheets.to_vec() }
    }

    #[test]
    fn a_topic_of_all_runs_must_be_there_and_no_other() {
        let known = known(&vec![sheet(&[("stdout", "a"), ("file x", "b")]); 2]);
        assert!(known.differences(&sheet(&[("stdout", "a"), ("file x", "b")])).is_empty());
        let found = known.differences(&sheet(&[("stdout", "a"), ("file y", "b")]));
        let found: Vec<_> = found.iter().map(|one| format!("{} {}", one.topic, one.what)).collect();
        assert_eq!(found, ["file x is not there", "file y is there, without it not"]);
    }

    #[test]
    fn a_kind_that_comes_and_goes_may_do_so_under_netra() {
        let known = known(&[sheet(&[("file x1", "b")]), sheet(&[("file x2", "b")])]);
        assert!(known.differences(&sheet(&[("file x3", "b")])).is_empty());
        assert_eq!(known.left_out().len(), 2);
    }
}
