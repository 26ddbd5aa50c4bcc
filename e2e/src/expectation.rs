//! What programs say they did, against what a log says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::log::{Counters, Log, Origin};

/// Counters that must be 0 when a program does not mention them. Timestamps, sizes of the
/// histogram and the like follow from these and are checked where a program states them.
const ZERO_UNLESS_SAID: &[&str] = &[
    "POSIX_OPENS",
    "POSIX_FILENOS",
    "POSIX_DUPS",
    "POSIX_READS",
    "POSIX_WRITES",
    "POSIX_SEEKS",
    "POSIX_STATS",
    "POSIX_FSYNCS",
    "POSIX_FDSYNCS",
    "POSIX_RENAME_SOURCES",
    "POSIX_RENAME_TARGETS",
    "POSIX_BYTES_READ",
    "POSIX_BYTES_WRITTEN",
    "STDIO_OPENS",
    "STDIO_FDOPENS",
    "STDIO_READS",
    "STDIO_WRITES",
    "STDIO_SEEKS",
    "STDIO_FLUSHES",
    "STDIO_BYTES_READ",
    "STDIO_BYTES_WRITTEN",
];

/// A program's `ANY`: the counter is there, its value depends on chance.
const ANY: i64 = -1;

/// Not a file: how often functions were called.
const CALLS: &str = "<calls>";
/// What stands there for calls that were left out because they came from inside the tool.
const INSIDE: &str = "<inside>";
/// What stands there for the lines in which the tool says what it could not see.
const NOTES: &str = "<notes>";

/// What one process image said it did: file, then counter, then value.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    files: BTreeMap<String, BTreeMap<String, i64>>,
}

impl Expectation {
    /// All that the processes of a run said, by process.
    pub fn read_all(folder: &Path) -> Result<BTreeMap<Origin, Expectation>> {
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path)?;
            let mut parts = name.splitn(3, '.').skip(1);
            let pid = parts.next().and_then(|pid| pid.parse().ok());
            let pid = pid.with_context(|| format!("{name} is not expect.<pid>.<program>"))?;
            let executable = parts.next().unwrap_or_default().to_owned();
            all.insert(Origin { pid, executable }, Expectation::parse(&text)?);
        }
        Ok(all)
    }

    /// Lines of `file counter value`; values of one counter add up.
    pub fn parse(text: &str) -> Result<Expectation> {
        let mut files: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.rsplitn(3, ' ');
            let value = words.next().and_then(|word| word.parse::<i64>().ok());
            let (Some(value), Some(counter), Some(file)) = (value, words.next(), words.next())
            else {
                anyhow::bail!("not `file counter value`: {line}");
            };
            *files.entry(file.into()).or_default().entry(counter.into()).or_default() += value;
        }
        Ok(Expectation { files })
    }

    /// How the log differs from what was said: values, and records nobody spoke of.
    #[must_use]
    pub fn differences(&self, log: &Log, work: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for module in ["POSIX", "STDIO", "RANDOM"] {
            let mut names: BTreeSet<String> =
                log.records(module).filter_map(|(name, _)| shorten(name, work)).collect();
            names.extend(self.files.keys().cloned());
            for name in names.into_iter().filter(|name| name != CALLS) {
                let said = self.files.get(&name).cloned().unwrap_or_default();
                let empty = Counters::default();
                let logged = log.record(module, &lengthen(&name, work)).unwrap_or(&empty);
                compare(module, &name, &said, logged, &mut found);
            }
        }
        found.extend(self.calls_differences(log));
        found
    }

    /// Call counts of functions, for those that were stated.
    fn calls_differences(&self, log: &Log) -> Vec<String> {
        let Some(said) = self.files.get(CALLS) else { return Vec::new() };
        let mut calls = log.calls();
        calls.insert(INSIDE, log.reentrant());
        calls.insert(NOTES, log.notes().len().try_into().unwrap_or(i64::MAX));
        let wrong = said.iter().filter_map(|(function, want)| {
            let got = calls.get(function.as_str()).copied().unwrap_or(0);
            (got != *want).then(|| format!("{function} was counted {got} times, called {want}"))
        });
        wrong.collect()
    }

    /// The number of values stated.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.values().map(BTreeMap::len).sum()
    }
}

/// Adds a line for every counter of one record that is not as said.
pub fn compare(
    module: &str,
    name: &str,
    said: &BTreeMap<String, i64>,
    logged: &Counters,
    found: &mut Vec<String>,
) {
    let prefix = format!("{module}_");
    let silent = ZERO_UNLESS_SAID.iter().filter(|counter| counter.starts_with(&prefix));
    let mut wanted: BTreeMap<&str, i64> = silent.map(|counter| (*counter, 0)).collect();
    let stated = said.iter().filter(|(counter, _)| counter.starts_with(&prefix));
    wanted.extend(stated.map(|(counter, value)| (counter.as_str(), *value)));
    for (counter, want) in wanted {
        let got = logged.get(counter);
        if want != ANY && got != want {
            found.push(format!("{name}: {counter} is {got}, the program did {want}"));
        }
    }
}

/// A record's path as programs name it; streams keep theirs, files outside are not of interest.
fn shorten(name: &str, work: &Path) -> Option<String> {
    let below = Path::new(name).strip_prefix(work).ok()?;
    Some(below.display().to_string())
}

fn lengthen(name: &str, work: &Path) -> String {
    if name.starts_with('<') { name.to_owned() } else { work.join(name).display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(said: &str, log: Log) -> Vec<String> {
        Expectation::parse(said).unwrap().differences(&log, Path::new("/w"))
    }

    #[test]
    fn exact_values_pass_and_add_up() {
        let log = Log::of("POSIX", "/w/a", &[("POSIX_WRITES", 5), ("POSIX_BYTES_WRITTEN", 50)]);
        let said = "a POSIX_WRITES 2\na POSIX_WRITES 3\na POSIX_BYTES_WRITTEN 50\n";
        assert_eq!(differences(said, log), Vec::<String>::new());
    }

    #[test]
    fn more_than_said_is_a_difference() {
        let log = Log::of("POSIX", "/w/a", &[("POSIX_WRITES", 6)]);
        assert_eq!(
            differences("a POSIX_WRITES 5\n", log),
            ["a: POSIX_WRITES is 6, the program did 5"]
        );
    }

    #[test]
    fn a_counter_nobody_spoke_of_is_a_difference() {
        let log = Log::of("POSIX", "/w/a", &[("POSIX_STATS", 1)]);
        assert_eq!(differences("", log), ["a: POSIX_STATS is 1, the program did 0"]);
    }

    #[test]
    fn a_missing_record_is_a_difference() {
        let log = Log::of("POSIX", "/elsewhere/a", &[("POSIX_OPENS", 1)]);
        assert_eq!(
            differences("a POSIX_OPENS 1\n", log),
            ["a: POSIX_OPENS is 0, the program did 1"]
        );
    }

    #[test]
    fn any_is_not_compared() {
        let log = Log::of("POSIX", "/w/a", &[("POSIX_WRITES", 6)]);
        assert_eq!(differences("a POSIX_WRITES -1\n", log), Vec::<String>::new());
    }
}
