//! Completion: tables, columns and the words of SQL.

use std::collections::BTreeSet;

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::Asker;

/// Words that nearly every question has.
const SQL: [&str; 33] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "DISTINCT",
    "JOIN",
    "LEFT JOIN",
    "USING",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "LIKE",
    "IS NULL",
    "IS NOT NULL",
    "CASE WHEN",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "DESC",
    "INTERVAL",
    "PERCENTILE_CONT",
    "APPROX_PERCENTILE_CONT",
    "HUMAN_BYTES",
    "TIME_BUCKET",
    "JOB",
    "EXPLAIN",
];

/// What can be completed.
pub(super) struct Words {
    known: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(asker: &Asker) -> Words {
        let mut known = BTreeSet::new();
        for table in asker.session.tables() {
            // A table that cannot be read has a name all the same.
            if let Ok(columns) = asker.runtime.block_on(asker.session.columns(&table)) {
                known.extend(columns.fields().iter().map(|field| field.name().clone()));
            }
            known.insert(table);
        }
        Words { known }
    }

    /// Where the word at the end of a line begins, and what it may become.
    fn at(&self, line: &str) -> (usize, Vec<String>) {
        let letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '\\';
        let start = line
            .rfind(|end: char| !letter(end))
            .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let word = &line[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let small = word.to_lowercase();
        let names = self.known.iter().filter(|name| name.starts_with(&small)).cloned();
        let upper = word.chars().any(char::is_uppercase);
        let words = SQL.iter().filter(|known| known.to_lowercase().starts_with(&small));
        let words =
            words.map(|known| if upper { (*known).to_owned() } else { known.to_lowercase() });
        (start, names.chain(words).collect())
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.at(&line[..position]))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn the_last_word_is_completed() {
        let known = ["events", "exe", "posix_opens"].map(str::to_owned).into();
        let words = Words { known };
        assert_eq!(
            words.at("select e"),
            (7, vec!["events".to_owned(), "exe".to_owned(), "explain".to_owned()])
        );
        assert_eq!(words.at("select sum(posix_o"), (11, vec!["posix_opens".to_owned()]));
        assert_eq!(words.at("SEL"), (0, vec!["SELECT".to_owned()]));
        assert_eq!(words.at("select "), (7, Vec::new()));
        assert_eq!(words.at("ä"), (0, Vec::new()));
    }
}
