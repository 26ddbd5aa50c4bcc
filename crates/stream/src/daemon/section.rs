//! A table of the daemon's file, read key by key. Every problem is noted, none ends the reading; what
//! nobody asked for at the end is unknown.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use toml::{Table, Value};

/// A table that is being read.
#[derive(Debug)]
pub struct Section<'a> {
    name: String,
    table: Table,
    problems: &'a mut Vec<String>,
}

impl<'a> Section<'a> {
    /// Begins to read.
    pub fn new(name: &str, table: Table, problems: &'a mut Vec<String>) -> Section<'a> {
        Section { name: name.to_owned(), table, problems }
    }

    /// Notes a problem with a key.
    pub fn complain(&mut self, key: &str, what: impl std::fmt::Display) {
        let place = if self.name.is_empty() { String::new() } else { format!("[{}] ", self.name) };
        self.problems.push(format!("{place}{key}: {what}"));
    }

    /// A text.
    pub fn text(&mut self, key: &str) -> Option<String> {
        match self.table.remove(key)? {
            Value::String(text) => Some(text),
            _ => {
                self.complain(key, "a text in quotes belongs here");
                None
            }
        }
    }

    /// A text that must be there.
    pub fn needed(&mut self, key: &str) -> String {
        if !self.table.contains_key(key) {
            self.complain(key, "is missing");
        }
        self.text(key).unwrap_or_default()
    }

    /// One of a few words.
    pub fn parsed<T, E: std::fmt::Display>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(key)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.complain(key, error);
                None
            }
        }
    }

    /// `true` or `false`.
    pub fn switch(&mut self, key: &str, default: bool) -> bool {
        match self.table.remove(key) {
            None => default,
            Some(Value::Boolean(value)) => value,
            Some(_) => {
                self.complain(key, "true or false belongs here");
                default
            }
        }
    }

    /// A size with its unit, `64MiB`.
    pub fn size(&mut self, key: &str, default: u64) -> u64 {
        self.parsed(key, size).unwrap_or(default)
    }

    /// A duration with its unit, `250ms`.
    pub fn duration(&mut self, key: &str, default: Duration) -> Duration {
        self.parsed(key, duration).unwrap_or(default)
    }

    /// An absolute path.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.parsed(key, |text| match text.starts_with('/') {
            true => Ok(PathBuf::from(text)),
            false => Err(format!("{text}: the path must be absolute")),
        })
    }

    /// Texts.
    pub fn list(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.table.remove(key) else { return Vec::new() };
        let texts = match value {
            Value::Array(values) => values
                .into_iter()
                .map(|value| match value {
                    Value::String(text) => Some(text),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.complain(key, "a list of texts belongs here");
            Vec::new()
        })
    }

    /// A table inside.
    pub fn inner(&mut self, key: &str) -> Option<Table> {
        match self.table.remove(key)? {
            Value::Table(table) => Some(table),
            _ => {
                self.complain(key, "a table belongs here");
                None
            }
        }
    }

    /// Tables inside, `[[key]]`.
    pub fn several(&mut self, key: &str) -> Vec<Table> {
        let Some(value) = self.table.remove(key) else { return Vec::new() };
        let tables = match value {
            Value::Array(values) => values
                .into_iter()
                .map(|value| match value {
                    Value::Table(table) => Some(table),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        tables.unwrap_or_else(|| {
            self.complain(key, "tables belong here, each under [[…]]");
            Vec::new()
        })
    }

    /// A table of texts, each of which is read; their keys are whatever they are.
    pub fn each<T>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> BTreeMap<String, T> {
        let mut read = BTreeMap::new();
        for (name, value) in self.inner(key).unwrap_or_default() {
            let parsed = match value {
                Value::String(text) => parse(&text),
                _ => Err("a text in quotes belongs here".to_owned()),
            };
            match parsed {
                Ok(value) => {
                    read.insert(name, value);
                }
                Err(error) => self.complain(key, format!("{name}: {error}")),
            }
        }
        read
    }

    /// The problems found so far, for a section inside this one.
    pub fn problems(&mut self) -> &mut Vec<String> {
        self.problems
    }

    /// Everything was asked for that is known.
    pub fn end(mut self) {
        let unknown: Vec<String> = self.table.keys().cloned().collect();
        for key in unknown {
            self.complain(&key, "no such key");
        }
    }
}

/// A size with its unit.
///
/// # Errors
/// It is none.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size such as 64MiB");
    let (number, unit) = split(text);
    let factor = match unit {
        "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(wrong)
}

/// A duration with its unit.
///
/// # Errors
/// It is none.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration such as 250ms");
    let (number, unit) = split(text);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let milliseconds = match unit {
        "ms" => Some(number),
        "s" => number.checked_mul(1000),
        "min" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        "d" => number.checked_mul(86_400_000),
        _ => None,
    };
    milliseconds.map(Duration::from_millis).ok_or_else(wrong)
}

fn split(text: &str) -> (&str, &str) {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_need_units() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2 min"), Ok(Duration::from_secs(120)));
        for wrong in ["64", "MiB", "-1MiB", "", "99999999999TiB"] {
            assert!(size(wrong).is_err() && duration(wrong).is_err(), "{wrong}");
        }
    }
}
