//! A TOML file while it is read: values by their names, and what is wrong with its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Wrong;
use super::query::{self, Expression, Want};
use super::table::{TABLES, Table};

/// A file under reading.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    table: DeTable<'a>,
    /// Which part is read: empty, or the name of an inner table.
    inside: &'static str,
    used: Vec<String>,
    wrong: Vec<Wrong>,
}

impl<'a> Document<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Result<Document<'a>, Vec<Wrong>> {
        let (table, inside) = match DeTable::parse(text) {
            Ok(table) => (table.into_inner(), ""),
            Err(error) => {
                let line = line_of(text, error.span().map_or(0, |span| span.start));
                let says = error.message().replace('\n', ", ");
                return Err(vec![Wrong { file: file.to_owned(), line, says }]);
            }
        };
        Ok(Document { file, text, table, inside, used: Vec::new(), wrong: Vec::new() })
    }

    /// Everything that was wrong, and every name that nobody asked for.
    pub(super) fn finish(mut self) -> Result<(), Vec<Wrong>> {
        let unknown: Vec<(usize, String)> = self
            .table
            .keys()
            .filter(|key| !self.used.iter().any(|used| used == key.as_ref()))
            .map(|key| (key.span().start, key.as_ref().to_string()))
            .collect();
        // A missing value makes later ones unread; those are not wrong.
        if self.wrong.is_empty() {
            for (at, key) in unknown {
                self.complain(at, format!("`{key}` is not known here"));
            }
        }
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong) }
    }

    pub(super) fn complain(&mut self, at: usize, says: String) {
        let line = line_of(self.text, at);
        self.wrong.push(Wrong { file: self.file.to_owned(), line, says });
    }

    /// Says what is wrong with the whole file, unless a line was wrong already.
    pub(super) fn complain_once(&mut self, says: &str) {
        if self.wrong.is_empty() {
            self.complain(0, says.to_owned());
        }
    }

    /// A value and where it stands.
    fn get(&mut self, name: &str) -> Option<Spanned<DeValue<'a>>> {
        self.used.push(name.to_owned());
        let found = self.table.iter().find(|(key, _)| key.as_ref().as_ref() == name)?;
        Some(found.1.clone())
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let found = self.optional_text(name);
        if found.is_none() && self.wrong.is_empty() {
            let says = match self.inside {
                "" => format!("`{name}` is missing"),
                inside => format!("`{name}` is missing in [{inside}]"),
            };
            self.complain(self.table.values().map(|one| one.span().start).min().unwrap_or(0), says);
        }
        found.map(|(_, text)| text)
    }

    pub(super) fn text_or(&mut self, name: &str, default: &str) -> String {
        self.optional_text(name).map_or_else(|| default.to_owned(), |(_, text)| text)
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Option<(usize, String)> {
        let value = self.get(name)?;
        match value.get_ref() {
            DeValue::String(text) => Some((value.span().start, text.to_string())),
            _ => {
                self.complain(value.span().start, format!("`{name}` must be text"));
                None
            }
        }
    }

    pub(super) fn whole(&mut self, name: &str) -> Option<i64> {
        let value = self.get(name)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            self.complain(value.span().start, format!("`{name}` must be a whole number"));
        }
        number
    }

    pub(super) fn truth(&mut self, name: &str) -> bool {
        let Some(value) = self.get(name) else { return false };
        match value.get_ref() {
            DeValue::Boolean(truth) => *truth,
            _ => {
                self.complain(value.span().start, format!("`{name}` must be true or false"));
                false
            }
        }
    }

    /// One of a few words; the first is the default.
    pub(super) fn among(
        &mut self,
        name: &str,
        words: &'static [&'static str],
        default: Option<&'static str>,
    ) -> Option<&'static str> {
        let Some((at, text)) = self.optional_text(name) else {
            if default.is_none() && self.wrong.is_empty() {
                self.complain(0, format!("`{name}` is missing; it is one of {}", words.join(", ")));
            }
            return default;
        };
        let found = words.iter().find(|word| **word == text).copied();
        if found.is_none() {
            self.complain(at, format!("`{name}` is one of {}", words.join(", ")));
        }
        found
    }

    pub(super) fn table_named(&mut self, name: &'static str) -> Option<&'static Table> {
        let (at, text) = self.optional_text(name).or_else(|| {
            self.complain(0, format!("`{name}` is missing"));
            None
        })?;
        let found = Table::named(&text);
        if found.is_none() {
            let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
            let says = format!("there is no table `{text}`; tables are {}", known.join(", "));
            self.complain(at, says);
        }
        found
    }

    pub(super) fn expression(
        &mut self,
        name: &str,
        table: &'static Table,
        want: Want,
    ) -> Option<Expression> {
        let (at, text) = self.optional_text(name)?;
        query::parse(&text, table, want).map_err(|says| self.complain(at, says)).ok()
    }

    /// An expression to sort by; a minus before it turns the order round.
    pub(super) fn sort(
        &mut self,
        table: &'static Table,
        grouped: bool,
    ) -> Option<(Expression, bool)> {
        let (at, text) = self.optional_text("sort")?;
        let (down, by) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let want = if grouped { Want::Group } else { Want::Row };
        let found = query::parse(by, table, want).map_err(|says| self.complain(at, says)).ok();
        found.map(|by| (by, down))
    }

    /// Reads an inner table by the same means.
    pub(super) fn within<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Document<'a>) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = self.get(name) else {
            if self.wrong.is_empty() {
                self.complain(0, format!("[{name}] is missing"));
            }
            return None;
        };
        let at = value.span().start;
        let DeValue::Table(table) = value.into_inner() else {
            self.complain(at, format!("`{name}` must be a table: [{name}]"));
            return None;
        };
        self.part(table, name, read)
    }

    /// Reads each of an array of tables.
    pub(super) fn each<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Document<'a>) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let at = value.span().start;
        let DeValue::Array(array) = value.into_inner() else {
            self.complain(at, format!("`{name}` must be tables: [[{name}]]"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for one in array {
            let at = one.span().start;
            match one.into_inner() {
                DeValue::Table(table) => found.extend(self.part(table, name, &mut read)),
                _ => self.complain(at, format!("`{name}` must be tables: [[{name}]]")),
            }
        }
        found
    }

    fn part<T>(
        &mut self,
        table: DeTable<'a>,
        inside: &'static str,
        read: impl FnOnce(&mut Document<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut part = Document { table, inside, used: Vec::new(), wrong: Vec::new(), ..*self };
        let found = read(&mut part);
        if let Err(wrong) = part.finish() {
            self.wrong.extend(wrong);
        }
        found
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
